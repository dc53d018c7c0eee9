//! Tables: what goes in comes out, in order, and what must hold between them is noticed when it does not.

use super::super::packs::LONG;
use super::*;
use crate::domain::decide::DeliveryState;
use crate::domain::effect::{Claim, DeadLetter, DeadReason, Effect, EndpointRef, Place};
use crate::domain::ids::{BatchId, InstanceId};
use crate::domain::item::Facts;
use crate::domain::portable::{Command, Control, Ended, RequestedAt, Source};
use crate::domain::session::EndReason;

#[test]
fn an_accepted_comment_is_whole_after_it() {
    let store = memory();
    assert!(store.write(|tx| accept(tx, 1, 5)).unwrap());
    assert!(!store.write(|tx| accept(tx, 1, 5)).unwrap());
    store
        .read(|view| {
            assert_eq!(view.item(&key(1))?.unwrap().version, 5);
            assert_eq!(view.delivery(&delivery(5))?, Some(DeliveryState::Decided));
            assert_eq!(view.identity(&identity(5))?, IdentityState::Spoken);
            assert!(view.has_seen(&key(1), "IC_5")? && !view.has_seen(&key(1), "IC_6")?);
            assert_eq!(view.lanes()?, [(key(1), 1)]);
            assert_eq!(view.mark(&key(1))?, Some(Mark { urgency: Urgency::Cycle, since: NOW }));
            assert_eq!(view.journal_bounds()?, Some((1, 2)));
            assert_eq!(view.journal(2, 10)?[0].2.event, EventName::DispatchQueued);
            Ok(())
        })
        .unwrap();
    assert_sound(&store);
}

#[test]
fn outcomes_answer_the_lanes_they_touch_once_each() {
    let store = memory();
    let lanes = store.write(|tx| {
        let mut both = outcome(2, 1);
        both.effects = vec![deliver(2, 1), deliver(1, 1), deliver(2, 1)];
        tx.apply_outcome(both, NOW)
    });
    assert_eq!(lanes.unwrap(), [key(1), key(2)]);
}

#[test]
fn k13_a_changed_record_with_something_waiting_is_news_for_its_lane() {
    let store = memory();
    let quiet = || {
        store.write(|tx| {
            let mut resumed = outcome(1, 1);
            resumed.effects.clear();
            tx.apply_outcome(resumed, NOW)
        })
    };
    assert_eq!(quiet().unwrap(), []);
    store.write(|tx| tx.push_effect(deliver(1, 1), NOW)).unwrap();
    assert_eq!(quiet().unwrap(), [key(1)], "a resume brings no effect and releases those that wait");
}

#[test]
fn lanes_are_in_order_of_class_and_number_and_apart_from_each_other() {
    let store = memory();
    store
        .write(|tx| {
            for number in 1..=300 {
                tx.push_effect(deliver(1, number), NOW)?;
                tx.push_effect(deliver(15, number), NOW)?;
            }
            let end = EffectBody::End {
                endpoint: EndpointRef::Item,
                life: None,
                reason: EndReason::Stopped,
                keep_pane: None,
            };
            tx.push_effect(NewEffect { lane: key(1), class: Class::Overtaking, body: end }, NOW)?;
            Ok(())
        })
        .unwrap();
    store
        .read(|view| {
            let lane = view.lane(&key(1), usize::MAX)?;
            assert_eq!(lane.len(), 301);
            assert_eq!(lane[0].body.verb(), "end");
            assert!(lane.iter().all(|effect| effect.lane == key(1)));
            assert!(lane.iter().map(|effect| effect.place).is_sorted());
            assert_eq!(view.lane_class(&key(1), Class::Ordinary, 2)?.len(), 2);
            assert_eq!(view.lane_class(&key(1), Class::Preparing, 2)?.len(), 0);
            assert_eq!(view.lane(&key(1), 0)?.len(), 0);
            assert_eq!(view.lanes()?, [(key(1), 301), (key(15), 300)]);
            Ok(())
        })
        .unwrap();
    let first = store.read(|view| Ok(view.lane(&key(15), 1)?.remove(0))).unwrap();
    let again = first.clone();
    let changed = Effect { attempts: 3, not_before: Some(NOW), ..first };
    let kept = changed.clone();
    store.write(move |tx| tx.put_effect(&changed)).unwrap();
    assert_eq!(store.read(|view| view.effect(&again.lane, again.place)).unwrap(), Some(kept));
    let place = again.place;
    assert!(store.write(move |tx| tx.remove_effect(&key(15), place)).unwrap());
    assert!(!store.write(move |tx| tx.remove_effect(&key(15), place)).unwrap());
    assert_eq!(store.read(|view| view.lanes()).unwrap()[1], (key(15), 299));
}

