//! Effects whose rows are long: stored in packs, and nobody who reads them can tell.

use std::collections::BTreeMap;

use proptest::prelude::*;
use redb::{Database, ReadableTable as _, TableDefinition};
use rstest::rstest;

use super::super::packs::{LONG, PACK, in_pack, is_whole};
use super::super::rows::{self, EffectRow};
use super::super::view::View as _;
use super::super::{migrate, open};
use super::*;
use crate::domain::effect::{Effect, Place};

/// A comment of `bytes` bytes.
pub(super) fn saying(lane: u64, number: u64, bytes: usize) -> NewEffect {
    let mut effect = deliver(lane, number);
    let EffectBody::Deliver { message, .. } = &mut effect.body else { panic!("a delivery") };
    message.text = "x".repeat(bytes);
    effect
}

/// How many rows each pack holds, when what is being filled is written.
fn packed(tx: &mut WriteTx<'_>) -> Result<Vec<usize>, StoreError> {
    tx.settle_pack()?;
    let mut packs = Vec::new();
    tx.scan(TableId::Packs, &Span::all(), &mut |_, pack| {
        assert!(is_whole(pack));
        packs.push(in_pack(pack).count());
        Flow::Continue(())
    })?;
    Ok(packs)
}

/// Items 1 and 2, and effects of both sizes waiting for item 1, as the first of them has it; `stored` writes the pack
/// that is being filled.
fn mixed(tx: &mut WriteTx<'_>, stored: bool) -> Result<Vec<Effect>, StoreError> {
    for number in [1, 2] {
        tx.put_item(&item(number))?;
    }
    for (number, bytes) in [(1, 10), (2, 2 * LONG), (3, 3 * LONG), (4, 10)] {
        tx.put_identity(&identity(number), IdentityState::Spoken, NOW)?;
        tx.push_effect(saying(1, number, bytes), NOW)?;
    }
    if stored {
        assert_eq!(packed(tx)?, [2]);
    }
    tx.lane(&key(1), usize::MAX)
}

fn bodies(effects: &[Effect]) -> Vec<&EffectBody> {
    effects.iter().map(|effect| &effect.body).collect()
}

#[rstest]
fn long_effects_are_read_as_short_ones_are(#[values(false, true)] stored: bool) {
    let store = memory();
    let work = move |tx: &mut WriteTx<'_>| {
        let said = mixed(tx, stored)?;
        let wanted: Vec<EffectBody> =
            [(1, 10), (2, 2 * LONG), (3, 3 * LONG), (4, 10)].map(|(n, bytes)| saying(1, n, bytes).body).into();
        assert_eq!(bodies(&said), wanted.iter().collect::<Vec<_>>());
        assert_eq!(tx.lane_class(&key(1), Class::Ordinary, 2)?, said[..2]);
        for effect in &said {
            assert_eq!(tx.effect(&key(1), effect.place)?.as_ref(), Some(effect));
        }
        Ok(said)
    };
    let said = store.write(work).unwrap();
    assert_eq!(store.read(|view| view.lane(&key(1), usize::MAX)).unwrap(), said);
    assert_sound(&store);
}

#[rstest]
fn a_long_effect_leaves_nothing_when_it_is_removed_or_becomes_short(#[values(false, true)] stored: bool) {
    let store = memory();
    let work = move |tx: &mut WriteTx<'_>| {
        let said = mixed(tx, stored)?;
        assert!(tx.remove_effect(&key(1), said[1].place)? && !tx.remove_effect(&key(1), said[1].place)?);
        tx.put_effect(&Effect { body: said[0].body.clone(), attempts: 1, ..said[2].clone() })?;
        assert_eq!((packed(tx)?, tx.lane_count(&key(1))?), (vec![], 3));
        tx.put_effect(&Effect { body: said[2].body.clone(), ..said[0].clone() })?;
        assert_eq!(tx.effect(&key(1), said[0].place)?.unwrap().body, said[2].body);
        assert_eq!((packed(tx)?, tx.lane_count(&key(1))?), (vec![1], 3));
        // An identity is delivered once; the texts above were only exchanged.
        tx.remove_effect(&key(1), said[0].place)?;
        assert_eq!(packed(tx)?, [0; 0]);
        Ok(())
    };
    store.write(work).unwrap();
    assert_sound(&store);
}

#[rstest]
fn long_effects_move_with_their_item(#[values(false, true)] stored: bool) {
    let store = memory();
    let work = move |tx: &mut WriteTx<'_>| {
        let said = mixed(tx, stored)?;
        tx.move_rows(&key(1), &reference(2))?;
        let moved = tx.lane(&key(2), usize::MAX)?;
        assert_eq!(bodies(&moved), bodies(&said));
        assert_eq!(tx.lane(&key(1), usize::MAX)?, []);
        assert_eq!(packed(tx)?, [2]);
        Ok(())
    };
    store.write(work).unwrap();
    assert_sound(&store);
}

