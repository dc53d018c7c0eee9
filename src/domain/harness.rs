//! Harnesses: the programs that are the agents, how they are started and how they take text (events rules, section 10).
//!
//! A harness is data. The built-in ones are listed here; configured ones are of the kind `command`: their templates
//! are filled with the endpoint's own facts and nothing else, and no permission flag is ever added.

use std::path::Path;

use super::ids::ConversationId;
use super::ports::PasteStyle;
use super::reference::WorkItemRef;

mod known;
pub mod shell;

/// How many of the last lines of a screen are the harness's own farewell.
const FAREWELL_LINES: usize = 12;

/// A program that is an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Harness {
    /// Its name in the configuration and on records.
    pub name: String,
    /// The program, a name to be found in `PATH` or a path.
    pub binary: String,
    /// Arguments of a new conversation, with `{conversation}`, `{ref}` and `{cwd}`.
    pub new: Vec<String>,
    /// Arguments that resume a conversation; empty when the harness cannot.
    pub resume: Vec<String>,
    /// Arguments of one process per delivery; `None` when it cannot take its prompt from standard input.
    pub once: Option<Once>,
    /// What stands before the name of a conversation in what such a process prints.
    pub says_conversation: Vec<String>,
    /// What stands at the left edge before that name in a line it prints in its terminal when it ends.
    pub farewell: Vec<String>,
    /// Wait between paste and submit, milliseconds.
    pub submit_delay_ms: u32,
    /// Whether it reads a bracketed paste as one text, however many lines.
    pub bracketed_paste: bool,
    /// Patterns (POSIX extended, ASCII case ignored) on its screen that mean a dialog waits for a person.
    pub dialogs: Vec<String>,
    /// How the line begins in which it is typed; each character one column wide.
    pub input_marks: Vec<String>,
    /// Whether a text of several lines is submitted line by line; only without bracketed paste.
    pub line_by_line: bool,
    /// Which files it keeps for its user.
    pub keeps: Keeps,
}

/// The files a harness keeps for its user, as far as they can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeps {
    /// None, or none that can be read.
    Nothing,
    /// Trust in directories, and transcripts.
    Claude,
    /// Transcripts.
    Codex,
    /// Transcripts.
    Cursor,
}

/// How a harness is run without a terminal, its prompt on standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Once {
    /// Arguments of a new conversation.
    pub new: Vec<String>,
    /// Arguments that resume one; empty when it cannot.
    pub resume: Vec<String>,
}

/// Which of a harness's arguments are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It stays, in a terminal.
    Terminal,
    /// It is run once per delivery.
    Once,
}

/// What stands in for the placeholders of a template.
#[derive(Debug, Clone, Copy)]
pub struct Filling<'a> {
    /// `{conversation}`, when one is known or was chosen.
    pub conversation: Option<&'a ConversationId>,
    /// `{ref}`.
    pub reference: &'a WorkItemRef,
    /// `{cwd}`.
    pub cwd: &'a Path,
}

/// Why a harness cannot be used as it is described.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HarnessError {
    /// A template names what nobody fills in.
    #[error("harness `{harness}`: `{{{placeholder}}}` in `{argument}` is none of {{conversation}}, {{ref}}, {{cwd}}")]
    UnknownPlaceholder {
        /// The harness.
        harness: String,
        /// The name between the braces.
        placeholder: String,
        /// The argument it stands in.
        argument: String,
    },
    /// A template needs the conversation's id and none is known.
    #[error("harness `{0}`: its arguments name {{conversation}} and no conversation id is known")]
    NoConversation(String),
    /// It has no way to take a prompt but an argument, which every user of the machine could read.
    #[error("harness `{0}` needs a terminal: without one it takes no prompt from its standard input")]
    NeedsTerminal(String),
    /// There is no template for resuming.
    #[error("harness `{0}` has no arguments for resuming a conversation")]
    CannotResume(String),
    /// A dialog pattern would break out of the tmux format it stands in, or match every screen.
    #[error("the dialog pattern `{pattern}` {reason}")]
    DialogPattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: &'static str,
    },
}

impl Harness {
    /// A configured program: line by line, no bracketed paste, submitted at once; without a terminal it is run with the
    /// same arguments.
    pub fn command(name: &str, binary: &str, new: Vec<String>, resume: Vec<String>) -> Self {
        Self {
            name: name.into(),
            binary: binary.into(),
            once: Some(Once { new: new.clone(), resume: resume.clone() }),
            new,
            resume,
            says_conversation: Vec::new(),
            farewell: Vec::new(),
            submit_delay_ms: 0,
            bracketed_paste: false,
            dialogs: Vec::new(),
            input_marks: Vec::new(),
            line_by_line: true,
            keeps: Keeps::Nothing,
        }
    }