#[test]
fn endpoints_are_found_from_both_sides_at_once() {
    let store = memory();
    store
        .write(|tx| {
            tx.put_item(&item(1))?;
            tx.put_item(&item(15))?;
            tx.put_endpoint(&key(1), &session(40))?;
            tx.put_endpoint(&key(1), &session(4))?;
            tx.put_endpoint(&key(15), &session(40))?;
            assert_eq!(tx.owners(&key(40))?, [key(1), key(15)]);
            assert_eq!(tx.endpoints(&key(1))?.len(), 2);
            assert!(tx.endpoint(&key(15), &key(4))?.is_none());
            Ok(())
        })
        .unwrap();
    assert_sound(&store);
    assert!(store.write(|tx| tx.remove_endpoint(&key(1), &key(40))).unwrap());
    assert_eq!(store.read(|view| view.owners(&key(40))).unwrap(), [key(15)]);
    assert_sound(&store);
    let own = store.write(|tx| tx.put_endpoint(&key(1), &session(1)));
    assert!(matches!(own, Err(StoreError::Bug(_))), "an item is never its own pull request");
}

#[test]
fn items_of_a_repository_are_not_those_of_a_longer_name() {
    let store = memory();
    store
        .write(|tx| {
            for text in ["github:octo/hello#2", "github:Octo/Hello#10", "github:octo/hello-x#1", "github:octo/hell#1"] {
                tx.put_item(&Item::new(WorkItemRef::parse(text).unwrap()))?;
            }
            Ok(())
        })
        .unwrap();
    let found = store.read(|view| view.items_of_repo("github:octo/hello")).unwrap();
    let found: Vec<_> = found.iter().map(|item| item.reference.to_string()).collect();
    assert_eq!(found, ["github:Octo/Hello#10", "github:octo/hello#2"]);
    let mut all = 0;
    store
        .read(|view| {
            view.for_each_item(&mut |item| {
                item.unwrap();
                all += 1;
                if all == 3 { Flow::Break(()) } else { Flow::Continue(()) }
            })
        })
        .unwrap();
    assert_eq!(all, 3);
}

#[test]
fn k47_one_malformed_row_is_left_out_and_named() {
    let store = memory();
    store
        .write(|tx| {
            for number in 1..=3 {
                tx.put_item(&item(number))?;
                tx.put_endpoint(&key(number), &session(100 + number))?;
                tx.push_effect(deliver(1, number), NOW)?;
                tx.put_identity(&identity(number), IdentityState::Spoken, NOW)?;
            }
            tx.put(TableId::Items, key(2).as_str().as_bytes(), b"{\"reference\":7}")?;
            tx.put(TableId::Endpoints, &keys::pair(key(1).as_str(), key(101).as_str()), b"<<<")?;
            tx.put(TableId::Effects, &keys::place(&key(1), Place { class: Class::Ordinary, seq: 2 }), b"")
        })
        .unwrap();
    store
        .read(|view| {
            assert!(matches!(view.item(&key(2)), Err(StoreError::BadRow { table: "items", .. })));
            assert_eq!(view.items_of_repo("github:octo/hello")?.len(), 2);
            assert_eq!(view.endpoints(&key(1))?.len(), 0);
            assert_eq!(view.owners(&key(101))?, [key(1)]);
            assert_eq!(waiting(view)?, [1, 3]);
            let skipped: Vec<_> = view.take_skipped().iter().map(ToString::to_string).collect();
            assert_eq!(skipped.len(), 3, "{skipped:?}");
            assert!(skipped[0].contains("github:octo/hello#2"));
            let mut bad = 0;
            view.for_each_item(&mut |item| {
                bad += usize::from(item.is_err());
                Flow::Continue(())
            })?;
            assert_eq!(bad, 1);
            assert!(check(view)?.iter().any(|found| found.text.contains("github:octo/hello#2 cannot be read")));
            Ok(())
        })
        .unwrap();
    // Others are routed on, in the same table.
    assert!(store.write(|tx| accept(tx, 3, 9)).unwrap());
}

