//! The five profiles that ship with the program.

use super::Profile;

/// What holds under every profile and without one.
pub const SAFEGUARDS: &[&str] = &[
    "all nine stages stay, in their order; a profile adds to them and takes none away",
    "evidence is recorded and evaluated in stage 8 before anything is called complete",
    "an early stop is PAUSED, never COMPLETED",
    "nothing destructive, published or sent without the authority the task gives",
    "no secret is written to a file, a log, a commit or a ticket",
];

/// Every profile.
pub const PROFILES: &[Profile] = &[
    Profile {
        name: "build",
        about: "something new that works",
        required_inputs: &["what it is to do and for whom", "where it belongs", "how it will be used and tested"],
        relevant_stages: &[
            "1 understand the request",
            "3 plan the smallest whole step",
            "5 implement",
            "6 verify",
            "8 report",
        ],
        verification_methods: &[
            "tests of the behaviour that was asked for",
            "a run of the real program",
            "lint and build",
        ],
        risk_priorities: &["wrong behaviour", "broken neighbours", "scope that grows", "missing documentation"],
        completion_criteria: &[
            "the behaviour is there and tested",
            "everything that passed before passes",
            "docs say it",
        ],
        forbidden_shortcuts: &["stubs that look like results", "tests that cannot fail", "features nobody asked for"],
        expected_evidence: &["the new tests passing by `verify exec`", "the whole suite passing", "one real use"],
    },
    Profile {
        name: "debug",
        about: "a fault found and mended at its cause",
        required_inputs: &["what happens and what should", "how to make it happen", "since when, as far as is known"],
        relevant_stages: &["1 understand the symptom", "2 reproduce it", "4 find the cause", "5 mend it", "6 verify"],
        verification_methods: &["a test that fails before and passes after", "the first reproduction again"],
        risk_priorities: &["the wrong cause", "data already damaged", "other places with the same fault", "new faults"],
        completion_criteria: &["the cause is named", "a test holds it", "the same fault elsewhere was looked for"],
        forbidden_shortcuts: &[
            "a symptom hidden",
            "a test weakened or skipped",
            "a retry or a sleep in place of a cause",
        ],
        expected_evidence: &[
            "the failing reproduction",
            "the same passing by `verify exec`",
            "the whole suite passing",
        ],
    },
    Profile {
        name: "refactor",
        about: "the same behaviour in a better form",
        required_inputs: &["what is wrong with the form", "what must not change", "the tests that hold it"],
        relevant_stages: &["2 read what is there", "3 plan in small steps", "5 change", "6 verify after each step"],
        verification_methods: &["the unchanged suite before and after", "comparison of outputs", "measured speed"],
        risk_priorities: &["changed behaviour", "changed interfaces", "lost edge cases", "slower"],
        completion_criteria: &["behaviour is the same by test", "the form is better by a reason that can be said"],
        forbidden_shortcuts: &["tests changed to fit", "behaviour changed on the way", "one step too large to review"],
        expected_evidence: &["the suite passing before", "the same suite passing after by `verify exec`"],
    },
    Profile {
        name: "audit",
        about: "what is wrong, found and written down; nothing is changed",
        required_inputs: &["what is audited and against what", "what is out of scope", "who reads the result"],
        relevant_stages: &["1 understand the scope", "2 read", "4 judge", "7 weigh", "8 report"],
        verification_methods: &["each finding with its place", "a reproduction where one is harmless", "a second look"],
        risk_priorities: &["security", "loss of data", "correctness", "operation", "form"],
        completion_criteria: &[
            "the scope was read whole, or what was not is named",
            "findings with severity and place",
        ],
        forbidden_shortcuts: &[
            "any change: an audit is read-only, and fixing is a new scope that somebody authorises",
            "findings without a place",
            "severity by feeling",
        ],
        expected_evidence: &["findings by `verify record`", "an unchanged tree"],
    },
    Profile {
        name: "migrate",
        about: "from one version, format or place to another, with a way back",
        required_inputs: &["from what to what", "which data and users it touches", "the way back", "when it may run"],
        relevant_stages: &["2 read both sides", "3 plan with a way back", "5 migrate a copy", "6 verify", "8 report"],
        verification_methods: &["a rehearsal on a copy", "counts and digests before and after", "the way back, tried"],
        risk_priorities: &["loss of data", "no way back", "half migrated", "time without service", "old readers"],
        completion_criteria: &[
            "everything is on the other side by count",
            "the way back was tried",
            "old form is read",
        ],
        forbidden_shortcuts: &["the only copy migrated", "failures skipped", "the old form removed in the same step"],
        expected_evidence: &["the rehearsal by `verify exec`", "the comparison", "the way back"],
    },
];