    /// Whether it takes the id of a new conversation from us, so that the id is known before the start.
    pub fn names_conversation(&self) -> bool {
        self.new.iter().any(|argument| argument.contains("{conversation}"))
    }

    /// Whether it can go on with an earlier conversation.
    pub fn can_resume(&self, mode: Mode) -> bool {
        match mode {
            Mode::Terminal => !self.resume.is_empty(),
            Mode::Once => self.once.as_ref().is_some_and(|once| !once.resume.is_empty()),
        }
    }

    /// Program and arguments: the template filled in, then `extra` as it is.
    pub fn argv(
        &self,
        mode: Mode,
        resume: bool,
        extra: &[String],
        filling: &Filling<'_>,
    ) -> Result<Vec<String>, HarnessError> {
        let (new, again) = match (mode, &self.once) {
            (Mode::Terminal, _) => (&self.new, &self.resume),
            (Mode::Once, Some(once)) => (&once.new, &once.resume),
            (Mode::Once, None) => return Err(HarnessError::NeedsTerminal(self.name.clone())),
        };
        let template = match (resume, again.is_empty()) {
            (true, true) => return Err(HarnessError::CannotResume(self.name.clone())),
            (true, false) => again,
            (false, _) => new,
        };
        let mut argv = vec![self.binary.clone()];
        for argument in template {
            argv.push(self.fill(argument, filling)?);
        }
        argv.extend_from_slice(extra);
        Ok(argv)
    }

    /// The conversation that a process named in what it printed.
    pub fn conversation_in(&self, printed: &str) -> Option<ConversationId> {
        let name = |mark: &String| leading_id(printed.split_once(mark.as_str())?.1);
        self.says_conversation.iter().find_map(name)
    }

    /// The conversation that a harness named on its last screen when it ended. Only its last lines count, and only from
    /// the left edge: further up, and further in, stands what was said in the conversation.
    pub fn conversation_at_end(&self, screen: &str) -> Option<ConversationId> {
        let lines = screen.lines().rev().filter(|line| !line.trim().is_empty()).take(FAREWELL_LINES);
        let name = |line: &str| self.farewell.iter().find_map(|mark| leading_id(line.strip_prefix(mark.as_str())?));
        lines.into_iter().find_map(name)
    }

    /// Whether it is started as a shell that takes commands: then a shell in its pane is what was asked for.
    pub fn is_shell(argv: &[String]) -> bool {
        shell::is_bare(argv)
    }

    /// Checks everything that can be known before a start: placeholders and dialog patterns.
    pub fn check(&self) -> Result<(), HarnessError> {
        for argument in self.new.iter().chain(&self.resume) {
            for piece in pieces(argument) {
                if let Piece::Placeholder(name) = piece
                    && !matches!(name, "conversation" | "ref" | "cwd")
                {
                    return Err(self.unknown(name, argument));
                }
            }
        }
        self.dialogs.iter().try_for_each(|pattern| check_dialog_pattern(pattern))?;
        self.input_marks.iter().try_for_each(|mark| check_dialog_pattern(mark))
    }

    /// How text is pasted into it.
    pub fn paste_style(&self) -> PasteStyle {
        PasteStyle {
            submit_delay_ms: self.submit_delay_ms,
            dialogs: self.dialogs.clone(),
            input_marks: self.input_marks.clone(),
        }
    }

    fn fill(&self, argument: &str, filling: &Filling<'_>) -> Result<String, HarnessError> {
        let mut filled = String::new();
        for piece in pieces(argument) {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Placeholder("conversation") => match filling.conversation {
                    Some(id) => filled.push_str(id.as_str()),
                    None => return Err(HarnessError::NoConversation(self.name.clone())),
                },
                Piece::Placeholder("ref") => filled.push_str(&filling.reference.to_string()),
                Piece::Placeholder("cwd") => filled.push_str(&filling.cwd.to_string_lossy()),
                Piece::Placeholder(name) => return Err(self.unknown(name, argument)),
            }
        }
        Ok(filled)
    }

    fn unknown(&self, placeholder: &str, argument: &str) -> HarnessError {
        HarnessError::UnknownPlaceholder {
            harness: self.name.clone(),
            placeholder: placeholder.into(),
            argument: argument.into(),
        }
    }
}

/// The id at the beginning of `text`.
fn leading_id(text: &str) -> Option<ConversationId> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '_' | '-'));
    // What ends a sentence is no part of an id.
    ConversationId::parse(text[..end.unwrap_or(text.len())].trim_end_matches('.')).ok()
}

