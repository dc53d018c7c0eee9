//! A test kit: storage that fails, storage that crashes, ids that repeat themselves. Integration tests and the
//! simulation use it beside the store's own tests; the program does not.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use redb::StorageBackend;

use super::{Raw as _, ReadTx, StoreError, TableId, WriteTx, keys};
use crate::domain::ports::Ids;
use crate::domain::reference::RefKey;

/// When storage calls fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Faults {
    /// Never.
    None,
    /// The call with this number, counted from 0, and no other.
    Once(u64),
    /// The call with this number and every later one.
    From(u64),
}

/// Storage in memory whose n-th call fails. Clones share one storage.
#[derive(Debug, Clone)]
pub struct FaultBackend {
    state: Arc<Mutex<FaultState>>,
}

#[derive(Debug)]
struct FaultState {
    bytes: Vec<u8>,
    faults: Faults,
    kind: io::ErrorKind,
    calls: u64,
}

impl FaultBackend {
    /// Storage that holds `bytes` and works.
    pub fn new(bytes: Vec<u8>) -> Self {
        let state = FaultState { bytes, faults: Faults::None, kind: io::ErrorKind::Other, calls: 0 };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// Starts counting calls at 0 again, and fails some of them with an error of `kind`.
    pub fn fail(&self, faults: Faults, kind: io::ErrorKind) {
        let mut state = self.state();
        (state.faults, state.kind, state.calls) = (faults, kind, 0);
    }

    /// Calls since [`FaultBackend::fail`], or since it was made.
    pub fn calls(&self) -> u64 {
        self.state().calls
    }

    /// What the storage holds.
    pub fn image(&self) -> Vec<u8> {
        self.state().bytes.clone()
    }

    fn state(&self) -> MutexGuard<'_, FaultState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn call<T>(&self, work: impl FnOnce(&mut Vec<u8>) -> io::Result<T>) -> io::Result<T> {
        let mut state = self.state();
        let number = state.calls;
        state.calls += 1;
        let fails = match state.faults {
            Faults::None => false,
            Faults::Once(at) => number == at,
            Faults::From(at) => number >= at,
        };
        if fails { Err(state.kind.into()) } else { work(&mut state.bytes) }
    }
}

impl StorageBackend for FaultBackend {
    fn len(&self) -> io::Result<u64> {
        self.call(|bytes| Ok(bytes.len() as u64))
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.call(|bytes| read(bytes, offset, out))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.call(|bytes| {
            bytes.resize(len as usize, 0);
            Ok(())
        })
    }

    fn sync_data(&self) -> io::Result<()> {
        self.call(|_| Ok(()))
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.call(|bytes| {
            write(bytes, offset, data);
            Ok(())
        })
    }
}

/// Storage in memory that remembers what was synced, and can lose the rest. Clones share one storage.
#[derive(Debug, Clone)]
pub struct CrashBackend {
    state: Arc<Mutex<CrashState>>,
}

#[derive(Debug)]
struct CrashState {
    synced: Vec<u8>,
    now: Vec<u8>,
    pending: Vec<Change>,
    changes: u64,
    halt_at: Option<u64>,
}

#[derive(Debug)]
enum Change {
    Len(u64),
    Write(u64, Vec<u8>),
}

