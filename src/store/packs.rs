//! Effects whose rows are long, packed together.
//!
//! A page is the least that is written, and the text of a comment is most of one. In its item's leaf it makes pages of
//! their own out of the leaf, whose other rows are copied with it; in a leaf of its own it costs a page somewhere in the
//! file, a place in the branch above and a call to write it. So the long rows that one commit adds are put together, in
//! the order of arrival, into packs of a few pages. An effect's row names its pack; nobody who reads effects can tell.
//!
//! A pack is a list without a frame: number of the effect (8 bytes), length of its row (4 bytes), length of its text (4
//! bytes), the row, the text. A long text stands as it is, where in JSON every byte of it would be looked at twice. A row
//! that goes is taken out of its pack, and a pack goes with its last row.

use super::error::StoreError;
use super::keys;
use super::raw::{Raw, WriteTx};
use super::rows::{self, EffectRow};
use super::tables::TableId;
use super::view::NOT_A_PLACE;
use super::write::PACKS_COUNTER;
use crate::domain::effect::{Effect, Place};
use crate::domain::reference::RefKey;

/// Bytes from which a row or a text is long.
pub(super) const LONG: usize = 1024;
/// Most bytes of a pack of several rows: what redb keeps in a piece of eight pages, with what it adds.
pub(super) const PACK: usize = (32 << 10) - 64;
/// Bytes in front of each row.
const HEAD: usize = 16;

/// One effect in a pack.
#[derive(Clone, Copy)]
pub(super) struct Packed<'p> {
    /// Its number.
    pub effect: u64,
    /// Its row.
    pub row: &'p [u8],
    /// The text that was taken out of the row; empty when none was.
    pub text: &'p [u8],
}

impl Packed<'_> {
    /// How many bytes of the pack it takes.
    pub const fn len(&self) -> usize {
        HEAD + self.row.len() + self.text.len()
    }

    /// Adds it to a pack. Answers false, and adds nothing, when no more fits into it; an empty one takes every row.
    pub fn add_to(&self, pack: &mut Vec<u8>) -> bool {
        if !pack.is_empty() && pack.len() + self.len() > PACK {
            return false;
        }
        // Both are far from four gigabytes: bodies are limited at the door.
        let len = |part: &[u8]| u32::try_from(part.len()).unwrap_or(u32::MAX).to_be_bytes();
        if pack.is_empty() {
            pack.reserve_exact(self.len().max(PACK));
        }
        pack.extend_from_slice(&keys::number(self.effect));
        pack.extend_from_slice(&len(self.row));
        pack.extend_from_slice(&len(self.text));
        pack.extend_from_slice(self.row);
        pack.extend_from_slice(self.text);
        true
    }

    /// The first of a pack, and what is behind it; `None` at the end, and where the pack is torn.
    fn first(pack: &[u8]) -> Option<(Packed<'_>, &[u8])> {
        let (effect, rest) = pack.split_first_chunk()?;
        let (row, rest) = rest.split_first_chunk()?;
        let (text, rest) = rest.split_first_chunk()?;
        let (row, rest) = rest.split_at_checked(u32::from_be_bytes(*row) as usize)?;
        let (text, rest) = rest.split_at_checked(u32::from_be_bytes(*text) as usize)?;
        Some((Packed { effect: u64::from_be_bytes(*effect), row, text }, rest))
    }

    /// The effect's row with its text.
    fn decode(&self, key: &[u8]) -> Result<EffectRow, StoreError> {
        let mut row: EffectRow = rows::decode(TableId::Effects, key, self.row)?;
        if !self.text.is_empty() {
            let text = str::from_utf8(self.text).map_err(|error| rows::bad(TableId::Effects, key, error))?;
            row.put_text(text.to_owned());
        }
        Ok(row)
    }
}

/// What is in a pack; ends early where it is torn.
pub(super) fn in_pack(pack: &[u8]) -> impl Iterator<Item = Packed<'_>> {
    let mut rest = pack;
    std::iter::from_fn(move || {
        let (packed, behind) = Packed::first(rest)?;
        rest = behind;
        Some(packed)
    })
}

/// The pack that a transaction fills. It becomes a row when it is full, or with the commit.
#[derive(Default)]
pub(super) struct Filling {
    number: u64,
    bytes: Vec<u8>,
}

impl Filling {
    /// The pack, when `key` of `table` is its.
    pub fn at(&self, table: TableId, key: &[u8]) -> Option<&[u8]> {
        let is_it = table == TableId::Packs && !self.bytes.is_empty() && key == keys::number(self.number);
        is_it.then_some(self.bytes.as_slice())
    }
}