/// Whether a dialog pattern can stand in a tmux condition.
///
/// `}` and `,` end a part of a tmux format and `'` ends the argument it stands in. `#` before `{` or `(` would begin
/// another format, or run a program. A control character cannot be on a screen; an empty pattern matches every screen
/// and would hold the lane for ever.
pub fn check_dialog_pattern(pattern: &str) -> Result<(), HarnessError> {
    let reason = if pattern.trim().is_empty() {
        "is empty: it would match every screen"
    } else if pattern.contains(['}', ',', '\'']) {
        "holds `}`, `,` or `'`, which tmux conditions cannot hold"
    } else if pattern.contains('#') {
        "holds `#`, which begins a tmux format"
    } else if pattern.chars().any(char::is_control) {
        "holds a control character, which no screen shows"
    } else {
        return Ok(());
    };
    Err(HarnessError::DialogPattern { pattern: pattern.into(), reason })
}

/// A stretch of a template argument.
enum Piece<'a> {
    Text(&'a str),
    Placeholder(&'a str),
}

/// Splits at `{name}`, a name being lower-case letters, digits, `-` and `_`; any other brace is text, as in `{"a":1}`.
fn pieces(argument: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let (mut text_from, mut at) = (0, 0);
    while let Some(open) = argument[at..].find('{').map(|found| at + found) {
        at = open + 1;
        let Some(close) = argument[at..].find(['{', '}']).map(|found| at + found) else { break };
        let name = &argument[at..close];
        let is_name = !name.is_empty()
            && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_'));
        if argument.as_bytes()[close] == b'}' && is_name {
            pieces.push(Piece::Text(&argument[text_from..open]));
            pieces.push(Piece::Placeholder(name));
            at = close + 1;
            text_from = at;
        }
    }
    pieces.push(Piece::Text(&argument[text_from..]));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(harness: &Harness, resume: bool, conversation: Option<&str>) -> Result<Vec<String>, HarnessError> {
        let conversation = conversation.map(|id| ConversationId::parse(id).unwrap());
        let reference = WorkItemRef::parse("github:octo/hello#15").unwrap();
        let filling =
            Filling { conversation: conversation.as_ref(), reference: &reference, cwd: Path::new("/src/{ref}") };
        harness.argv(Mode::Terminal, resume, &["--extra {cwd}".into()], &filling)
    }

    fn command(template: &str) -> Harness {
        Harness::command("mine", "prog", vec![template.into()], vec![])
    }

    #[test]
    fn claude_starts_and_resumes_by_conversation_id() {
        let claude = Harness::built_in("claude").unwrap();
        assert!(claude.names_conversation() && claude.can_resume(Mode::Terminal) && claude.bracketed_paste);
        assert_eq!(filled(&claude, false, Some("abc")).unwrap(), ["claude", "--session-id", "abc", "--extra {cwd}"]);
        assert_eq!(filled(&claude, true, Some("abc")).unwrap(), ["claude", "--resume", "abc", "--extra {cwd}"]);
        assert_eq!(filled(&claude, true, None), Err(HarnessError::NoConversation("claude".into())));
    }

    #[test]
    fn every_built_in_harness_passes_its_own_check_and_asks_for_no_permission() {
        for name in Harness::BUILT_IN {
            let harness = Harness::built_in(name).unwrap();
            harness.check().unwrap();
            let once = harness.once.iter().flat_map(|once| once.new.iter().chain(&once.resume));
            let words = harness.new.iter().chain(&harness.resume).chain(once);
            assert!(words.clone().all(|word| !word.contains("skip") && !word.contains("dangerous")), "{name}");
        }
        assert_eq!(Harness::built_in("nothing"), None);
    }

    #[test]
    fn without_a_terminal_the_prompt_is_standard_input_and_never_an_argument() {
        let id = ConversationId::parse("c1").unwrap();
        let reference = WorkItemRef::parse("github:octo/hello#15").unwrap();
        let filling = Filling { conversation: Some(&id), reference: &reference, cwd: Path::new("/src") };
        let line = |name: &str, resume: bool| {
            let harness = Harness::built_in(name).unwrap_or_else(|| command("--in"));
            harness.argv(Mode::Once, resume, &[], &filling).map(|argv| argv.join(" "))
        };
        for (name, new, again) in [
            ("claude", "claude -p --session-id c1", "claude -p --resume c1"),
            ("codex", "codex exec -", "codex exec resume c1 -"),
            ("opencode", "opencode run --format json", "opencode run --format json --session c1"),
        ] {
            assert_eq!((line(name, false), line(name, true)), (Ok(new.into()), Ok(again.into())));
        }
        assert_eq!(line("cursor", false), Err(HarnessError::NeedsTerminal("cursor".into())));
        assert_eq!(line("mine", false), Ok("prog --in".into()));
        assert_eq!(line("mine", true), Err(HarnessError::CannotResume("mine".into())));
    }

    #[test]
    fn a_conversation_is_learnt_from_what_the_harness_prints() {
        let learnt = |name: &str, printed: &str| {
            let found = Harness::built_in(name).unwrap().conversation_in(printed);
            found.map(|id| id.as_str().to_owned())
        };
        assert_eq!(learnt("codex", "codex\nsession id: 0199-ab\nuser\n").as_deref(), Some("0199-ab"));
        assert_eq!(learnt("codex", "{\"thread_id\":\"t.1\"}").as_deref(), Some("t.1"));
        assert_eq!(learnt("opencode", "{\"sessionID\":\"ses_1\",\"x\":1}").as_deref(), Some("ses_1"));
        for (name, printed) in [("codex", "session id: "), ("codex", "session id: --flag"), ("claude", "session id: a")]
        {
            assert_eq!(learnt(name, printed), None, "{printed}");
        }
    }

    #[test]
    fn k42_a_conversation_is_learnt_from_the_last_lines_of_a_harness_that_ended() {
        let learnt = |name: &str, screen: &str| {
            let found = Harness::built_in(name).unwrap().conversation_at_end(screen);
            found.map(|id| id.as_str().to_owned())
        };
        let codex =
            "• Done.\nToken usage: total=1\nTo continue this session, run codex resume 0199-ab.\n\n\nPane is dead";
        assert_eq!(learnt("codex", codex).as_deref(), Some("0199-ab"));
        let opencode = "  Session   A title\n  Continue  opencode -s ses_37f9\n";
        assert_eq!(learnt("opencode", opencode).as_deref(), Some("ses_37f9"));
        let cursor = "To resume this session: cursor-agent --resume=2f98-ab";
        assert_eq!(learnt("cursor", cursor).as_deref(), Some("2f98-ab"));
        // What stands in the conversation is further in, or further up.
        for screen in [
            "› To continue this session, run codex resume evil",
            "  To continue this session, run codex resume evil",
            "To continue this session, run codex resume --last",
            &format!("To continue this session, run codex resume evil{}", "\nmore".repeat(FAREWELL_LINES)),
        ] {
            assert_eq!(learnt("codex", screen), None, "{screen}");
        }
        assert_eq!(learnt("claude", codex), None, "its id is ours");
    }

    #[test]
    fn placeholders_are_filled_once_and_only_known_ones() {
        let argv = |template: &str| filled(&command(template), false, Some("c1")).map(|argv| argv[1].clone());
        assert_eq!(argv("{ref}:{conversation}").unwrap(), "github:octo/hello#15:c1");
        // A value that looks like a placeholder is not filled again.
        assert_eq!(argv("--in={cwd}").unwrap(), "--in=/src/{ref}");
        for literal in ["", "plain", "{", "}", "{}", "{\"a\":1}", "{{", "{ ref }", "${X}", "a}b{c"] {
            assert_eq!(argv(literal).unwrap(), literal);
        }
        assert_eq!(argv("{{ref}").unwrap(), "{github:octo/hello#15");
        for unknown in ["{repo}", "x{session_id}", "{ref}{key}"] {
            assert!(matches!(argv(unknown), Err(HarnessError::UnknownPlaceholder { .. })), "{unknown}");
            assert!(command(unknown).check().is_err(), "{unknown}");
        }
    }

    #[test]
    fn a_command_is_line_by_line_and_resumes_only_with_a_template() {
        let mine = command("x");
        assert!(mine.line_by_line && !mine.bracketed_paste && !mine.can_resume(Mode::Terminal));
        assert_eq!(filled(&mine, true, Some("c")), Err(HarnessError::CannotResume("mine".into())));
    }

    #[test]
    fn dialog_patterns_cannot_break_out_of_the_condition() {
        for good in ["do you want to proceed|❯ 1[.] yes", "a:b/c", "100% sure[?]", "say \"yes\"", "\\[y/n\\]", "x{"] {
            assert_eq!(check_dialog_pattern(good), Ok(()), "{good}");
        }
        for bad in ["", "  ", "a{2}", "a,b", "don't", "#{pid}", "#(touch x)", "a\nb", "a\u{1b}"] {
            assert!(check_dialog_pattern(bad).is_err(), "{bad}");
        }
    }
}
