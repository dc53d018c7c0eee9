//! Group commit: durable, ordered, and nobody undoes a neighbour.

use std::sync::mpsc;
use std::sync::{Arc, Barrier};

use super::*;

fn name(tx: &impl View, name: &str) -> Option<String> {
    tx.meta(name).unwrap()
}

/// Holds the committing thread until the sender is dropped, so that what comes meanwhile makes one group.
fn hold(store: &Store) -> mpsc::Sender<()> {
    let (release, held) = mpsc::channel::<()>();
    let (started, begun) = mpsc::channel();
    store.submit(Job {
        run: Box::new(|_| Ok(())),
        done: Box::new(move |_| {
            started.send(()).unwrap();
            let _ = held.recv();
        }),
    });
    begun.recv().unwrap();
    release
}

type Answers = mpsc::Receiver<(usize, Result<(), StoreError>)>;

fn submit_all(store: &Store, works: Vec<Work>) -> Answers {
    let release = hold(store);
    let (answer, answers) = mpsc::channel();
    for (number, run) in works.into_iter().enumerate() {
        let answer = answer.clone();
        store.submit(Job { run, done: Box::new(move |result| answer.send((number, result)).unwrap()) });
    }
    drop(release);
    answers
}

#[test]
fn k02_a_panic_is_answered_and_burns_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (_, store) = on_disk(&dir);
    let works: Vec<Work> = (1..=5)
        .map(|number| -> Work {
            Box::new(move |tx| {
                accept(tx, 1, number)?;
                assert_ne!(number, 3, "a bug in deciding");
                if number == 4 { Err(StoreError::Bug("refused".into())) } else { Ok(()) }
            })
        })
        .collect();
    let mut answers: Vec<_> = submit_all(&store, works).into_iter().collect();
    answers.sort_by_key(|(number, _)| *number);
    assert!(matches!(&answers[2].1, Err(StoreError::Bug(text)) if text.contains("a bug in deciding")));
    assert!(matches!(&answers[3].1, Err(StoreError::Bug(text)) if text == "refused"));
    assert!([0, 1, 4].iter().all(|place: &usize| answers[*place].1.is_ok()));
    assert_eq!(store.read(|view| waiting(view)).unwrap(), [1, 2, 5]);
    // The redelivery of what panicked is not a duplicate.
    assert!(store.write(|tx| accept(tx, 1, 3)).unwrap());
    assert_sound(&store);
}

#[test]
fn k09_two_copies_at_once_act_once() {
    let dir = tempfile::tempdir().unwrap();
    let (_, store) = on_disk(&dir);
    for round in 1..=20 {
        let barrier = Arc::new(Barrier::new(4));
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let (store, barrier) = (store.clone(), Arc::clone(&barrier));
                std::thread::spawn(move || {
                    barrier.wait();
                    store.write(move |tx| accept(tx, 1, round)).unwrap()
                })
            })
            .collect();
        let winners = threads.into_iter().map(|thread| thread.join().unwrap()).filter(|won| *won);
        assert_eq!(winners.count(), 1, "round {round}");
    }
    assert_eq!(store.read(|view| waiting(view)).unwrap(), (1..=20).collect::<Vec<_>>());
}

#[test]
fn k09_two_copies_in_one_group_act_once() {
    let dir = tempfile::tempdir().unwrap();
    let (_, store) = on_disk(&dir);
    let (won, winners) = mpsc::channel();
    let works: Vec<Work> = (0..2)
        .map(|_| -> Work {
            let won = won.clone();
            Box::new(move |tx| {
                won.send(accept(tx, 1, 1)?).unwrap();
                Ok(())
            })
        })
        .collect();
    assert!(submit_all(&store, works).into_iter().all(|(_, result)| result.is_ok()));
    drop(won);
    assert_eq!(winners.into_iter().collect::<Vec<_>>(), [true, false]);
}

