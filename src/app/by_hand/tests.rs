//! Tests: what is done by hand, with lanes that run.

use super::super::moving::*;
use super::super::request::{Look, Order, Request, ResetScope, Response};
use super::*;
use crate::domain::harness::Harness;
use crate::domain::ids::ConversationId;
use crate::domain::session::SessionState;
use crate::store::View as _;

fn order(app: &App, order: Order) -> Result<Response, Trouble> {
    ask(app, &Request::Order(order))
}

fn by_hand(app: &App, item: &WorkItemRef, act: Act) -> Commanded {
    match order(app, Order::ByHand { item: item.clone(), act }) {
        Ok(Response::Commanded(commanded)) => commanded,
        other => panic!("{other:?}"),
    }
}

fn reset(app: &App, items: &[&WorkItemRef]) -> Vec<ResetItem> {
    let scope = match items {
        [] => ResetScope::All,
        items => ResetScope::Items(items.iter().map(|item| (*item).clone()).collect()),
    };
    match order(app, Order::Reset(scope)) {
        Ok(Response::Reset(items)) => items,
        other => panic!("{other:?}"),
    }
}

fn registration(conversation: &str, force: bool) -> Registration {
    let conversation = ConversationId::parse(conversation).unwrap();
    Registration { harness: "agent".into(), conversation, cwd: std::env::temp_dir(), force }
}

/// An app whose agent resumes its conversations.
fn resuming() -> (App, std::sync::Arc<Meddled>) {
    let (app, runner) = world();
    let resume = vec!["--go-on".to_owned(), "{conversation}".to_owned(), "{cwd}".to_owned()];
    let agent = Harness::command("agent", "agent", Vec::new(), resume);
    let settings = app.settings();
    app.replace_settings(Settings { harnesses: [("agent".to_owned(), agent)].into(), ..(*settings).clone() });
    (app, runner)
}

/// Issue 7 that runs, with pull request 16 linked by hand.
fn running() -> (App, std::sync::Arc<Meddled>, WorkItemRef, WorkItemRef) {
    let (app, runner) = world();
    let (seven, sixteen) = (item("octo/hello", 7), item("octo/hello", 16));
    say(&app, 10, &seven, 101, "the-loop start");
    app.advance(&seven.key(), true, 100).unwrap();
    assert!(by_hand(&app, &seven, Act::LinkPr(sixteen.clone())).acted);
    (app, runner, seven, sixteen)
}

fn nothing_is_left(app: &App, item: &WorkItemRef, pull_request: &WorkItemRef) {
    let session = app.store().read(|tx| Ok(tx.item(&item.key())?.unwrap().session)).unwrap();
    assert_eq!(session, None);
    let (there, back) =
        app.store().read(|tx| Ok((tx.endpoints(&item.key())?, tx.owners(&pull_request.key())?))).unwrap();
    assert!(there.is_empty() && back.is_empty(), "{there:?} {back:?}");
    assert_sound(app);
}

#[test]
fn a_pull_request_is_linked_in_both_tables() {
    let (app, _, seven, sixteen) = running();
    let (there, back) = app.store().read(|tx| Ok((tx.endpoints(&seven.key())?, tx.owners(&sixteen.key())?))).unwrap();
    assert_eq!((there.len(), back), (1, vec![seven.key()]));
    let again = by_hand(&app, &seven, Act::LinkPr(sixteen));
    assert!(!again.acted && !again.refused);
    assert_sound(&app);
}

#[test]
fn k58_a_reset_ends_through_the_lane_and_forgets_the_rows_with_it() {
    let (app, runner, seven, sixteen) = running();
    let would = ask(&app, &Request::Look(Look::Reset(ResetScope::All))).unwrap();
    let Response::Reset(would) = would else { panic!() };
    assert_eq!((would.len(), would[0].reset, would[0].session.as_deref()), (1, true, Some("live")));
    assert_eq!(runner.ended.lock().unwrap().len(), 0, "a look does nothing");
    let done = reset(&app, &[&seven]);
    assert_eq!((done[0].reset, done[0].waiting, done[0].control.as_deref()), (true, 0, Some("start")));
    assert_eq!(*runner.ended.lock().unwrap(), [("%1".to_owned(), true)]);
    nothing_is_left(&app, &seven, &sixteen);
    let again = reset(&app, &[&seven]);
    assert!(!again[0].reset, "K70: there is nothing any more");
    assert!(reset(&app, &[]).is_empty());
    // The running daemon hears the old command once more, and an old comment.
    say(&app, 11, &seven, 101, "said before");
    assert!(live_key(&app, &seven).is_none());
}

#[test]
fn k58_the_last_end_and_the_row_go_in_one_transaction() {
    let (app, _, seven, sixteen) = running();
    app.decide_by_hand(&seven, &Act::Reset).unwrap();
    // One piece of work and not a look more: a crash right behind it leaves nothing to be found later.
    assert_eq!(app.advance(&seven.key(), false, 1).unwrap(), super::super::perform::Progress::Idle);
    nothing_is_left(&app, &seven, &sixteen);
}