#[test]
fn marks_keep_the_greater_urgency_and_their_time() {
    let store = memory();
    let later = NOW.plus_seconds(9);
    store
        .write(move |tx| {
            tx.put_item(&item(1))?;
            tx.put_item(&item(2))?;
            tx.put_mark(&key(1), Urgency::Cycle, NOW)?;
            tx.put_mark(&key(2), Urgency::Now, NOW)?;
            tx.put_mark(&key(1), Urgency::Now, later)?;
            tx.put_mark(&key(1), Urgency::Cycle, later)?;
            let mark = Mark { urgency: Urgency::Now, since: NOW };
            assert_eq!(tx.marks()?, [(key(2), mark), (key(1), mark)]);
            assert!(tx.clear_mark(&key(2))?);
            assert!(!tx.clear_mark(&key(2))?);
            assert_eq!((tx.mark(&key(2))?, tx.marks()?.len()), (None, 1));
            Ok(())
        })
        .unwrap();
    assert_sound(&store);
}

#[test]
fn marks_are_due_in_their_order_and_the_urgent_ones_are_found_alone() {
    let store = memory();
    store
        .write(|tx| {
            for (number, urgency) in [(3, Urgency::Cycle), (1, Urgency::Cycle), (2, Urgency::Now), (3, Urgency::Now)] {
                tx.put_mark(&key(number), urgency, NOW)?;
            }
            let due = |at_least| {
                let mut due = Vec::new();
                tx.for_each_due(at_least, &mut |item| {
                    due.push(item);
                    Flow::Continue(())
                })?;
                Ok::<_, StoreError>(due)
            };
            assert_eq!(due(Urgency::Now)?, [key(2), key(3)]);
            assert_eq!(due(Urgency::Cycle)?, [key(2), key(3), key(1)]);
            Ok(())
        })
        .unwrap();
}

#[test]
fn small_tables_give_back_what_they_took() {
    let store = memory();
    store
        .write(|tx| {
            tx.put_head("ab12", &reference(4), NOW)?;
            assert_eq!(tx.head("ab12")?, Some(reference(4)));
            tx.put_posted("IC_ours", NOW)?;
            assert!(tx.posted("IC_ours")? && !tx.posted("IC_theirs")?);
            tx.put_identity(&identity(1), IdentityState::Refused, NOW)?;
            assert_eq!(tx.identity(&identity(1))?, IdentityState::Refused);
            tx.put_identity(&identity(1), IdentityState::Unused, NOW)?;
            assert_eq!(tx.identity(&identity(1))?, IdentityState::Unused);
            assert!(tx.put_seen(&key(1), "a\0b")? && !tx.put_seen(&key(1), "a\0b")?);
            assert_eq!(tx.seen(&key(1))?.into_iter().collect::<Vec<_>>(), ["a\0b"]);
            tx.put_stamp("8:77", &key(1), "github-Octo-Hello-1.json", "s1")?;
            let stamp = Stamp { file: "github-Octo-Hello-1.json".into(), stamp: "s1".into() };
            assert_eq!(tx.stamps("8:77")?, [(key(1), stamp)]);
            assert!(tx.stamp("8:78", &key(1))?.is_none());
            assert!(tx.remove_stamp("8:77", &key(1))?);
            tx.put_adopted("/old", "d1", NOW)?;
            assert!(tx.adopted("/old", "d1")? && !tx.adopted("/old", "d2")?);
            tx.put_undecidable(&delivery(1), "issues", b"\xff{", "a bug", NOW)?;
            assert_eq!(tx.undecidables()?[0].bytes, 2);
            assert_eq!(tx.undecidable_body(&delivery(1))?.as_deref(), Some(&b"\xff{"[..]));
            assert!(tx.remove_undecidable(&delivery(1))?);
            assert_eq!((tx.undecidables()?.len(), tx.undecidable_body(&delivery(1))?), (0, None));
            tx.put_settled(Place { class: Class::Ordinary, seq: 0 }, &key(1), "deliver", "submitted", NOW)?;
            assert_eq!(tx.settled(&key(1), 5)?[0].outcome, "submitted");
            Ok(())
        })
        .unwrap();
    assert_sound(&store);
}