#[test]
fn k45_links_from_many_threads_all_stay_and_a_pause_is_not_undone() {
    let dir = tempfile::tempdir().unwrap();
    let (_, store) = on_disk(&dir);
    store.write(|tx| tx.put_item(&item(1))).unwrap();
    let threads: Vec<_> = (0..4u64)
        .map(|thread| {
            let store = store.clone();
            std::thread::spawn(move || {
                for number in 0..50 {
                    let pull_request = 1000 + thread * 50 + number;
                    store.write(move |tx| tx.put_endpoint(&key(1), &session(pull_request))).unwrap();
                    // A touch: read, change one thing, write back.
                    store
                        .write(move |tx| {
                            let mut touched = tx.item(&key(1))?.unwrap();
                            touched.version += 1;
                            if thread == 0 && number == 7 {
                                touched.session.as_mut().unwrap().state = SessionState::Paused(None);
                            }
                            tx.put_item(&touched)
                        })
                        .unwrap();
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let (item, endpoints) =
        store.read(|view| Ok((view.item(&key(1))?.unwrap(), view.endpoints(&key(1))?.len()))).unwrap();
    assert_eq!((item.version, endpoints), (201, 200));
    assert!(item.session.unwrap().is_paused());
    assert_sound(&store);
}

#[test]
fn what_fails_after_writing_is_undone() {
    let dir = tempfile::tempdir().unwrap();
    let (_, store) = on_disk(&dir);
    let error = store
        .write(|tx| {
            tx.put_meta("half", "yes")?;
            Err::<(), _>(StoreError::Bug("no".into()))
        })
        .unwrap_err();
    assert!(matches!(error, StoreError::Bug(_)));
    assert_eq!(store.read(|view| Ok(name(view, "half"))).unwrap(), None);
}

#[test]
fn order_of_arrival_is_order_of_work_even_around_a_failure() {
    let dir = tempfile::tempdir().unwrap();
    let (_, store) = on_disk(&dir);
    let works: Vec<Work> = (0..40)
        .map(|number| -> Work {
            Box::new(move |tx| {
                let before = name(tx, "trail").unwrap_or_default();
                tx.put_meta("trail", &format!("{before} {number}"))?;
                if number % 10 == 3 { Err(StoreError::Bug("no".into())) } else { Ok(()) }
            })
        })
        .collect();
    let order: Vec<_> = submit_all(&store, works).into_iter().map(|(number, _)| number).collect();
    assert!(order.is_sorted(), "{order:?}");
    let trail = store.read(|view| Ok(name(view, "trail"))).unwrap().unwrap();
    let kept: Vec<usize> = trail.split_whitespace().map(|number| number.parse().unwrap()).collect();
    assert_eq!(kept, (0..40).filter(|number| number % 10 != 3).collect::<Vec<_>>());
}

#[test]
fn a_full_queue_says_so_and_what_waits_is_done_at_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let (path, store) = on_disk(&dir);
    let works: Vec<Work> =
        (0..5000).map(|n| -> Work { Box::new(move |tx| tx.put_meta(&format!("m{n}"), "x")) }).collect();
    let answers = submit_all(&store, works);
    store.close().unwrap();
    let answers: Vec<_> = answers.into_iter().collect();
    let refused = answers.iter().filter(|(_, result)| matches!(result, Err(StoreError::Overloaded))).count();
    let done = answers.iter().filter(|(_, result)| result.is_ok()).count();
    assert_eq!((answers.len(), done, refused), (5000, 4096, 904));
    let reader = Reader::open(&path).unwrap();
    for (number, result) in answers {
        let there = reader.read(|view| Ok(name(view, &format!("m{number}")).is_some())).unwrap();
        assert_eq!(there, result.is_ok(), "m{number}");
    }
}

#[test]
fn a_closed_store_answers_that_it_is_closed() {
    let dir = tempfile::tempdir().unwrap();
    let (_, store) = on_disk(&dir);
    let other = store.clone();
    store.close().unwrap();
    assert!(matches!(other.write(|tx| tx.put_meta("a", "b")), Err(StoreError::Closed)));
    assert!(matches!(other.read(|view| view.meta("a")), Err(StoreError::Closed)));
    assert!(!other.is_writable());
}

#[test]
fn the_last_handle_may_die_on_the_committing_thread() {
    let dir = tempfile::tempdir().unwrap();
    let (path, store) = on_disk(&dir);
    let (gone, told) = mpsc::channel();
    let kept = store.clone();
    let release = hold(&store);
    store.submit(Job {
        run: Box::new(|tx| tx.put_meta("last", "words")),
        done: Box::new(move |_| {
            drop(kept);
            gone.send(()).unwrap();
        }),
    });
    drop(store);
    drop(release);
    told.recv().unwrap();
    // It ends by itself and lets the file go.
    let again = Store::open(&path, &CountingIds::default()).unwrap();
    assert_eq!(again.read(|view| Ok(name(view, "last"))).unwrap().as_deref(), Some("words"));
}
