//! Tests: a person's word about single effects.

use std::sync::Arc;

use super::super::moving::*;
use super::super::request::{Look, Order, Request};
use super::*;
use crate::domain::ids::DeliveryId;
use crate::domain::reference::WorkItemRef;

fn entries(app: &App) -> Vec<(String, String, String)> {
    match ask(app, &Request::Look(Look::Dispatch)) {
        Ok(Response::Dispatch(entries)) => entries.into_iter().map(|e| (e.id, e.state, e.what)).collect(),
        other => panic!("{other:?}"),
    }
}

fn entry(id: &str, state: &str, what: &str) -> (String, String, String) {
    (id.into(), state.into(), what.into())
}

fn word(app: &App, order: fn(EntryId) -> Order, id: &str) -> Result<Dispatched, Trouble> {
    match ask(app, &Request::Order(order(EntryId::parse(id).unwrap()))) {
        Ok(Response::Dispatched(dispatched)) => Ok(dispatched),
        Err(trouble) => Err(trouble),
        other => panic!("{other:?}"),
    }
}

fn log(app: &App, name: EventName) -> Vec<serde_json::Map<String, serde_json::Value>> {
    let journal = app.store().read(|tx| tx.journal(0, usize::MAX)).unwrap();
    journal.into_iter().filter(|(_, _, entry)| entry.event == name).map(|(_, _, entry)| entry.fields).collect()
}

/// Issue 7 that runs and has heard one thing; a second was given up for `reason`.
fn given_up(reason: DeadReason) -> (App, Arc<Meddled>, WorkItemRef) {
    let (app, runner) = world();
    let seven = item("octo/hello", 7);
    say(&app, 10, &seven, 101, "the-loop start");
    app.advance(&seven.key(), true, 100).unwrap();
    say(&app, 11, &seven, 101, "given up");
    let lane = seven.key();
    app.store()
        .write(move |tx| {
            let effect = tx.lane(&lane, 1)?.remove(0);
            tx.remove_effect(&lane, effect.place)?;
            let effect = Effect { attempts: 8, ..effect };
            tx.put_dead(&DeadLetter { effect, reason, detail: "why".into(), at: EPOCH }).map(drop)
        })
        .unwrap();
    (app, runner, seven)
}

#[test]
fn a_letter_that_is_tried_again_arrives_before_what_was_said_later() {
    for (reason, may_repeat) in [(DeadReason::RetriesExhausted, false), (DeadReason::Unknown, true)] {
        let (app, runner, seven) = given_up(reason);
        say(&app, 12, &seven, 101, "said later");
        assert_eq!(entries(&app), [entry("e4", "waiting", "deliver"), entry("e3", "dead", "deliver")]);
        let retried = word(&app, Order::Retry, "e3").unwrap();
        assert_eq!((retried.acted, retried.may_repeat, retried.state.as_str()), (true, may_repeat, "done"));
        let typed = runner.typed.lock().unwrap().join("\n");
        assert!(["given up", "said later"].map(|text| typed.find(text).expect(text)).is_sorted(), "{typed}");
        assert!(entries(&app).is_empty());
        assert_eq!(log(&app, EventName::DispatchQueued).last().unwrap()["entry"], "e3");
        assert_sound(&app);
    }
}

#[test]
fn k70_a_letter_nobody_could_take_stays_and_says_why() {
    let (app, runner, seven) = given_up(DeadReason::Unknown);
    app.command(&seven, &crate::domain::portable::Command::Stop, "mona").unwrap();
    app.advance(&seven.key(), true, 100).unwrap();
    let typed = runner.typed.lock().unwrap().len();
    let refused = word(&app, Order::Retry, "e3").unwrap_err();
    assert!(refused.message.contains("no session") && refused.hint.is_some(), "{refused:?}");
    assert_eq!(entries(&app), [entry("e3", "dead", "deliver")]);
    assert_eq!(runner.typed.lock().unwrap().len(), typed);
    assert!(word(&app, Order::Retry, "e99").unwrap_err().message.contains("no entry `e99`"));
}

#[test]
fn what_is_dropped_is_logged_and_gone() {
    let (app, _, seven) = given_up(DeadReason::Unknown);
    say(&app, 12, &seven, 101, "said later");
    for id in ["e3", "e4"] {
        assert!(word(&app, Order::Drop, id).unwrap().acted);
        assert!(word(&app, Order::Drop, id).is_err());
    }
    assert!(entries(&app).is_empty());
    let dropped = log(&app, EventName::DispatchDropped);
    let fields: Vec<_> = dropped.iter().map(|fields| (&fields["entry"], &fields["reason"])).collect();
    assert_eq!(fields, [(&"e3".into(), &BY_HAND.into()), (&"e4".into(), &BY_HAND.into())]);
    assert_sound(&app);
}