#[test]
fn a_pack_is_closed_when_no_more_fits_into_it_and_a_longer_row_has_one_alone() {
    let store = memory();
    let work = |tx: &mut WriteTx<'_>| {
        tx.put_item(&item(1))?;
        for (number, bytes) in [(1, 10_000), (2, 10_000), (3, 10_000), (4, 10_000), (5, 3 * PACK), (6, 2_000)] {
            tx.put_identity(&identity(number), IdentityState::Spoken, NOW)?;
            tx.push_effect(saying(1, number, bytes), NOW)?;
        }
        packed(tx)
    };
    assert_eq!(store.write(work).unwrap(), [3, 1, 1, 1]);
    assert_eq!(store.read(|view| view.lane(&key(1), usize::MAX)).unwrap().len(), 6);
    assert_sound(&store);
}

#[test]
fn a_long_row_of_an_earlier_version_is_read_where_it_lies() {
    let store = memory();
    let work = |tx: &mut WriteTx<'_>| {
        let said = mixed(tx, true)?;
        let place = Place { class: Class::Ordinary, seq: said[3].place.seq };
        let mut row = Vec::new();
        rows::encode_into(TableId::Effects, &EffectRow::new(saying(1, 4, 9_000).body, NOW), &mut row)?;
        tx.put(TableId::Effects, &keys::place(&key(1), place), &row)?;
        assert_eq!(tx.effect(&key(1), place)?.unwrap().body, saying(1, 4, 9_000).body);
        assert!(tx.remove_effect(&key(1), place)?);
        assert_eq!(packed(tx)?, [2]);
        Ok(())
    };
    store.write(work).unwrap();
    assert_sound(&store);
}

const LONG_EFFECTS: TableDefinition<&[u8], &[u8]> = TableDefinition::new("long_effects");

/// Makes of a store what the third version made: each long row in a table of them, by the number of its effect.
fn as_the_third_version(path: &std::path::Path) {
    let database = Database::open(path).unwrap();
    let transaction = database.begin_write().unwrap();
    {
        let mut long = transaction.open_table(LONG_EFFECTS).unwrap();
        let packs = transaction.open_table(TableId::Packs.definition()).unwrap();
        for pack in packs.iter().unwrap() {
            for packed in in_pack(pack.unwrap().1.value()) {
                let mut row: EffectRow = rows::decode(TableId::Effects, b"", packed.row).unwrap();
                if !packed.text.is_empty() {
                    row.put_text(String::from_utf8(packed.text.to_vec()).unwrap());
                }
                let mut bytes = Vec::new();
                rows::encode_into(TableId::Effects, &row, &mut bytes).unwrap();
                long.insert(keys::number(packed.effect).as_slice(), bytes.as_slice()).unwrap();
            }
        }
        let mut items = transaction.open_table(TableId::Items.definition()).unwrap();
        let is_effect = |key: &[u8]| super::super::beside::effect_of(key).is_some();
        let rows = items.iter().unwrap().map(|row| row.unwrap());
        let named: Vec<Vec<u8>> = rows
            .filter(|(key, value)| is_effect(key.value()) && value.value().len() == 8)
            .map(|(key, _)| key.value().to_vec())
            .collect();
        for key in named {
            items.insert(key.as_slice(), &b""[..]).unwrap();
        }
        transaction.open_table(TableId::Counters.definition()).unwrap().remove(&b"packs"[..]).unwrap();
    }
    assert!(transaction.delete_table(TableId::Packs.definition()).unwrap());
    let mut label = transaction.open_table(TableId::Store.definition()).unwrap();
    label.insert(&b"schema"[..], &b"3"[..]).unwrap();
    drop(label);
    transaction.commit().unwrap();
}