#[test]
fn claims_and_dead_letters_live_until_they_are_removed() {
    let store = memory();
    store
        .write(|tx| {
            accept(tx, 1, 1)?;
            let effect = tx.lane(&key(1), 1)?.remove(0);
            let claim = Claim {
                lane: key(1),
                members: vec![effect.place],
                endpoint: EndpointRef::Item,
                held: 0,
                batch: BatchId::from_hex("0f"),
                life: None,
                instance: InstanceId("i1".into()),
                at: NOW,
            };
            tx.put_claim(&claim)?;
            assert_eq!((tx.claim(&key(1))?, tx.claims()?), (Some(claim.clone()), vec![claim]));
            assert!(check(tx)?.is_empty());
            let letter = DeadLetter { effect, reason: DeadReason::Unknown, detail: "pane gone".into(), at: NOW };
            let first = tx.put_dead(&letter)?;
            assert!(tx.remove_dead(first)?);
            let second = tx.put_dead(&letter)?;
            assert!(second > first, "a number is never given twice");
            assert_eq!(tx.dead_letters()?, [(second, letter.clone())]);
            assert_eq!(tx.dead_letter(second)?, Some(letter));
            assert!(tx.remove_claim(&key(1))? && !tx.remove_claim(&key(1))?);
            Ok(())
        })
        .unwrap();
}

#[test]
fn the_journal_is_trimmed_from_the_front_and_counts_on() {
    let store = memory();
    store
        .write(|tx| {
            for _ in 0..5 {
                tx.append_journal(&LogEntry::info(EventName::PollCycle), NOW)?;
            }
            Ok(())
        })
        .unwrap();
    store.write(|tx| tx.append_journal(&LogEntry::info(EventName::PollItemError), NOW)).unwrap();
    store
        .write(|tx| {
            let numbers = |from, limit| -> Result<Vec<u64>, StoreError> {
                Ok(tx.journal(from, limit)?.into_iter().map(|(number, ..)| number).collect())
            };
            assert_eq!(numbers(0, usize::MAX)?, [1, 2, 3, 4, 5, 6]);
            assert_eq!(numbers(4, usize::MAX)?, [4, 5, 6], "a reader goes on within a row");
            assert_eq!(numbers(2, 1)?, [2, 3, 4, 5], "what one commit added is one row");
            tx.trim_journal(4)?;
            assert_eq!(tx.journal_bounds()?, Some((1, 6)), "a row that is not over stays");
            tx.trim_journal(5)?;
            assert_eq!(tx.journal_bounds()?, Some((6, 6)));
            tx.trim_journal(u64::MAX)?;
            assert_eq!(tx.journal_bounds()?, None);
            assert_eq!(tx.append_journal(&LogEntry::info(EventName::PollCycle), NOW)?, 7);
            Ok(())
        })
        .unwrap();
    assert_sound(&store);
}

