//! What people are told when something is given up: once for all that was given up together. Pure.

use super::{Effect, EndpointRef};
use crate::domain::effect::{DeadReason, EffectBody};
use crate::domain::reference::WorkItemRef;

/// One notice about what was given up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The ticket it belongs on: the pull request whose conversation was meant, else the work item.
    pub about: WorkItemRef,
    /// The names under which a person finds what was given up, in the order of the lane.
    pub entries: Vec<u64>,
    /// Why.
    pub reason: DeadReason,
    /// Whether it was a start that failed; else a message that was not handed over, or an end.
    pub is_start: bool,
}

impl Notice {
    /// The notice for these; `None` when nothing was given up.
    pub fn of(item: &WorkItemRef, dead: &[(Effect, DeadReason, String)]) -> Option<Self> {
        let (first, reason, _) = dead.first()?;
        let about = match first.body.endpoint() {
            EndpointRef::Item => item.clone(),
            EndpointRef::PullRequest(reference) => reference.clone(),
        };
        let entries = dead.iter().map(|(effect, ..)| effect.place.seq).collect();
        Some(Self { about, entries, reason: *reason, is_start: matches!(first.body, EffectBody::Spawn { .. }) })
    }

    /// What it is known by: numbers of effects are given once, over all lanes.
    pub fn cause(&self) -> String {
        self.entries.iter().map(|entry| format!("e{entry}")).collect::<Vec<_>>().join(" ")
    }

    /// What it says on a ticket. The detail stays on the machine: a last screen may hold what others must not read.
    pub fn text(&self) -> String {
        let count = self.entries.len();
        let names: Vec<String> = self.entries.iter().map(|entry| format!("`e{entry}`")).collect();
        let what = match (self.is_start, count) {
            (true, _) => "The agent could not be started".to_owned(),
            (false, 1) => "One event could not be handed to the agent".to_owned(),
            (false, count) => format!("{count} events could not be handed to the agent"),
        };
        let how = match self.reason {
            DeadReason::RetriesExhausted => "and is not tried again by itself",
            DeadReason::Unknown => "for sure: it may have arrived, and is not repeated by itself",
        };
        format!("{what}, {how}. The operator finds it as {} in `the-loop dispatch list`.", names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::*;
    use super::*;

    fn dead(count: u64, reason: DeadReason) -> Vec<(Effect, DeadReason, String)> {
        let lane = view(live()).with_deliveries(&EndpointRef::Item, 1..=count);
        lane.effects.into_iter().map(|effect| (effect, reason, "secret screen".to_owned())).collect()
    }

    #[test]
    fn what_is_given_up_together_is_told_once_and_without_its_detail() {
        assert_eq!(Notice::of(&item_ref(), &[]), None);
        let notice = Notice::of(&item_ref(), &dead(3, DeadReason::Unknown)).unwrap();
        assert_eq!((notice.about.clone(), notice.entries.clone()), (item_ref(), vec![1, 2, 3]));
        let text = notice.text();
        assert!(text.starts_with("3 events") && text.contains("`e1`, `e2`, `e3`") && text.contains("may have arrived"));
        assert!(!text.contains("secret"));
        let one = Notice::of(&item_ref(), &dead(1, DeadReason::RetriesExhausted)).unwrap().text();
        assert!(one.starts_with("One event") && one.contains("not tried again"), "{one}");
    }
}
