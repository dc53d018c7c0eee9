//! Effects with long rows.
//!
//! A comment is longer than everything else that is written about its item together. Beside the item it would make a
//! page or two of its own out of the leaf, and the leaf's other rows would be copied with it. So a long row lies in
//! [`TableId::Long`] in the order of arrival, where it is put behind the last one and nothing is copied, and the
//! effect's own row, which keeps its place in the lane, is empty. A short row lies in its place.

use super::error::StoreError;
use super::keys;
use super::raw::{Raw, WriteTx};
use super::rows::{self, EffectRow};
use super::tables::TableId;
use super::view::NOT_A_PLACE;
use crate::domain::effect::{Effect, Place};
use crate::domain::reference::RefKey;

/// Bytes from which a row is long.
pub(super) const LONG: usize = 1024;

/// An effect from its row, wherever that lies.
pub(super) fn read_effect<V: Raw + ?Sized>(view: &V, key: &[u8], value: &[u8]) -> Result<Effect, StoreError> {
    let bad = |reason: &str| rows::bad(TableId::Effects, key, reason);
    let (lane, place) = keys::read_place(key).ok_or_else(|| bad(NOT_A_PLACE))?;
    let lane = rows::ref_key(TableId::Effects, key, lane)?;
    let decode = |value: &[u8]| rows::decode::<EffectRow>(TableId::Effects, key, value);
    let row = match value.is_empty() {
        false => decode(value)?,
        true => {
            let long = view.get(TableId::Long, &keys::number(place.seq), decode)?;
            long.ok_or_else(|| bad("its long row is missing"))??
        }
    };
    Ok(row.into_effect(lane, place))
}

impl WriteTx<'_> {
    /// Puts an effect's row, a long one apart.
    pub(super) fn put_effect_row(&mut self, lane: &RefKey, place: Place, row: &EffectRow) -> Result<(), StoreError> {
        let (key, mut bytes) = (keys::place(lane, place), self.take_buffer());
        rows::encode_into(TableId::Effects, row, &mut bytes)?;
        let put = match bytes.len() < LONG {
            true => self.put(TableId::Effects, &key, &bytes),
            false => self
                .put(TableId::Long, &keys::number(place.seq), &bytes)
                .and_then(|()| self.put(TableId::Effects, &key, &[])),
        };
        self.give_buffer(bytes);
        put
    }

    /// Removes an effect's row, a long one too; false when there was none.
    pub(super) fn delete_effect_row(&mut self, lane: &RefKey, place: Place) -> Result<bool, StoreError> {
        let key = keys::place(lane, place);
        if self.get(TableId::Effects, &key, <[u8]>::is_empty)? == Some(true) {
            self.delete(TableId::Long, &keys::number(place.seq))?;
        }
        self.delete(TableId::Effects, &key)
    }
}