#[test]
fn k65_old_rows_go_in_small_steps_and_nothing_forgotten_is_new() {
    let store = memory();
    let (old, before) = (NOW.plus_seconds(-100), NOW.plus_seconds(-50));
    store
        .write(move |tx| {
            for number in 0..100 {
                let at = if number % 2 == 0 { old } else { NOW };
                tx.put_identity(&identity(number), IdentityState::Spoken, at)?;
                tx.put_delivery(&delivery(number), DeliveryState::Decided, at)?;
            }
            tx.put_posted("p", old)?;
            tx.put_head("h", &reference(1), old)?;
            tx.put_delivery(&delivery(500), DeliveryState::Undecidable, old)?;
            let closed = Facts { open: Some(false), updated_at: Some(old), ..Facts::default() };
            for number in 1..=5 {
                tx.put_item(&Item { facts: closed.clone(), ..Item::new(reference(number)) })?;
            }
            tx.put_seen(&key(2), "IC_1")?;
            tx.put_endpoint(&key(3), &session(4))?;
            tx.put_item(&Item { facts: closed.clone(), version: 1, ..item(5) })?;
            tx.put_item(&Item { facts: Facts { open: Some(true), ..closed }, ..Item::new(reference(6)) })
        })
        .unwrap();
    let (mut removed, mut steps) = (0, 0);
    while steps < 60 {
        let step = store.write(move |tx| tx.prune(before, 7)).unwrap();
        assert!(step <= 7, "no step removes more than it looked at");
        assert_eq!(store.read(|view| view.watermark()).unwrap(), Some(before), "before the first is forgotten");
        (removed, steps) = (removed + step, steps + 1);
    }
    assert_eq!(removed, 103);
    store
        .read(|view| {
            assert_eq!(view.identity(&identity(2))?, IdentityState::Unused);
            assert_eq!(view.identity(&identity(3))?, IdentityState::Spoken);
            assert_eq!(view.delivery(&delivery(500))?, Some(DeliveryState::Undecidable));
            // Only the item that is nothing but a closed fact nobody refers to went.
            let left: Vec<_> = view.items_of_repo("github:octo/hello")?.iter().map(|i| i.reference.number()).collect();
            assert_eq!(left, [2, 3, 4, 5, 6]);
            Ok(())
        })
        .unwrap();
    // An earlier time never lowers the watermark.
    store.write(move |tx| tx.prune(old, 1)).unwrap();
    assert_eq!(store.read(|view| view.watermark()).unwrap(), Some(before));
}

/// One planted fault and the word that must be found for it.
type Planted = (&'static str, fn(&mut WriteTx<'_>) -> Result<(), StoreError>);

/// A record with a session, an endpoint, a delivery that waits, a command and an older ending.
fn sound(tx: &mut WriteTx<'_>) -> Result<(), StoreError> {
    accept(tx, 1, 1)?;
    tx.put_endpoint(&key(1), &session(40))?;
    let mut armed = item(1);
    armed.sections.control = Some(Control {
        command: Command::Start,
        source: Source::Comment,
        actor: "mona".into(),
        requested_at: RequestedAt::At(NOW),
        note: None,
        extra: Default::default(),
    });
    armed.sections.ended = Some(Ended { at: NOW.plus_seconds(-1), reason: "closed".into() });
    tx.put_item(&armed)?;
    tx.put_mark(&key(1), Urgency::Now, NOW)
}

