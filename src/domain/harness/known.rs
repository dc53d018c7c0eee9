//! The harnesses the product knows, as data.
//!
//! Dialog patterns look at the shape of a line, never at words alone: an agent that ends its answer by asking whether to
//! proceed must not hold its own lane. Menus of Claude stand indented, behind its mark; what a person wrote stands at
//! the left edge.

use super::{Harness, Keeps, Once};

struct Known {
    name: &'static str,
    binary: &'static str,
    new: &'static [&'static str],
    resume: &'static [&'static str],
    /// Without a terminal: the same two, the prompt being standard input. `None` where it takes none there.
    once: Option<[&'static [&'static str]; 2]>,
    says_conversation: &'static [&'static str],
    farewell: &'static [&'static str],
    dialogs: &'static [&'static str],
    input_marks: &'static [&'static str],
    keeps: Keeps,
}

const KNOWN: [Known; 4] = [
    Known {
        name: "claude",
        binary: "claude",
        new: &["--session-id", "{conversation}"],
        resume: &["--resume", "{conversation}"],
        once: Some([&["-p", "--session-id", "{conversation}"], &["-p", "--resume", "{conversation}"]]),
        says_conversation: &[],
        farewell: &[],
        dialogs: &[
            // Permission, trust, first start, limits: every menu with numbers.
            "^[│ ]+❯ *[0-9]+[.] ",
            // The line below a menu.
            "^[│ ]*(enter to (confirm|continue|select)|esc to (cancel|exit|go back)|press enter to )",
            // Trust, in the order and with the mark of any version.
            "^[│ ]*(❯ *)?([0-9][.] )?yes.? i trust this folder",
            "^[│ ]*(select login method|paste code here if prompted|choose the .* that looks best)",
        ],
        // Behind the mark stands a blank or, in later versions, a no-break space.
        input_marks: &["❯ ", "❯\u{a0}", "> ", ">\u{a0}", "│ > ", "│ >\u{a0}", "! ", "!\u{a0}"],
        keeps: Keeps::Claude,
    },
    Known {
        name: "codex",
        binary: "codex",
        new: &[],
        resume: &["resume", "{conversation}"],
        once: Some([&["exec", "-"], &["exec", "resume", "{conversation}", "-"]]),
        says_conversation: &["session id: ", "\"thread_id\":\""],
        farewell: &["To continue this session, run codex resume "],
        dialogs: &[
            "^ *(press enter to (continue|confirm)|tab to add notes|enter to submit (answer|all))",
            "^ *would you like to (run the following command|make the following edits|grant)",
            "^[ ›>]*1[.] (yes.? continue|update now|sign in with)",
        ],
        input_marks: &["› ", "▌ ", "! "],
        keeps: Keeps::Codex,
    },
    Known {
        name: "cursor",
        binary: "cursor-agent",
        new: &[],
        resume: &["--resume", "{conversation}"],
        // It takes a prompt as an argument only, where every user of the machine could read it.
        once: None,
        says_conversation: &[],
        farewell: &["To resume this session: cursor-agent --resume=", "To resume this session: agent --resume="],
        dialogs: &[
            "^[│⚠ ]*(workspace trust required|press any key to (log|sign) in)",
            "^[│ ]*(▶ *|→ *)?(\\[a\\] trust this workspace|run \\(once\\)|run this command[?])",
            // The choice a key stands behind: `→ Keep (y) (enter)`.
            "^[│ ]*(▶|→) .*\\(y\\)",
        ],
        input_marks: &["  → ", " → ", "→ "],
        keeps: Keeps::Cursor,
    },
    Known {
        name: "opencode",
        binary: "opencode",
        new: &[],
        resume: &["--session", "{conversation}"],
        once: Some([&["run", "--format", "json"], &["run", "--format", "json", "--session", "{conversation}"]]),
        says_conversation: &["\"sessionID\":\""],
        farewell: &["  Continue  opencode -s "],
        dialogs: &[
            "^[┃│ ]*△? *permission required",
            "^[┃│ ]*allow once +allow always +reject",
            // A question of the agent, and the windows in front of everything.
            "^[┃│ ]*(⇆ tab +)?↑↓ select +enter ",
            "^[┃│ ]*(connect a provider|select (a )?(model|provider|agent)|update available) +esc",
        ],
        input_marks: &["  ┃  "],
        // A database, which is not read.
        keeps: Keeps::Nothing,
    },
];

impl Harness {
    /// Names of the built-in harnesses.
    pub const BUILT_IN: [&'static str; 4] = [KNOWN[0].name, KNOWN[1].name, KNOWN[2].name, KNOWN[3].name];

    /// The harness the product knows under `name`.
    pub fn built_in(name: &str) -> Option<Self> {
        let known = KNOWN.iter().find(|known| known.name == name)?;
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Some(Self {
            name: known.name.into(),
            binary: known.binary.into(),
            new: owned(known.new),
            resume: owned(known.resume),
            once: known.once.map(|[new, resume]| Once { new: owned(new), resume: owned(resume) }),
            says_conversation: owned(known.says_conversation),
            farewell: owned(known.farewell),
            // Terminal interfaces take an Enter that follows a paste at once for a part of the paste.
            submit_delay_ms: 150,
            bracketed_paste: true,
            dialogs: owned(known.dialogs),
            input_marks: owned(known.input_marks),
            line_by_line: false,
            keeps: known.keeps,
        })
    }
}
