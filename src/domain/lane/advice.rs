//! What a person can do about one entry of the lanes. Pure.

use super::{Effect, EndpointRef, is_held};
use crate::domain::effect::{DeadReason, EffectBody};
use crate::domain::item::Item;
use crate::domain::session::Session;

/// What an entry is, as far as advice depends on it.
#[derive(Debug, Clone, Copy)]
pub enum Standing<'a> {
    /// It is being done.
    Running,
    /// It waits in the lane of this item; the session it is for, when there is one.
    Waiting {
        /// The item of its lane, when its row can be read.
        item: Option<&'a Item>,
        /// The conversation it is for.
        session: Option<&'a Session>,
        /// Whether it is the first in its lane.
        first: bool,
    },
    /// It was given up.
    Dead(DeadReason),
    /// An event that a bug kept from being decided.
    Undecidable,
}

/// What a person can do, one sentence each; `effect` is absent for an event. Nothing here is a command that is ready to be
/// run: which entry and whether at all is the reader's to say.
pub fn advice(standing: Standing<'_>, effect: Option<&Effect>) -> Vec<&'static str> {
    match standing {
        Standing::Running => vec!["nothing: it is being done, and an end that nobody sees is found out by itself"],
        Standing::Waiting { item, session, first } => vec![waiting(item, session, first, effect)],
        Standing::Dead(DeadReason::Unknown) => vec![
            "look into the conversation with `the-loop sessions attach`: nobody could see whether it arrived",
            "when it arrived, `the-loop dispatch` with `drop` forgets it",
            "when it did not, `the-loop dispatch` with `retry` hands it over; it may then be there twice",
        ],
        Standing::Dead(DeadReason::RetriesExhausted) => vec![
            match effect.map(|effect| &effect.body) {
                Some(EffectBody::Spawn { .. }) => {
                    "mend what kept its harness from starting: the detail holds its last screen or the setting to change"
                }
                Some(EffectBody::End { .. }) => "see whether its program still runs, with `the-loop sessions attach`",
                _ => "mend what kept it from being handed over, which the detail names",
            },
            "then `the-loop dispatch` with `retry` tries it again, at the place it had",
            "with `drop` it is forgotten, when nobody needs it any more",
        ],
        Standing::Undecidable => vec![
            "report it: a bug kept it from being decided, and it is kept whole",
            "once that is mended, `the-loop dispatch` with `retry` decides it; with `drop` it is forgotten",
        ],
    }
}

fn waiting(item: Option<&Item>, session: Option<&Session>, first: bool, effect: Option<&Effect>) -> &'static str {
    let paused = item.and_then(|item| item.session.as_ref()).is_some_and(Session::is_paused);
    let is_end = effect.is_some_and(|effect| matches!(effect.body, EffectBody::End { .. }));
    match item {
        _ if is_end => "nothing: it is done as soon as tmux answers",
        _ if paused => "its item is paused: `resume`, on its ticket or with `the-loop sessions`, hands over what waits",
        Some(item) if is_held(item) => {
            "another machine disarmed its item: `start` or `resume` goes on, `stop` ends its session"
        }
        _ if session.is_some_and(|session| session.breaker.tripped) => {
            "one login alone spoke too often into its conversation, which is held: `resume` releases it"
        }
        _ if effect.is_some_and(|effect| effect.not_before.is_some()) => {
            "it is tried again by itself; `the-loop events` with `--type dispatch.failed` says what it waits for"
        }
        _ if !first => "nothing: it waits for what stands before it in its lane",
        _ => "nothing while a daemon runs: it is the next of its lane",
    }
}

/// The session an effect is for: a pull request's own, or the record's.
pub fn session_of<'s>(effect: &Effect, item: &'s Item, endpoints: &'s [Session]) -> Option<&'s Session> {
    match effect.body.endpoint() {
        EndpointRef::Item => item.session.as_ref(),
        EndpointRef::PullRequest(reference) => {
            let key = reference.key();
            let own = endpoints.iter().find(|endpoint| endpoint.reference.key() == key);
            own.filter(|endpoint| endpoint.is_live()).or(item.session.as_ref())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::*;
    use super::*;
    use crate::domain::session::SessionState;

    fn says(view: &super::super::LaneView, first: bool) -> &'static str {
        let effect = &view.effects[0];
        let session = session_of(effect, &view.item, &view.endpoints);
        advice(Standing::Waiting { item: Some(&view.item), session, first }, Some(effect))[0]
    }

    #[test]
    fn what_waits_says_for_whom() {
        let lane = |state| view(state).with_deliveries(&EndpointRef::Item, 1..=1);
        let mut held = lane(live());
        held.item.held_by_adoption = true;
        let mut tripped = lane(live());
        tripped.own().breaker.tripped = true;
        let mut later = lane(live());
        later.effects[0].not_before = Some(NOW);
        for (view, first, word) in [
            (&lane(live()), true, "the next of its lane"),
            (&lane(live()), false, "stands before it"),
            (&lane(SessionState::Paused(None)), true, "is paused"),
            (&held, true, "another machine"),
            (&tripped, true, "releases it"),
            (&later, true, "by itself"),
        ] {
            assert!(says(view, first).contains(word), "{word}: {}", says(view, first));
        }
    }

    #[test]
    fn what_was_given_up_can_be_tried_again_or_forgotten_and_unknown_is_looked_at_first() {
        let effect = view(live()).with_deliveries(&EndpointRef::Item, 1..=1).effects.remove(0);
        let unknown = advice(Standing::Dead(DeadReason::Unknown), Some(&effect));
        assert!(unknown[0].contains("look into") && unknown[2].contains("twice"));
        for standing in [Standing::Dead(DeadReason::RetriesExhausted), Standing::Undecidable] {
            let all = advice(standing, Some(&effect)).join("\n");
            assert!(all.contains("`retry`") && all.contains("`drop`"), "{all}");
        }
    }
}
