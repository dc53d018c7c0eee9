//! Effects whose rows are long: stored apart, and nobody who reads them can tell.

use super::super::long::LONG;
use super::super::rows::{self, EffectRow};
use super::super::view::View as _;
use super::*;
use crate::domain::effect::{Effect, Place};

/// A comment of `bytes` bytes.
fn saying(lane: u64, number: u64, bytes: usize) -> NewEffect {
    let mut effect = deliver(lane, number);
    let EffectBody::Deliver { message, .. } = &mut effect.body else { panic!("a delivery") };
    message.text = "x".repeat(bytes);
    effect
}

fn long_rows(tx: &impl View) -> Result<usize, StoreError> {
    let mut rows = 0;
    tx.scan(TableId::Long, &Span::all(), &mut |_, _| {
        rows += 1;
        Flow::Continue(())
    })?;
    Ok(rows)
}

/// Items 1 and 2, and effects of both sizes waiting for item 1, as the first of them has it.
fn mixed(tx: &mut WriteTx<'_>) -> Result<Vec<Effect>, StoreError> {
    for number in [1, 2] {
        tx.put_item(&item(number))?;
    }
    for (number, bytes) in [(1, 10), (2, 2 * LONG), (3, 70_000), (4, 10)] {
        tx.put_identity(&identity(number), IdentityState::Spoken, NOW)?;
        tx.push_effect(saying(1, number, bytes), NOW)?;
    }
    assert_eq!(long_rows(tx)?, 2);
    tx.lane(&key(1), usize::MAX)
}

fn bodies(effects: &[Effect]) -> Vec<&EffectBody> {
    effects.iter().map(|effect| &effect.body).collect()
}

#[test]
fn long_effects_are_read_as_short_ones_are() {
    let store = memory();
    store
        .write(|tx| {
            let said = mixed(tx)?;
            let wanted: Vec<EffectBody> =
                [(1, 10), (2, 2 * LONG), (3, 70_000), (4, 10)].map(|(n, bytes)| saying(1, n, bytes).body).into();
            assert_eq!(bodies(&said), wanted.iter().collect::<Vec<_>>());
            assert_eq!(tx.lane_class(&key(1), Class::Ordinary, 2)?, said[..2]);
            for effect in &said {
                assert_eq!(tx.effect(&key(1), effect.place)?.as_ref(), Some(effect));
            }
            Ok(())
        })
        .unwrap();
    assert_sound(&store);
}

#[test]
fn a_long_effect_leaves_nothing_when_it_is_removed_or_becomes_short() {
    let store = memory();
    store
        .write(|tx| {
            let said = mixed(tx)?;
            assert!(tx.remove_effect(&key(1), said[1].place)? && !tx.remove_effect(&key(1), said[1].place)?);
            assert_eq!((long_rows(tx)?, tx.lane_count(&key(1))?), (1, 3));
            tx.put_effect(&Effect { body: said[0].body.clone(), attempts: 1, ..said[2].clone() })?;
            assert_eq!((long_rows(tx)?, tx.lane_count(&key(1))?), (0, 3));
            tx.put_effect(&Effect { body: said[2].body.clone(), ..said[0].clone() })?;
            assert_eq!((long_rows(tx)?, tx.lane_count(&key(1))?), (1, 3));
            assert_eq!(tx.effect(&key(1), said[0].place)?.unwrap().body, said[2].body);
            // An identity is delivered once; the texts above were only exchanged.
            tx.remove_effect(&key(1), said[0].place)?;
            Ok(())
        })
        .unwrap();
    assert_sound(&store);
}

#[test]
fn long_effects_move_with_their_item() {
    let store = memory();
    store
        .write(|tx| {
            let said = mixed(tx)?;
            tx.move_rows(&key(1), &reference(2))?;
            let moved = tx.lane(&key(2), usize::MAX)?;
            assert_eq!((bodies(&moved), long_rows(tx)?), (bodies(&said), 2));
            assert_eq!(tx.lane(&key(1), usize::MAX)?, []);
            Ok(())
        })
        .unwrap();
    assert_sound(&store);
}

#[test]
fn a_long_row_of_an_earlier_version_is_read_where_it_lies() {
    let store = memory();
    store
        .write(|tx| {
            let said = mixed(tx)?;
            let place = Place { class: Class::Ordinary, seq: said[3].place.seq };
            let mut row = Vec::new();
            rows::encode_into(TableId::Effects, &EffectRow::new(saying(1, 4, 9_000).body, NOW), &mut row)?;
            tx.put(TableId::Effects, &keys::place(&key(1), place), &row)?;
            assert_eq!(tx.effect(&key(1), place)?.unwrap().body, saying(1, 4, 9_000).body);
            assert!(tx.remove_effect(&key(1), place)?);
            assert_eq!(long_rows(tx)?, 2);
            Ok(())
        })
        .unwrap();
    assert_sound(&store);
}