#[test]
fn k40_a_spawn_is_not_dropped_from_under_its_session() {
    let (app, _) = world();
    let seven = item("octo/hello", 7);
    say(&app, 10, &seven, 101, "the-loop start");
    let refused = word(&app, Order::Drop, "e1").unwrap_err();
    assert!(refused.message.contains("a session depends on it"), "{refused:?}");
    assert!(!word(&app, Order::Retry, "e1").unwrap().acted, "it waits for its turn already");
    assert_eq!(entries(&app).len(), 2);
}

#[test]
fn what_is_being_done_is_shown_so_and_left_alone() {
    let (app, runner) = world();
    let seven = item("octo/hello", 7);
    say(&app, 10, &seven, 101, "the-loop start");
    let other = app.clone();
    *runner.hook.lock().unwrap() = Some(Box::new(move || {
        assert_eq!(entries(&other)[0], entry("e1", "running", "spawn"));
        for order in [Order::Retry as fn(EntryId) -> Order, Order::Drop] {
            assert!(word(&other, order, "e1").unwrap_err().message.contains("being done right now"));
        }
    }));
    app.advance(&seven.key(), true, 100).unwrap();
    assert!(entries(&app).is_empty());
}

#[test]
fn a_message_is_shown_whole() {
    let (app, _, _) = given_up(DeadReason::Unknown);
    let shown = ask(&app, &Request::Look(Look::Effect(EntryId::Effect(3)))).unwrap();
    let Response::Effect(Some(detail)) = shown else { panic!() };
    assert_eq!((detail.entry.reason.as_deref(), detail.entry.attempts), (Some("unknown"), 8));
    assert_eq!(detail.message.unwrap().text, "given up");
    assert_eq!(ask(&app, &Request::Look(Look::Effect(EntryId::Effect(9)))), Ok(Response::Effect(None)));
}

const COMMENT: &str = r#"{"action":"created","comment":{"id":77,"node_id":"IC_77","body":"kept whole","user":{"login":"mona"},
"created_at":"2026-06-01T00:00:00Z"},"issue":{"number":7,"id":5007,"title":"Ticket","state":"open","user":{"login":"mona"},
"labels":[]},"repository":{"id":101,"name":"hello","full_name":"octo/hello","owner":{"login":"octo"}},"sender":{"login":"mona"}}"#;

fn undecided() -> (App, Arc<Meddled>, String) {
    let (app, runner) = world();
    say(&app, 10, &item("octo/hello", 7), 101, "the-loop start");
    app.advance(&item("octo/hello", 7).key(), true, 100).unwrap();
    let delivery = DeliveryId::parse("d-77").unwrap();
    let id = EntryId::of_delivery(&delivery).to_string();
    app.store()
        .write(move |tx| {
            tx.put_delivery(&delivery, DeliveryState::Undecidable, EPOCH)?;
            tx.put_undecidable(&delivery, "issue_comment", COMMENT.as_bytes(), "a bug", EPOCH)
        })
        .unwrap();
    (app, runner, id)
}

#[test]
fn an_event_that_a_bug_kept_is_listed_and_decided_when_the_bug_is_gone() {
    let (app, runner, id) = undecided();
    assert_eq!(entries(&app), [entry(&id, "undecidable", "issue_comment")]);
    let shown = ask(&app, &Request::Look(Look::Effect(EntryId::parse(&id).unwrap()))).unwrap();
    assert!(matches!(shown, Response::Effect(Some(detail)) if detail.payload.as_deref() == Some(COMMENT)));
    assert!(word(&app, Order::Retry, &id).unwrap().acted);
    assert!(runner.typed.lock().unwrap().join("\n").contains("kept whole"));
    assert!(entries(&app).is_empty());
    assert!(word(&app, Order::Retry, &id).is_err());
    assert_sound(&app);
}

#[test]
fn an_event_that_is_dropped_was_never_decided() {
    let (app, runner, id) = undecided();
    assert!(word(&app, Order::Drop, &id).unwrap().acted);
    assert!(entries(&app).is_empty());
    assert_eq!(log(&app, EventName::DispatchDropped).last().unwrap()["delivery"], "d-77");
    let state = app.store().read(|tx| tx.delivery(&DeliveryId::parse("d-77").unwrap())).unwrap();
    assert_eq!(state, Some(DeliveryState::Refused), "sent again by a person, it is decided again");
    assert!(!runner.typed.lock().unwrap().join("\n").contains("kept whole"));
    assert_sound(&app);
}
