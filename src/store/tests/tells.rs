//! What is to be told: kept in its order, pinned, pruned, checked.

use super::super::rows::{self, TellRow};
use super::*;
use crate::domain::policy::Reaction;
use crate::domain::telling::{Kind, Spot, Tell, What};

fn words(text: &str) -> Tell {
    Tell::words(&reference(15), Kind::Refusal, "github.com/7/comment/9", text)
}

fn waiting(tx: &impl View) -> Result<Vec<Telling>, StoreError> {
    let mut waiting = Vec::new();
    tx.for_each_telling(&mut |telling| {
        waiting.push(telling);
        Flow::Continue(())
    })?;
    Ok(waiting)
}

#[test]
fn what_is_told_or_pruned_is_not_put_back_by_a_late_try() {
    let store = memory();
    store
        .write(|tx| {
            tx.push_tell(&words("one"), NOW)?;
            tx.push_tell(&words("two"), NOW)?;
            let [one, two] = waiting(tx)?.try_into().expect("two");
            assert_eq!((one.tell.clone(), two.tell.clone()), (words("one"), words("two")));
            let tried = Telling { attempts: 1, not_before: Some(NOW.plus_seconds(9)), ..one };
            tx.put_telling(&tried)?;
            assert!(tx.remove_telling(two.number)? && !tx.remove_telling(two.number)?);
            tx.put_telling(&two)?;
            assert_eq!(waiting(tx)?, [tried]);
            Ok(())
        })
        .unwrap();
    assert_sound(&store);
}

#[test]
fn what_an_outcome_tells_is_stored_with_it() {
    let store = memory();
    let outcome = Outcome { tells: vec![words("one")], ..outcome(1, 1) };
    store.write(move |tx| tx.apply_outcome(outcome.clone(), NOW).map(drop)).unwrap();
    let told = store.read(|tx| waiting(tx)).unwrap();
    assert_eq!(
        told.iter().map(|telling| (&telling.tell, telling.decided_at)).collect::<Vec<_>>(),
        [(&words("one"), NOW)]
    );
}

#[test]
fn k65_what_nobody_could_be_told_for_long_is_pruned() {
    let store = memory();
    let old = NOW.plus_seconds(-100);
    store.write(move |tx| tx.push_tell(&words("old"), old).and_then(|()| tx.push_tell(&words("new"), NOW))).unwrap();
    for _ in 0..20 {
        store.write(move |tx| tx.prune(NOW.plus_seconds(-50), 7)).unwrap();
    }
    assert_eq!(store.read(|tx| waiting(tx)).unwrap().into_iter().map(|t| t.tell).collect::<Vec<_>>(), [words("new")]);
}

#[test]
fn check_finds_rows_that_cannot_be_read_and_numbers_that_would_be_given_twice() {
    type Plant = fn(&mut WriteTx<'_>) -> Result<(), StoreError>;
    let planted: [(&str, Plant); 2] = [
        ("tells would give 1", |tx| tx.put(TableId::Counters, b"tells", &keys::number(1))),
        ("cannot be read", |tx| tx.put(TableId::Tells, &keys::number(1), b"{}")),
    ];
    for (word, plant) in planted {
        let store = memory();
        store.write(|tx| tx.push_tell(&words("one"), NOW)).unwrap();
        assert_sound(&store);
        store.write(plant).unwrap();
        let found = store.read(|view| check(view)).unwrap();
        assert!(found.iter().any(|found| found.to_string().contains(word)), "{word}: {found:#?}");
    }
}

/// These texts lie in files in the field.
#[test]
fn the_format_of_tells_is_pinned() {
    let on = Spot::ReviewComment(9);
    let reaction = Tell { about: reference(15), what: What::Reaction { on, content: Reaction::Eyes } };
    let mut pinned = String::new();
    for tell in [words("`start` was not obeyed."), reaction] {
        let mut row = Vec::new();
        rows::encode_into(TableId::Tells, &TellRow::new(&tell, NOW), &mut row).unwrap();
        pinned += &format!("{}\n", String::from_utf8(row).unwrap());
    }
    insta::assert_snapshot!(pinned);
}