const PLANTED: &[Planted] = &[
    ("does not name its owner", |tx| {
        tx.delete(TableId::Owners, &keys::pair(key(40).as_str(), key(1).as_str())).map(drop)
    }),
    ("does not list it", |tx| tx.delete(TableId::Endpoints, &keys::pair(key(1).as_str(), key(40).as_str())).map(drop)),
    ("is its own pull request", |tx| {
        let own = keys::pair(key(1).as_str(), key(1).as_str());
        tx.put_row(TableId::Endpoints, &own, &super::super::rows::SessionRow::from(session(1)))?;
        tx.put(TableId::Owners, &own, &[])
    }),
    ("has no item", |tx| tx.delete(TableId::Items, key(1).as_str().as_bytes()).map(drop)),
    ("is no item", |tx| tx.put_mark(&key(9), Urgency::Now, NOW)),
    ("is marked and not due", |tx| tx.delete(TableId::Due, &keys::due(Urgency::Now, 2)).map(drop)),
    ("is due without its mark", |tx| tx.delete(TableId::Marks, key(1).as_str().as_bytes()).map(drop)),
    ("marks would give 1", |tx| tx.put(TableId::Counters, b"marks", &keys::number(1))),
    ("which does not wait", |tx| {
        let place = Place { class: Class::Preparing, seq: 77 };
        let claim = Claim {
            lane: key(1),
            members: vec![place],
            endpoint: EndpointRef::Item,
            held: 0,
            batch: BatchId::from_hex("0f"),
            life: None,
            instance: InstanceId("i1".into()),
            at: NOW,
        };
        tx.put_claim(&claim)
    }),
    ("counts Some(9)", |tx| tx.put(TableId::LaneCounts, key(1).as_str().as_bytes(), &keys::number(9))),
    ("is not counted", |tx| tx.delete(TableId::LaneCounts, key(1).as_str().as_bytes()).map(drop)),
    ("counts Some(2), None wait", |tx| tx.put(TableId::LaneCounts, key(9).as_str().as_bytes(), &keys::number(2))),
    ("is closed and", |tx| {
        let mut closed = item(1);
        let state = SessionState::Closed { at: NOW, reason: EndReason::Closed };
        closed.session.as_mut().unwrap().state = state;
        tx.put_item(&closed)
    }),
    ("which is Unused", |tx| tx.put_identity(&identity(1), IdentityState::Unused, NOW)),
    ("which is Refused", |tx| tx.put_identity(&identity(1), IdentityState::Refused, NOW)),
    ("effects would give 1", |tx| tx.put(TableId::Counters, b"effects", &keys::number(1))),
    ("journal would give 2", |tx| tx.put(TableId::Counters, b"journal", &keys::number(2))),
    ("holds github:Octo/Hello#1", |tx| {
        let row = super::super::rows::ItemRow::from(item(1));
        tx.put_row(TableId::Items, key(2).as_str().as_bytes(), &row)
    }),
    ("its body is missing", |tx| {
        tx.put_undecidable(&delivery(1), "issues", b"{}", "bug", NOW)?;
        tx.delete(TableId::Bodies, delivery(1).as_str().as_bytes()).map(drop)
    }),
    ("its pack does not hold it", |tx| {
        let place = Place { class: Class::Ordinary, seq: 1 };
        tx.put(TableId::Effects, &keys::place(&key(1), place), &keys::number(1))
    }),
    ("which waits nowhere", |tx| {
        tx.push_effect(packs::saying(1, 1, 2 * LONG), NOW)?;
        let place = Place { class: Class::Ordinary, seq: 2 };
        tx.delete(TableId::Effects, &keys::place(&key(1), place)).map(drop)
    }),
    ("it is torn", |tx| tx.put(TableId::Packs, &keys::number(1), b"{}")),
    ("packs would give 1", |tx| {
        tx.push_effect(packs::saying(1, 1, 2 * LONG), NOW)?;
        tx.settle()?;
        tx.put(TableId::Counters, b"packs", &keys::number(1))
    }),
    ("cannot be read", |tx| tx.put(TableId::Settled, b"x", b"x")),
    ("its ending is not before", |tx| {
        let mut ended = tx.item(&key(1))?.unwrap();
        ended.sections.ended = Some(Ended { at: NOW, reason: "closed".into() });
        tx.put_item(&ended)
    }),
];

#[test]
fn check_finds_each_planted_fault() {
    for (word, plant) in PLANTED {
        let (store, plant) = (memory(), *plant);
        store.write(sound).unwrap();
        assert_sound(&store);
        store.write(plant).unwrap();
        let found = store.read(|view| check(view)).unwrap();
        assert!(found.iter().any(|found| found.to_string().contains(word)), "{word}: {found:#?}");
    }
}
