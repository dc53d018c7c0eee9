//! An event that waits for a fact only GitHub has (events rules, section 4). Pure.
//!
//! It stands in the queue of the reference its own payload names, and what comes later about that reference stands behind
//! it, so that order holds. Ends do not wait: they are decided with what is known.

use serde::{Deserialize, Serialize};

use super::{Heard, Learnt, MissingFact};
use crate::domain::event::words::{self, Word, Words};
use crate::domain::event::{Content, Event, Fact, ItemFact};
use crate::domain::ids::DeliveryId;
use crate::domain::policy::Policy;
use crate::domain::time::Time;

/// How often a fact is asked for before it is decided without.
const TRIES: u32 = 3;
/// Seconds between two tries.
const PAUSE_SECONDS: i64 = 15;
/// How long a fact is asked for at all, seconds: a host that lets every try run out is not waited for longer.
const PATIENCE_SECONDS: i64 = 45;

/// An event that is accepted and not decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// GitHub's event name.
    pub name: String,
    /// The delivery that brought it.
    pub delivery: DeliveryId,
    /// The payload, from which it is made again.
    pub body: String,
    /// How it came to be read.
    pub heard: Heard,
    /// What it waits for; absent while it only stands behind another.
    pub missing: Option<MissingFact>,
    /// What was learnt so far.
    pub learnt: Vec<Learnt>,
    /// Tries so far for what is missing.
    pub tries: u32,
    /// When it was asked for first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_at: Option<Time>,
    /// Not to be asked for before this.
    pub not_before: Option<Time>,
    /// When it was accepted.
    pub at: Time,
}

impl Waiting {
    /// The same, waiting for `fact` from now on.
    #[must_use]
    pub fn missing(self, fact: MissingFact) -> Self {
        Self { missing: Some(fact), tries: 0, asked_at: None, not_before: None, ..self }
    }

    /// After nobody answered what was asked at `asked_at`: asked again later, or decided without once it was asked often
    /// or long enough.
    #[must_use]
    pub fn unanswered(mut self, asked_at: Time, now: Time) -> Self {
        self.tries += 1;
        let since = *self.asked_at.get_or_insert(asked_at);
        if self.tries < TRIES && now < since.plus_seconds(PATIENCE_SECONDS) {
            return Self { not_before: Some(now.plus_seconds(PAUSE_SECONDS)), ..self };
        }
        match self.missing.clone() {
            Some(fact) => self.learns(Learnt::Nothing(fact)),
            None => self,
        }
    }

    /// With an answer: ready to be decided.
    #[must_use]
    pub fn learns(mut self, learnt: Learnt) -> Self {
        self.learnt.push(learnt);
        Self { missing: None, tries: 0, asked_at: None, not_before: None, ..self }
    }
}

/// Whether an event is decided at once although others of its reference wait: it ends or holds something.
pub fn overtakes(event: &Event, policy: &Policy) -> bool {
    match &event.content {
        Content::Fact(fact) => match fact.as_ref() {
            Fact::Item { subject, change } => {
                let ends = matches!(change, ItemFact::Closed { .. } | ItemFact::Deleted | ItemFact::Transferred { .. });
                ends || (matches!(change, ItemFact::Shown { .. }) && subject.open == Some(false))
            }
            Fact::Withdrawn { .. } | Fact::Repository(_) => true,
        },
        Content::Speech(speech) => {
            matches!(words::find(&speech.text, &policy.keywords), Words::One { word: Word::Stop | Word::Pause, .. })
        }
        Content::Ignored(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::reference::WorkItemRef;

    #[test]
    fn it_is_asked_for_three_times_and_then_decided_without() {
        let fact = MissingFact::Linkage(WorkItemRef::parse("github:octo/hello#16").unwrap());
        let now = Time::from_millis(1_700_000_000_000);
        let waiting = Waiting {
            name: "issue_comment".into(),
            delivery: DeliveryId::parse("d-1").unwrap(),
            body: "{}".into(),
            heard: Heard::Delivered,
            missing: None,
            learnt: Vec::new(),
            tries: 0,
            asked_at: None,
            not_before: None,
            at: now,
        };
        let slow = waiting.clone().missing(fact.clone()).unanswered(now, now.plus_seconds(PATIENCE_SECONDS));
        assert_eq!(slow.learnt, [Learnt::Nothing(fact.clone())], "a try that ran out of time is enough");
        let mut waiting = waiting.missing(fact.clone());
        for tries in 1..TRIES {
            waiting = waiting.unanswered(now, now);
            assert_eq!((waiting.tries, waiting.not_before), (tries, Some(now.plus_seconds(PAUSE_SECONDS))));
            assert_eq!(waiting.missing.as_ref(), Some(&fact));
        }
        waiting = waiting.unanswered(now, now);
        assert_eq!((waiting.missing.clone(), waiting.not_before), (None, None));
        assert_eq!(waiting.learnt, [Learnt::Nothing(fact)]);
        assert!(i64::from(TRIES) * PAUSE_SECONDS < 60, "three tries within a minute");
    }
}
