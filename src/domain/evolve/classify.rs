//! Into which class a failure falls: by words, the same for the same text, and with a version.

use std::collections::BTreeMap;

use super::entry::{Case, ClassCount, Classification, Outcome};

/// Version of the words below; whoever changes one changes it.
pub const CLASSIFIER: &str = "1.0.0";
/// From how many failures on a class is recurring.
pub const RECURRING: u64 = 3;

/// What of the loop's artifacts a failure points at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// What is told.
    Instructions,
    /// What is referred to.
    References,
    /// What is checked.
    Validation,
    /// How work goes on after it was cut off.
    Recovery,
    /// No word of it is known.
    Unclassified,
}

/// Beginnings of words. A class with more of them wins; of two with as many, the one that stands first.
const WORDS: [(Class, &[&str]); 4] = [
    (
        Class::Instructions,
        &["instruct", "prompt", "skill", "told", "asked", "scope", "unclear", "ambiguous", "misread"],
    ),
    (Class::References, &["referenc", "link", "path", "doc", "outdated", "missing", "found", "url", "version"]),
    (Class::Validation, &["test", "assert", "check", "lint", "build", "compil", "verif", "evidence", "valid"]),
    (Class::Recovery, &["resum", "interrupt", "stale", "recover", "timeout", "kill", "crash", "checkpoint", "restart"]),
];

impl Class {
    /// Every class, in their order.
    pub const ALL: [Self; 5] =
        [Self::Instructions, Self::References, Self::Validation, Self::Recovery, Self::Unclassified];

    /// The word in the ledger.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Instructions => "instructions",
            Self::References => "references",
            Self::Validation => "validation",
            Self::Recovery => "recovery",
            Self::Unclassified => "unclassified",
        }
    }
}

/// The class of a text.
pub fn classify(text: &str) -> Class {
    let text = text.to_lowercase();
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let hits = |known: &[&str]| words.iter().filter(|word| known.iter().any(|known| word.starts_with(known))).count();
    let mut best = (0, Class::Unclassified);
    for (class, known) in WORDS {
        let count = hits(known);
        if count > best.0 {
            best = (count, class);
        }
    }
    best.1
}

/// Counts failures by class, one case after the other.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tally(BTreeMap<Class, u64>);

impl Tally {
    /// Counts a case if it failed, and says its class then. Claims are not read.
    pub fn add(&mut self, case: &Case) -> Option<Class> {
        (case.outcome == Outcome::Failed).then(|| {
            let class = classify(&case.summary);
            *self.0.entry(class).or_default() += 1;
            class
        })
    }

    /// What it comes to.
    pub fn classification(&self) -> Classification {
        let count = |class: Class| {
            let failures = self.0.get(&class).copied().unwrap_or_default();
            let recurring = class != Class::Unclassified && failures >= RECURRING;
            (class.word().to_owned(), ClassCount { failures, recurring })
        };
        Classification { classifier: CLASSIFIER.to_owned(), classes: Class::ALL.into_iter().map(count).collect() }
    }
}
