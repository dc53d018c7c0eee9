//! The store: whether its tables fit together, what was given up, what waits or hangs, what the log has not got.

use std::ops::ControlFlow;

use super::all;
use crate::app::journal;
use crate::domain::effect::{Claim, DeadLetter, DeadReason};
use crate::domain::entry::EntryId;
use crate::domain::findings::Finding;
use crate::domain::item::Item;
use crate::domain::reference::RefKey;
use crate::domain::session::Session;
use crate::domain::time::Time;
use crate::store::{self, StoreError, View};

/// A lane that waited longer than this is worth a word, seconds.
const LONG_WAIT: i64 = 3600;
/// Letters told one by one; more of them have one reason, and are counted.
const TOLD: usize = 20;

/// What is found in the store. An effect may run for `limit` seconds.
///
/// # Errors
/// The file itself cannot be read.
pub fn store(tx: &impl View, now: Time, limit: i64) -> Result<Vec<Finding>, StoreError> {
    let mut findings = Vec::new();
    let inconsistencies = store::check(tx)?;
    for inconsistency in &inconsistencies {
        findings.push(
            Finding::error("store.inconsistent", inconsistency.to_string())
                .because("tables do not fit together, which is a bug or a damaged file")
                .todo("keep a copy of the file and report it; the item it names can be reset"),
        );
    }
    if inconsistencies.is_empty() {
        findings.push(Finding::ok("store.sound", "its tables fit together"));
    }
    findings.extend(letters(&tx.dead_letters()?));
    for event in tx.undecidables()? {
        let what = format!("delivery {} ({}) could not be decided: {}", event.delivery, event.name, event.error);
        findings.push(
            Finding::error("store.undecidable", what)
                .because("a bug kept it from being decided; it is kept whole")
                .todo("report it; `the-loop dispatch` decides it again once it is mended, or drops it"),
        );
    }
    findings.extend(tx.claims()?.iter().filter_map(|claim| stuck(claim, now, limit)));
    findings.extend(waiting(tx, now)?);
    findings.extend(all(tx)?.values().filter_map(|owned| tripped(&owned.session)));
    tx.for_each_item(&mut |item| {
        findings.extend(item.ok().as_ref().and_then(disarmed_elsewhere));
        ControlFlow::Continue(())
    })?;
    findings.extend(tx.journal_bounds()?.and_then(|(first, last)| unwritten(last + 1 - first)));
    Ok(findings)
}

fn letters(letters: &[(u64, DeadLetter)]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = letters.iter().take(TOLD).map(|(_, letter)| dead(letter)).collect();
    if letters.len() > TOLD {
        let what = format!("{} more dead letters", letters.len() - TOLD);
        findings.push(Finding::warning("store.dead-letters", what).todo("`the-loop dispatch list` names all of them"));
    }
    findings
}

fn dead(letter: &DeadLetter) -> Finding {
    let DeadLetter { effect, at, detail, .. } = letter;
    let (name, verb) = (EntryId::Effect(effect.place.seq), effect.body.verb());
    let what = format!("`{name}`, {verb} for {}, was given up at {at}: {detail}", effect.lane);
    match letter.reason {
        DeadReason::RetriesExhausted => Finding::warning("store.dead-letter", what)
            .because("it was not done")
            .todo("mend what kept it from being done, then retry it with `the-loop dispatch`, or drop it there"),
        DeadReason::Unknown => Finding::warning("store.dead-letter-unknown", what)
            .because("nobody can know whether it was done, and it is never repeated by itself")
            .todo("look into the conversation: drop it with `the-loop dispatch` when it arrived, retry it when it did not"),
    }
}

/// Work that has been under way for longer than any may.
fn stuck(claim: &Claim, now: Time, limit: i64) -> Option<Finding> {
    let age = (now.as_millis() - claim.at.as_millis()) / 1000;
    (age > limit).then(|| {
        let what =
            format!("{} effects of {} have been under way for {} minutes", claim.members.len(), claim.lane, age / 60);
        Finding::warning("store.stuck", what)
            .because("everything else for this item waits behind it")
            .todo("a running daemon settles it as soon as tmux answers; without one, the next start does")
    })
}

fn waiting(tx: &impl View, now: Time) -> Result<Vec<Finding>, StoreError> {
    let mut findings = Vec::new();
    for (lane, count) in tx.lanes()? {
        let first = tx.lane(&lane, 1)?.into_iter().next();
        let age = first.map_or(0, |effect| (now.as_millis() - effect.created_at.as_millis()) / 1000);
        if age > LONG_WAIT {
            findings.push(long_wait(tx, &lane, count, age)?);
        }
    }
    Ok(findings)
}