#[test]
fn k58_what_has_nothing_to_end_is_forgotten_by_the_reset_itself() {
    let (app, _) = resuming();
    let seven = item("octo/hello", 7);
    assert!(by_hand(&app, &seven, Act::Register(registration("c1", false))).acted);
    app.decide_by_hand(&seven, &Act::Reset).unwrap();
    nothing_is_left(&app, &seven, &item("octo/hello", 16));
}

#[test]
fn k22_a_reset_during_a_spawn_ends_what_it_started() {
    let (app, runner) = world();
    let seven = item("octo/hello", 7);
    say(&app, 10, &seven, 101, "the-loop start");
    let (other, about) = (app.clone(), seven.clone());
    *runner.hook.lock().unwrap() = Some(Box::new(move || {
        assert!(reset(&other, &[&about])[0].reset);
    }));
    app.advance(&seven.key(), true, 100).unwrap();
    assert_eq!(*runner.ended.lock().unwrap(), [("%1".to_owned(), true)]);
    assert!(runner.typed.lock().unwrap().is_empty(), "what was said to it is not typed");
    nothing_is_left(&app, &seven, &item("octo/hello", 16));
}

#[test]
fn a_reset_of_what_never_ran_forgets_at_once() {
    let (app, _) = world();
    let seven = item("octo/hello", 7);
    let refused = by_hand(&app, &seven, Act::Close { keep_pane: None });
    assert_eq!((refused.refused, refused.reason.as_deref()), (true, Some("no-record")));
    assert!(!reset(&app, &[&seven])[0].reset);
    say(&app, 10, &seven, 101, "the-loop start");
    assert!(reset(&app, &[&seven, &seven]).len() == 1, "an item named twice is one");
    nothing_is_left(&app, &seven, &item("octo/hello", 16));
    // Begun anew by the operator: later than the reset, and a conversation of its own.
    let (started, _) = app.command(&seven, &crate::domain::portable::Command::Start, "mona").unwrap();
    assert!(started.acted && live_key(&app, &seven).is_some());
}

#[test]
fn k40_a_close_takes_the_persons_word_about_the_panes() {
    for (word, stays) in [(None, true), (Some(true), true), (Some(false), false)] {
        let (app, runner, seven, _) = running();
        let closed = by_hand(&app, &seven, Act::Close { keep_pane: word });
        assert!(closed.acted && closed.waiting == 1, "its directory waits for a daemon: {closed:?}");
        assert_eq!(*runner.ended.lock().unwrap(), [("%1".to_owned(), stays)]);
        let session = app.store().read(|tx| Ok(tx.item(&seven.key())?.unwrap().session)).unwrap().unwrap();
        assert!(matches!(session.state, SessionState::Closed { .. }));
        assert!(!by_hand(&app, &seven, Act::Close { keep_pane: word }).acted);
        assert_sound(&app);
    }
}

#[test]
fn a_registered_conversation_is_resumed_where_it_works_by_the_first_thing_said() {
    let (app, runner) = resuming();
    let seven = item("octo/hello", 7);
    assert!(by_hand(&app, &seven, Act::Register(registration("c1", false))).acted);
    assert!(runner.spawned.lock().unwrap().is_empty(), "nothing starts by itself");
    let rows = ask(&app, &Request::Look(Look::Sessions)).unwrap();
    let Response::Sessions(rows) = rows else { panic!() };
    assert_eq!(rows[0].status, "registered");
    say(&app, 2000, &seven, 101, "hello there");
    app.advance(&seven.key(), true, 100).unwrap();
    let spawned = runner.spawned.lock().unwrap();
    let directory = std::env::temp_dir();
    assert_eq!((spawned.len(), &spawned[0].cwd), (1, &directory));
    assert_eq!(spawned[0].argv[1..], ["--go-on".to_owned(), "c1".to_owned(), directory.display().to_string()]);
    assert!(runner.typed.lock().unwrap().join("\n").contains("hello there"));
    assert_sound(&app);
}

#[test]
fn k70_a_conversation_that_could_not_be_resumed_is_not_registered() {
    let (app, _) = world();
    let seven = item("octo/hello", 7);
    let act = |harness: &str| Act::Register(Registration { harness: harness.into(), ..registration("c1", false) });
    for (harness, why) in [("agent", "cannot resume"), ("nobody", "is not configured")] {
        let refused = order(&app, Order::ByHand { item: seven.clone(), act: act(harness) }).unwrap_err();
        assert!(refused.message.contains(why) && refused.hint.is_some(), "{refused:?}");
    }
    let (app, _) = resuming();
    app.replace_settings(Settings { resume_on_respawn: false, ..(*app.settings()).clone() });
    assert!(order(&app, Order::ByHand { item: seven.clone(), act: act("agent") }).is_err());
    assert!(live_key(&app, &seven).is_none());
}
