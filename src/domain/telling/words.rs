//! What our comments say: what happened and what to do, plainly. Nothing of what anybody wrote is repeated, nobody is
//! mentioned, and no path or name of the machine is told.

use std::fmt;

use crate::domain::decide::DropReason;
use crate::domain::event::words::Word;
use crate::domain::policy::{Keywords, Policy, SpawnPolicy};
use crate::domain::portable::Command;
use crate::domain::reference::WorkItemRef;
use crate::domain::time::Time;

/// What a control word came too late for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// A control word, or how the item ended; as a portable file spells it, so anybody's text.
    pub what: String,
    /// When that was.
    pub at: Option<Time>,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            Some(at) => write!(f, "{} at {at}", self.what),
            None => f.write_str(&self.what),
        }
    }
}

/// That an agent works on `item` now, and how to reach it. `in_terminal` tells whether there is something to attach to.
pub fn announcement(item: &WorkItemRef, in_terminal: bool, keywords: &Keywords) -> String {
    let look = match in_terminal {
        true => format!("To watch it, run `the-loop sessions attach {item}` on its machine."),
        false => format!("To see how it stands, run `the-loop sessions show {item}` on its machine."),
    };
    let word = |word: Word, does: &str| keyword(keywords, word).map(|said| format!("{said} {does}"));
    let words: Vec<String> =
        [word(Word::Pause, "holds back what is written"), word(Word::Stop, "ends it")].into_iter().flatten().collect();
    let steer = match words.as_slice() {
        [] => String::new(),
        words => format!(" On a line of its own, {}.", words.join(", ")),
    };
    format!("An agent works on this now. {look} What authorized people write here reaches it.{steer}")
}

/// Why a control word was not obeyed, and what to do.
pub fn refusal(command: &Command, reason: DropReason, lost_to: Option<&Lost>, policy: &Policy) -> String {
    let word = command.as_str();
    let why = match (reason, policy.spawn) {
        (DropReason::OlderCommand, _) => return older(word, lost_to),
        (DropReason::ItemClosed, _) => "this is closed. Reopen it first, then say it again.".to_owned(),
        (DropReason::NotApplicable, _) => "nothing is paused or held here.".to_owned(),
        (DropReason::SpawnPolicy, SpawnPolicy::Never) => {
            "`routing.spawnOnUnmatched` is `never`, so agents are started on the command line only.".to_owned()
        }
        (DropReason::SpawnPolicy, _) => format!(
            "`routing.spawnOnUnmatched` is `labeled`, and the label {} is missing. Add it, then say it again.",
            code(&policy.label)
        ),
        (other, _) => format!("the reason is `{}`. The operator finds more in `the-loop events`.", other.as_str()),
    };
    format!("`{word}` was not obeyed: {why}")
}

fn older(word: &str, lost_to: Option<&Lost>) -> String {
    const KNOWN: &[&str] = &[
        "start",
        "stop",
        "pause",
        "resume",
        "stopped",
        "closed",
        "merged",
        "transferred",
        "renamed",
        "deleted",
        "reset",
    ];
    let what = lost_to.and_then(|lost| KNOWN.iter().find(|known| **known == lost.what));
    let what = what.map_or_else(|| "what is recorded".to_owned(), |what| format!("`{what}`"));
    let at = lost_to.and_then(|lost| lost.at).map(|at| format!(" of {at}")).unwrap_or_default();
    format!(
        "`{word}` was not obeyed: it is not newer than {what}{at}, which holds. If it is still meant, say it again."
    )
}

/// That one comment held different control words.
pub fn two_words(words: &[Word]) -> String {
    let names: Vec<String> = words.iter().map(|word| format!("`{}`", word.command().as_str())).collect();
    format!("Nothing was done: one comment said {}. Say the one that is meant, alone.", names.join(" and "))
}

/// That a control word was obeyed that nobody said here.
pub fn echo(command: &Command, keywords: &Keywords) -> String {
    let word = match command {
        Command::Start => keyword(keywords, Word::Start),
        Command::Stop => keyword(keywords, Word::Stop),
        Command::Pause => keyword(keywords, Word::Pause),
        Command::Resume => keyword(keywords, Word::Resume),
        Command::Other(_) => None,
    };
    let word = word.unwrap_or_else(|| format!("`{}`", command.as_str()));
    format!("{word} was said on the operator's command line, and was obeyed.")
}

/// A control word as code, where it is switched on.
fn keyword(keywords: &Keywords, word: Word) -> Option<String> {
    let text = match word {
        Word::Start => &keywords.start,
        Word::Stop => &keywords.stop,
        Word::Pause => &keywords.pause,
        Word::Resume => &keywords.resume,
    };
    let text = text.trim();
    (keywords.enabled && !text.is_empty()).then(|| code(text))
}

/// The operator's own text as code; a backtick would end it.
fn code(text: &str) -> String {
    format!("`{}`", text.replace('`', "'"))
}