#[test]
fn the_long_effects_of_the_third_version_are_packed_and_none_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.redb");
    let store = Store::open(&path, &CountingIds::default()).unwrap();
    let work = |tx: &mut WriteTx<'_>| {
        let said = mixed(tx, true)?;
        for number in 5..105 {
            tx.put_identity(&identity(number), IdentityState::Spoken, NOW)?;
            tx.push_effect(saying(1 + number % 2, number, 2_000), NOW)?;
        }
        tx.remove_effect(&key(1), said[1].place)
    };
    store.write(work).unwrap();
    let lanes = |store: &Store| {
        store.read(|view| Ok([1, 2].map(|n| view.lane(&key(n), usize::MAX)))).unwrap().map(Result::unwrap)
    };
    let before = lanes(&store);
    store.close().unwrap();
    as_the_third_version(&path);
    assert_eq!(open::inspect(&path).unwrap().schema, 3);
    let store = Store::open(&path, &CountingIds::default()).unwrap();
    assert_eq!(lanes(&store), before);
    assert_sound(&store);
    assert!(migrate::copy_path(&path, 3).exists());
    // It goes on where the migration stopped.
    store.write(|tx| tx.push_effect(saying(1, 1, 5_000), NOW)).unwrap();
    assert_eq!(lanes(&store)[0].len(), before[0].len() + 1);
    assert_sound(&store);
}

#[derive(Debug, Clone)]
enum Step {
    Push(u64, usize),
    Again(usize, usize),
    Remove(usize),
    Move(u64),
    Commit,
}

fn step() -> impl Strategy<Value = Step> {
    let bytes = || prop_oneof![Just(10), 900..1200usize, 2_000..12_000usize, Just(40_000)];
    prop_oneof![
        4 => (1..3u64, bytes()).prop_map(|(lane, bytes)| Step::Push(lane, bytes)),
        2 => (any::<prop::sample::Index>(), bytes()).prop_map(|(at, bytes)| Step::Again(at.index(1000), bytes)),
        3 => any::<prop::sample::Index>().prop_map(|at| Step::Remove(at.index(1000))),
        1 => (1..3u64).prop_map(Step::Move),
        2 => Just(Step::Commit),
    ]
}

/// What waits by its number: lane and body.
type Model = BTreeMap<u64, (u64, EffectBody)>;

fn do_step(tx: &mut WriteTx<'_>, model: &mut Model, step: &Step) -> Result<(), StoreError> {
    let nth = |model: &Model, at: usize| model.keys().nth(at % model.len().max(1)).copied();
    match *step {
        Step::Push(lane, bytes) => {
            let body = saying(lane, 1, bytes).body;
            let place =
                tx.push_effect(NewEffect { lane: key(lane), class: Class::Ordinary, body: body.clone() }, NOW)?;
            model.insert(place.seq, (lane, body));
        }
        Step::Again(at, bytes) => {
            let Some(seq) = nth(model, at) else { return Ok(()) };
            let (lane, body) = model.get_mut(&seq).unwrap();
            *body = saying(*lane, 1, bytes).body;
            let place = Place { class: Class::Ordinary, seq };
            let effect = tx.effect(&key(*lane), place)?.unwrap();
            tx.put_effect(&Effect { body: body.clone(), attempts: effect.attempts + 1, ..effect })?;
        }
        Step::Remove(at) => {
            let Some(seq) = nth(model, at) else { return Ok(()) };
            let (lane, _) = model.remove(&seq).unwrap();
            assert!(tx.remove_effect(&key(lane), Place { class: Class::Ordinary, seq })?);
        }
        Step::Move(from) => {
            let to = 3 - from;
            tx.move_rows(&key(from), &reference(to))?;
            model.values_mut().for_each(|(lane, _)| *lane = if *lane == from { to } else { *lane });
        }
        Step::Commit => {}
    }
    Ok(())
}

fn expect(view: &impl View, model: &Model) -> Result<(), StoreError> {
    for lane in [1, 2] {
        let waits: Vec<(u64, EffectBody)> =
            view.lane(&key(lane), usize::MAX)?.into_iter().map(|effect| (effect.place.seq, effect.body)).collect();
        let wanted: Vec<(u64, EffectBody)> =
            model.iter().filter(|(_, (of, _))| *of == lane).map(|(seq, (_, body))| (*seq, body.clone())).collect();
        assert_eq!(waits, wanted);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn whatever_is_pushed_put_again_removed_and_moved_is_read_as_it_was_written(steps in prop::collection::vec(step(), 1..40)) {
        let store = memory();
        store.write(|tx| {
            tx.put_identity(&identity(1), IdentityState::Spoken, NOW)?;
            [1, 2].iter().try_for_each(|n| tx.put_item(&item(*n)))
        }).unwrap();
        let mut model = Model::new();
        for group in steps.split_inclusive(|step| matches!(step, Step::Commit)) {
            let (group, before) = (group.to_vec(), model.clone());
            model = store.write(move |tx| {
                let mut model = before.clone();
                for step in &group {
                    do_step(tx, &mut model, step)?;
                    expect(tx, &model)?;
                }
                Ok(model)
            }).unwrap();
            store.read(|view| expect(view, &model)).unwrap();
        }
        assert_sound(&store);
    }
}
