//! Properties: what holds whatever order the same events come in.

use proptest::prelude::*;

use super::fixtures::*;
use super::{DropReason, Outcome, Verdict};
use crate::domain::event::{Event, ItemFact, Subject};

/// What happens on issue 7 or its pull request 16, at a time of its own.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Step {
    Start,
    Stop,
    Pause,
    Resume,
    Close,
    Reopen,
    Comment,
    OnPullRequest,
    StopOnPullRequest,
    ClosePullRequest,
    ReopenPullRequest,
    Label,
}

const STEPS: [Step; 12] = [
    Step::Start,
    Step::Stop,
    Step::Pause,
    Step::Resume,
    Step::Close,
    Step::Reopen,
    Step::Comment,
    Step::OnPullRequest,
    Step::StopOnPullRequest,
    Step::ClosePullRequest,
    Step::ReopenPullRequest,
    Step::Label,
];

/// The event of a step; `open` is what GitHub shows of the issue then.
fn event_of(step: Step, second: i64, open: bool) -> Event {
    let id = 100 + second as u64;
    let shown = Subject { updated_at: Some(at(second)), open: Some(open), ..subject(7) };
    let pull = Subject { updated_at: Some(at(second)), ..pull_request(16, Some(7)) };
    let over = |subject: Subject| Subject { open: Some(false), closed_at: Some(at(second)), ..subject };
    let said = |subject: Subject, text: &str| comment(id, subject, "mona", second, text);
    let told = |subject: Subject, change: ItemFact| fact(&format!("f-{second}"), subject, change);
    match step {
        Step::Start => said(shown, "the-loop start\nplease"),
        Step::Stop => said(shown, "the-loop stop"),
        Step::Pause => said(shown, "the-loop pause"),
        Step::Resume => said(shown, "the-loop resume"),
        Step::Comment => said(shown, "a remark"),
        Step::OnPullRequest => said(pull, "a review"),
        Step::StopOnPullRequest => said(pull, "the-loop stop"),
        Step::Close => told(over(shown), ItemFact::Closed { merged: false }),
        Step::Reopen => told(shown, ItemFact::Reopened),
        Step::Label => told(shown, ItemFact::Labeled(Some(LABEL.into()))),
        Step::ClosePullRequest => told(over(pull), ItemFact::Closed { merged: true }),
        Step::ReopenPullRequest => told(pull, ItemFact::Reopened),
    }
}

/// The events in GitHub's order, one second apart.
fn history(steps: &[Step]) -> Vec<Event> {
    let mut open = true;
    let mut events = Vec::new();
    for (n, step) in steps.iter().enumerate() {
        match step {
            Step::Close => open = false,
            Step::Reopen => open = true,
            _ => {}
        }
        events.push(event_of(*step, n as i64 + 1, open));
    }
    events
}

/// Whether the newest of start, stop and close disarms. A resume after a stop is the newer word of the two, should it be
/// heard first; after a close it is nothing.
fn disarmed(steps: &[Step]) -> bool {
    let words = [Step::Start, Step::Stop, Step::Close];
    let Some(at) = steps.iter().rposition(|step| words.contains(step)) else { return false };
    match steps[at] {
        Step::Start => false,
        Step::Stop => !steps[at..].contains(&Step::Resume),
        _ => true,
    }
}

/// What holds after every decision.
fn assert_sound(rows: &Rows, outcome: &Outcome) {
    if !matches!(outcome.verdict, Verdict::Accepted) {
        assert!(outcome.effects.is_empty(), "{:?} with {:?}", outcome.verdict, outcome.effects);
    }
    for (key, known) in &rows.view.items {
        assert_eq!(known.item.reference.key(), *key);
        let sections = &known.item.sections;
        if let (Some(control), Some(ended)) = (&sections.control, &sections.ended) {
            assert!(control.at() > Some(ended.at), "an ending that is not before its command");
        }
        for endpoint in &known.endpoints {
            let pull_request = endpoint.reference.key();
            assert_ne!(pull_request, *key, "an item is never its own pull request");
            assert!(rows.view.owners[&pull_request].contains(key), "the way back");
        }
    }
    for (pull_request, owners) in &rows.view.owners {
        for owner in owners {
            let listed = &rows.view.items[owner].endpoints;
            assert!(listed.iter().any(|endpoint| endpoint.reference.key() == *pull_request));
        }
    }
}