/// Whether a pack is whole and holds something.
pub(super) fn is_whole(pack: &[u8]) -> bool {
    !pack.is_empty() && in_pack(pack).map(|packed| packed.len()).sum::<usize>() == pack.len()
}

/// Takes an effect out of a pack.
fn take_out(pack: &mut Vec<u8>, effect: u64) {
    let mut end = 0;
    let found = in_pack(pack).find_map(|packed| {
        end += packed.len();
        (packed.effect == effect).then(|| end - packed.len()..end)
    });
    if let Some(range) = found {
        pack.drain(range);
    }
}

/// The number of the pack that an effect's row names, when it is no row itself. A row is JSON, and longer.
pub(super) fn named(value: &[u8]) -> Option<u64> {
    keys::read_number(value)
}

/// An effect from its row, wherever that lies.
pub(super) fn read_effect<V: Raw + ?Sized>(view: &V, key: &[u8], value: &[u8]) -> Result<Effect, StoreError> {
    let bad = |reason: &str| rows::bad(TableId::Effects, key, reason);
    let (lane, place) = keys::read_place(key).ok_or_else(|| bad(NOT_A_PLACE))?;
    let lane = rows::ref_key(TableId::Effects, key, lane)?;
    let row = match named(value) {
        None => rows::decode::<EffectRow>(TableId::Effects, key, value)?,
        Some(pack) => {
            let find = |pack: &[u8]| in_pack(pack).find(|it| it.effect == place.seq).map(|packed| packed.decode(key));
            let packed = view.get(TableId::Packs, &keys::number(pack), find)?.flatten();
            packed.ok_or_else(|| bad("its pack does not hold it"))??
        }
    };
    Ok(row.into_effect(lane, place))
}

impl WriteTx<'_> {
    /// Puts an effect's row, a long one into a pack.
    pub(super) fn put_effect_row(&mut self, lane: &RefKey, place: Place, mut row: EffectRow) -> Result<(), StoreError> {
        let text = row.take_text(LONG);
        let (key, mut bytes) = (keys::place(lane, place), self.take_buffer());
        rows::encode_into(TableId::Effects, &row, &mut bytes)?;
        let put = match &text {
            None if bytes.len() < LONG => self.put(TableId::Effects, &key, &bytes),
            text => {
                let text = text.as_ref().map_or(&b""[..], String::as_bytes);
                let pack = self.pack(&Packed { effect: place.seq, row: &bytes, text });
                pack.and_then(|pack| self.put(TableId::Effects, &key, &keys::number(pack)))
            }
        };
        self.give_buffer(bytes);
        put
    }

    /// Removes an effect's row, a long one too; false when there was none.
    pub(super) fn delete_effect_row(&mut self, lane: &RefKey, place: Place) -> Result<bool, StoreError> {
        let key = keys::place(lane, place);
        if let Some(pack) = self.get(TableId::Effects, &key, named)?.flatten() {
            self.unpack(pack, place.seq)?;
        }
        self.delete(TableId::Effects, &key)
    }

    /// Writes the pack that is being filled.
    pub(super) fn settle_pack(&mut self) -> Result<(), StoreError> {
        let Filling { number, bytes } = std::mem::take(&mut self.filling);
        if bytes.is_empty() { Ok(()) } else { self.put(TableId::Packs, &keys::number(number), &bytes) }
    }

    /// Packs a row; answers the number of its pack.
    fn pack(&mut self, packed: &Packed<'_>) -> Result<u64, StoreError> {
        if !self.filling.bytes.is_empty() {
            if packed.add_to(&mut self.filling.bytes) {
                return Ok(self.filling.number);
            }
            self.settle_pack()?;
        }
        self.filling.number = self.take_number(PACKS_COUNTER)?;
        packed.add_to(&mut self.filling.bytes);
        Ok(self.filling.number)
    }

    fn unpack(&mut self, pack: u64, effect: u64) -> Result<(), StoreError> {
        let key = keys::number(pack);
        if self.filling.at(TableId::Packs, &key).is_some() {
            take_out(&mut self.filling.bytes, effect);
            return Ok(());
        }
        let Some(mut bytes) = self.get(TableId::Packs, &key, <[u8]>::to_vec)? else { return Ok(()) };
        take_out(&mut bytes, effect);
        if bytes.is_empty() {
            self.delete(TableId::Packs, &key).map(drop)
        } else {
            self.put(TableId::Packs, &key, &bytes)
        }
    }
}