fn long_wait(tx: &impl View, lane: &RefKey, count: usize, age: i64) -> Result<Finding, StoreError> {
    let paused = tx.item(lane)?.and_then(|item| item.session).is_some_and(|session| session.is_paused());
    let what = format!("{count} effects wait for {lane}, the oldest for {} minutes", age / 60);
    Ok(match paused {
        true => Finding::note("store.paused", format!("{what}: it is paused")),
        false => Finding::warning("store.waiting", what)
            .because("what was said on its ticket has not reached its agent")
            .todo("`the-loop sessions show` tells what it waits for"),
    })
}

/// A conversation that the breaker holds: nothing more arrives, and only a person releases it.
fn tripped(session: &Session) -> Option<Finding> {
    let reference = &session.reference;
    (session.breaker.tripped && session.is_live()).then(|| {
        let login = session.breaker.login.as_deref().unwrap_or("one login");
        Finding::warning("store.breaker", format!("{reference} is held: {login} alone spoke into it too often"))
            .because("an agent that answers itself without the marker looks like this")
            .todo("`resume` on its ticket releases it; `routing.breaker` sets the limit")
    })
}

/// A live session whose item a portable change of another machine disarmed: its agent waits for a person's word.
fn disarmed_elsewhere(item: &Item) -> Option<Finding> {
    (item.held_by_adoption && item.live_session().is_some()).then(|| {
        let what = format!("{} is held: its portable file says that another machine disarmed it", item.reference);
        Finding::note("store.disarmed", what).todo("`stop` on its ticket ends the session, `start` or `resume` goes on")
    })
}

/// Entries of the trail that have not reached the log.
fn unwritten(count: u64) -> Option<Finding> {
    (count > journal::WITHOUT_LOG).then(|| {
        let what = format!("{count} entries of the trail wait for the event log");
        Finding::warning("store.unwritten-log", what)
            .because(format!("`events` shows them from the store, which keeps the newest {}", journal::WAITING))
            .todo("see to it that the log can be written, and that a daemon runs")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::effect::{Class, Effect, EffectBody, EndpointRef, Place};
    use crate::domain::findings::Severity;
    use crate::domain::ids::{BatchId, InstanceId};
    use crate::domain::reference::WorkItemRef;
    use crate::domain::session::EndReason;

    fn letter(reason: DeadReason) -> DeadLetter {
        let lane = WorkItemRef::parse("github:octo/hello#7").unwrap().key();
        let body =
            EffectBody::End { endpoint: EndpointRef::Item, life: None, reason: EndReason::Stopped, keep_pane: None };
        let place = Place { class: Class::Ordinary, seq: 1 };
        let at = Time::from_millis(0);
        let effect = Effect { lane, place, body, attempts: 3, not_before: None, trouble: None, created_at: at };
        DeadLetter { effect, reason, detail: "it did not end".into(), at }
    }

    #[test]
    fn dead_letters_say_what_to_do_and_many_are_counted() {
        for (reason, id, todo) in [
            (DeadReason::RetriesExhausted, "store.dead-letter", "retry"),
            (DeadReason::Unknown, "store.dead-letter-unknown", "look into the conversation"),
        ] {
            let found = dead(&letter(reason));
            assert_eq!((found.id, found.severity), (id, Severity::Warning));
            assert!(found.what.contains("`e1`, end for github:octo/hello#7") && found.what.contains("it did not end"));
            assert!(found.todo.unwrap().contains(todo) && found.why.is_some());
        }
        let many: Vec<_> = (0..50).map(|number| (number, letter(DeadReason::Unknown))).collect();
        let found = letters(&many);
        assert_eq!(found.len(), TOLD + 1);
        assert!(found[TOLD].what.starts_with("30 more"), "{:?}", found[TOLD]);
    }

    #[test]
    fn what_hangs_or_is_not_written_is_told_from_a_limit_on() {
        let at = Time::from_millis(0);
        let claim = Claim {
            lane: letter(DeadReason::Unknown).effect.lane,
            members: Vec::new(),
            endpoint: EndpointRef::Item,
            batch: BatchId::from_hex("0123456789abcdef0123456789abcdef"),
            life: None,
            held: 0,
            instance: InstanceId("x".into()),
            at,
        };
        assert_eq!(stuck(&claim, at.plus_seconds(100), 100), None);
        assert_eq!(stuck(&claim, at.plus_seconds(101), 100).map(|found| found.id), Some("store.stuck"));
        assert_eq!(unwritten(journal::WITHOUT_LOG), None);
        assert_eq!(unwritten(journal::WITHOUT_LOG + 1).map(|found| found.id), Some("store.unwritten-log"));
    }
}