fn run(events: &[Event]) -> Rows {
    let mut rows = Rows::new();
    for event in events {
        let outcome = rows.take(event, 100);
        assert_sound(&rows, &outcome);
        let again = rows.take(event, 101);
        assert!(again.effects.is_empty(), "{:?} acts twice", event.delivery);
        if !matches!(outcome.verdict, Verdict::Refused(_)) {
            assert_eq!(again.verdict, Verdict::Dropped(DropReason::DuplicateDelivery));
        }
        spawn_all(&mut rows);
    }
    rows
}

/// Whatever asked for a harness has one.
fn spawn_all(rows: &mut Rows) {
    use crate::domain::session::SessionState;
    for known in rows.view.items.values_mut() {
        for session in known.item.session.iter_mut().chain(&mut known.endpoints) {
            if session.state == SessionState::Starting {
                session.state = SessionState::Live(life(1));
            }
        }
    }
}

fn is_live(rows: &Rows) -> bool {
    rows.view.is_live(&issue(7))
}

/// Every order of up to five steps of those that arm and disarm.
#[test]
fn k21_k31_no_order_leaves_a_disarmed_item_live() {
    let words = [Step::Start, Step::Stop, Step::Close, Step::Reopen, Step::Comment];
    let mut histories: Vec<Vec<Step>> = vec![Vec::new()];
    for _ in 0..4 {
        let longer: Vec<Vec<Step>> = histories
            .iter()
            .flat_map(|steps| words.iter().map(|step| steps.iter().copied().chain([*step]).collect()))
            .collect();
        histories.extend(longer);
        histories.sort_by_key(|steps| (steps.len(), format!("{steps:?}")));
        histories.dedup();
    }
    for steps in histories.iter().filter(|steps| disarmed(steps)) {
        let events = history(steps);
        for order in orders(events.len()) {
            let shuffled: Vec<Event> = order.iter().map(|n| events[*n].clone()).collect();
            assert!(!is_live(&run(&shuffled)), "{steps:?} in the order {order:?}");
        }
    }
}

fn orders(n: usize) -> Vec<Vec<usize>> {
    match n {
        0 => vec![Vec::new()],
        n => orders(n - 1)
            .into_iter()
            .flat_map(|order| {
                (0..n).map(move |at| {
                    let mut order = order.clone();
                    order.insert(at, n - 1);
                    order
                })
            })
            .collect(),
    }
}

fn shuffled() -> impl Strategy<Value = (Vec<Step>, Vec<usize>)> {
    prop::collection::vec(prop::sample::select(STEPS.to_vec()), 1..10).prop_flat_map(|steps| {
        let order: Vec<usize> = (0..steps.len()).collect();
        (Just(steps), Just(order).prop_shuffle())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn every_order_is_sound_and_ends_disarmed_items((steps, order) in shuffled(), policy in 0..4u8) {
        let events = history(&steps);
        let mut rows = Rows::new();
        rows.policy.session_per_pr = policy & 1 == 0;
        rows.policy.require_start = policy & 2 == 0;
        for n in &order {
            let outcome = rows.take(&events[*n], 100);
            assert_sound(&rows, &outcome);
            let again = rows.take(&events[*n], 101);
            prop_assert!(again.effects.is_empty());
            spawn_all(&mut rows);
        }
        if rows.policy.require_start && disarmed(&steps) {
            prop_assert!(!is_live(&rows), "{steps:?} in the order {order:?}");
        }
    }
}
