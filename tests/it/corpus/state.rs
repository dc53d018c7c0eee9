//! What the examples leave behind, decided by the real app: the same after a second round, and in any order.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use the_loop::app::ingest::Arrival;
use the_loop::domain::decide::{DropReason, Verdict};
use the_loop::domain::event::body::MediaType;
use the_loop::domain::event::{Content, Event, Ignored};
use the_loop::domain::ids::Login;
use the_loop::domain::item::{Facts, Sections};
use the_loop::domain::policy::{Policy, SpawnPolicy};
use the_loop::domain::portable::{Control, Ended};
use the_loop::domain::reference::RefKey;
use the_loop::domain::session::{Session, SessionState};
use the_loop::domain::time::Time;
use the_loop::store::View as _;

use super::examples::{Corpus, Example, corpus, fresh_id, logins, normalised};
use super::rng::Rng;
use crate::portable::Place;

/// Whose command line may arm items.
pub const OPERATOR: &str = "operator";

/// A machine at the time of most examples; `open` admits everybody in them and starts what they speak of.
pub fn place(corpus: &Corpus, open: bool) -> Place {
    let place = Place::new();
    place.turn_clock_to(Time::parse("2019-05-15T15:00:00Z").unwrap());
    if open {
        let policy = Policy {
            authorized_users: logins(corpus).into_iter().filter_map(Login::parse).collect(),
            trusted_operators: vec![OPERATOR.to_owned()],
            spawn: SpawnPolicy::Always,
            require_start: false,
            ..Policy::default()
        };
        let settings = place.app.settings();
        place.app.replace_settings(the_loop::app::Settings { policy, ..settings.as_ref().clone() });
    }
    place
}

/// The events of the examples that a daemon decides on, each under an id of its own.
pub fn deliveries(corpus: &Corpus) -> Vec<(&Example, Event)> {
    let event = |example: &Example| normalised(&example.event, MediaType::Json, &example.body, &fresh_id());
    let all = corpus.public.iter().map(|example| (example, event(example)));
    all.filter(|(_, event)| event.content != Content::Ignored(Ignored::Ping)).collect()
}

/// Takes one event in as the door does.
pub fn take(place: &Place, example: &Example, event: &Event) -> Verdict {
    place.app.adopt_for(event).unwrap();
    let body = Bytes::from(example.body.clone());
    place.app.ingest(&Arrival::delivered(event.clone(), body)).unwrap().verdict
}

/// How one item stands; its counters and the times of this machine are left out.
#[derive(Debug, PartialEq)]
pub struct Left {
    facts: Facts,
    control: Option<Control>,
    lives: bool,
    /// What only an item has that was once started here: how it ended, its conversations and what they saw.
    history: (Option<Ended>, Option<String>, Vec<String>, BTreeSet<String>),
}

/// What is known of each item.
fn left(place: &Place) -> BTreeMap<RefKey, Left> {
    let state = |session: &Session| match &session.state {
        SessionState::Closed { reason, .. } => format!("{} closed: {}", session.reference, reason.as_str()),
        state => format!("{} {state:?}", session.reference),
    };
    let read = place.app.store().read(|tx| {
        let mut left = BTreeMap::new();
        for key in tx.item_keys()? {
            let item = tx.item(&key)?.unwrap();
            let endpoints = tx.endpoints(&key)?.iter().map(state).collect();
            let session = item.session.as_ref().map(state);
            let lives = item.live_session().is_some();
            let Sections { control, ended, .. } = item.sections;
            let history = (ended, session, endpoints, tx.seen(&key)?);
            left.insert(key, Left { facts: item.facts, control, lives, history });
        }
        Ok(left)
    });
    read.unwrap()
}

/// How many effects wait.
fn waiting(place: &Place) -> usize {
    place.app.store().read(|tx| Ok(tx.lanes()?.iter().map(|(_, count)| count).sum())).unwrap()
}

#[test]
fn a_second_round_has_no_effect() {
    let Some(corpus) = corpus("a_second_round_has_no_effect") else { return };
    let (place, deliveries) = (place(corpus, true), deliveries(corpus));
    assert_eq!(deliveries.len(), 325, "all but the four pings");
    for (example, event) in &deliveries {
        take(&place, example, event);
    }
    let then = (left(&place), waiting(&place));
    assert!(then.0.values().any(|item| item.history.1.is_some()) && then.1 > 0, "{then:?}");
    for (example, event) in &deliveries {
        let verdict = take(&place, example, event);
        assert_eq!(verdict, Verdict::Dropped(DropReason::DuplicateDelivery), "{}", example.name);
    }
    assert_eq!((left(&place), waiting(&place)), then);
}

#[test]
fn the_order_of_arrival_does_not_matter_for_what_is_left() {
    let Some(corpus) = corpus("the_order_of_arrival_does_not_matter_for_what_is_left") else { return };
    for open in [false, true] {
        let (ordered, mut deliveries) = (place(corpus, open), deliveries(corpus));
        for (example, event) in &deliveries {
            take(&ordered, example, event);
        }
        let mut right = left(&ordered);
        assert!(right.len() > 1, "{right:?}");
        for seed in 0..5 {
            let (place, mut rng) = (place(corpus, open), Rng::new(seed));
            for at in (1..deliveries.len()).rev() {
                deliveries.swap(at, usize::try_from(rng.below(at as u64 + 1)).unwrap());
            }
            for (example, event) in &deliveries {
                take(&place, example, event);
            }
            let mut found = left(&place);
            // A close that comes first starts nothing that it would end: only then there is no history.
            if open {
                for (right, found) in right.values_mut().zip(found.values_mut()) {
                    found.history.clone_from(&right.history);
                }
            }
            assert_eq!(found, right, "seed {seed}, open {open}");
        }
    }
}