impl CrashBackend {
    /// Storage that holds `bytes`, all of them synced.
    pub fn new(bytes: Vec<u8>) -> Self {
        let state = CrashState { synced: bytes.clone(), now: bytes, pending: Vec::new(), changes: 0, halt_at: None };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// From the change with this number on (writes, lengths and syncs, counted from 0 from now), the machine is off.
    pub fn halt_at(&self, change: u64) {
        let mut state = self.state();
        (state.changes, state.halt_at) = (0, Some(change));
    }

    /// Changes since [`CrashBackend::halt_at`], or since it was made.
    pub fn changes(&self) -> u64 {
        self.state().changes
    }

    /// What the storage holds now, synced or not: what a killed process leaves to the system.
    pub fn image(&self) -> Vec<u8> {
        self.state().now.clone()
    }

    /// What a disk could hold after a power cut now: everything synced, and of the rest each 4 KiB part there or not,
    /// as `seed` says. Lengths take effect in their order, up to a point; beyond the length nothing is kept.
    pub fn crash_image(&self, seed: u64) -> Vec<u8> {
        let state = self.state();
        let mut random = seed;
        let lengths = state.pending.iter().filter(|change| matches!(change, Change::Len(_))).count() as u64;
        let mut lengths_left = below(&mut random, lengths + 1);
        let mut image = state.synced.clone();
        let mut len = image.len();
        for change in &state.pending {
            match change {
                Change::Len(to) if lengths_left > 0 => {
                    lengths_left -= 1;
                    len = *to as usize;
                    image.resize(len, 0);
                }
                Change::Len(_) => {}
                Change::Write(offset, data) => keep_some(&mut image, *offset, data, &mut random),
            }
        }
        image.resize(len, 0);
        image
    }

    fn state(&self) -> MutexGuard<'_, CrashState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, work: impl FnOnce(&mut CrashState)) -> io::Result<()> {
        let mut state = self.state();
        if state.halt_at.is_some_and(|at| state.changes >= at) {
            return Err(io::Error::other("the machine is off"));
        }
        state.changes += 1;
        work(&mut state);
        Ok(())
    }
}

impl StorageBackend for CrashBackend {
    fn len(&self) -> io::Result<u64> {
        Ok(self.state().now.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        read(&self.state().now, offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.change(|state| {
            state.now.resize(len as usize, 0);
            state.pending.push(Change::Len(len));
        })
    }

    fn sync_data(&self) -> io::Result<()> {
        self.change(|state| {
            for change in std::mem::take(&mut state.pending) {
                match change {
                    Change::Len(len) => state.synced.resize(len as usize, 0),
                    Change::Write(offset, data) => write(&mut state.synced, offset, &data),
                }
            }
        })
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.change(|state| {
            write(&mut state.now, offset, data);
            state.pending.push(Change::Write(offset, data.to_vec()));
        })
    }
}

/// What a row that nobody can read looks like.
pub const UNREADABLE: &[u8] = b"<<<";

/// Puts an unreadable row in the place of a pull request's entry on the record of `owner`.
///
/// # Errors
/// As any write.
pub fn spoil_endpoint(tx: &mut WriteTx<'_>, owner: &RefKey, pull_request: &RefKey) -> Result<(), StoreError> {
    tx.put(TableId::Endpoints, &keys::pair(owner.as_str(), pull_request.as_str()), UNREADABLE)
}

/// The bytes of a pull request's entry, whatever they are.
///
/// # Errors
/// As any look-up.
pub fn endpoint_row(tx: &ReadTx<'_>, owner: &RefKey, pull_request: &RefKey) -> Result<Option<Vec<u8>>, StoreError> {
    tx.get(TableId::Endpoints, &keys::pair(owner.as_str(), pull_request.as_str()), <[u8]>::to_vec)
}

/// Ids that count from 1: the same in every run.
#[derive(Debug, Default)]
pub struct CountingIds(AtomicU64);

impl Ids for CountingIds {
    fn uuid(&self) -> String {
        format!("00000000-0000-4000-8000-{:012x}", self.0.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn below(&self, bound: u64) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed) % bound.max(1)
    }
}

fn read(bytes: &[u8], offset: u64, out: &mut [u8]) -> io::Result<()> {
    let from = offset as usize;
    let there = bytes.get(from..from + out.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
    out.copy_from_slice(there);
    Ok(())
}

fn write(bytes: &mut Vec<u8>, offset: u64, data: &[u8]) {
    let (from, to) = (offset as usize, offset as usize + data.len());
    if bytes.len() < to {
        bytes.resize(to, 0);
    }
    bytes[from..to].copy_from_slice(data);
}

/// Writes each 4 KiB part of `data` or leaves it.
fn keep_some(image: &mut Vec<u8>, offset: u64, data: &[u8], random: &mut u64) {
    const PART: usize = 4096;
    let mut done = 0;
    while done < data.len() {
        let at = offset + done as u64;
        let take = (PART - (at as usize % PART)).min(data.len() - done);
        if below(random, 2) == 1 {
            write(image, at, &data[done..done + take]);
        }
        done += take;
    }
}

/// The next number below `bound` of a small generator (splitmix64).
fn below(state: &mut u64, bound: u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (mixed ^ (mixed >> 31)) % bound.max(1)
}
