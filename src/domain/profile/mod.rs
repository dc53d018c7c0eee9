//! Profiles: what a kind of task needs, as data. One is chosen only by `--profile NAME` in the text of a task; it adds to
//! the nine stages and never takes one away (`runs` rules, section 3).

mod built_in;
mod choice;

pub use built_in::{PROFILES, SAFEGUARDS};
pub use choice::{Choice, Chosen, choose, strip};

/// A profile. Each says the same seven things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    /// Its name.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// What has to be known before the work begins.
    pub required_inputs: &'static [&'static str],
    /// The stages that matter most; every other stage stays.
    pub relevant_stages: &'static [&'static str],
    /// How its result is checked.
    pub verification_methods: &'static [&'static str],
    /// What to look at first, the worst first.
    pub risk_priorities: &'static [&'static str],
    /// When it is done.
    pub completion_criteria: &'static [&'static str],
    /// What must not be done to get there.
    pub forbidden_shortcuts: &'static [&'static str],
    /// What has to be shown.
    pub expected_evidence: &'static [&'static str],
}

impl Profile {
    /// The seven dimensions: key in JSON, heading, entries.
    pub const fn dimensions(&self) -> [(&'static str, &'static str, &'static [&'static str]); 7] {
        [
            ("requiredInputs", "Required inputs", self.required_inputs),
            ("relevantStages", "Relevant stages", self.relevant_stages),
            ("verificationMethods", "Verification methods", self.verification_methods),
            ("riskPriorities", "Risk priorities", self.risk_priorities),
            ("completionCriteria", "Completion criteria", self.completion_criteria),
            ("forbiddenShortcuts", "Forbidden shortcuts", self.forbidden_shortcuts),
            ("expectedEvidence", "Expected evidence", self.expected_evidence),
        ]
    }
}

/// The profile of a name, whatever its case and the white space around it.
pub fn by_name(name: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|profile| profile.name.eq_ignore_ascii_case(name.trim()))
}

/// Every name, in the order of the list.
pub fn names() -> Vec<&'static str> {
    PROFILES.iter().map(|profile| profile.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_says_all_seven_things() {
        assert_eq!(names(), ["build", "debug", "refactor", "audit", "migrate"]);
        for profile in PROFILES {
            for (key, _, entries) in profile.dimensions() {
                assert!(!entries.is_empty() && entries.iter().all(|entry| !entry.trim().is_empty()), "{key}");
            }
            assert!(crate::domain::run::ProfileName::parse(profile.name).is_some());
        }
        assert!(SAFEGUARDS.iter().any(|line| line.contains("nine stages")));
        assert!(by_name("audit").is_some_and(|audit| audit.forbidden_shortcuts[0].contains("read-only")));
        assert_eq!(by_name(" Audit ").map(|profile| profile.name), Some("audit"));
        assert_eq!(by_name("audits"), None);
    }
}
