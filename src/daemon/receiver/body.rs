//! Reading a body: never more than the cap, and never more than all requests together may hold.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::{Buf, BufMut, Bytes, BytesMut};
use warp::Stream;

/// A declared length is believed up to here before its bytes have come.
const BELIEVED: usize = 64 * 1024;

/// Why there is no whole body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// Over the cap.
    TooLarge,
    /// The budget of all requests is used up.
    NoRoom,
    /// The connection ended, or the framing is broken.
    Broken,
}

/// The bytes of bodies that may be in memory at once. Because bodies are read before anybody is authenticated, this
/// bounds what strangers can make the process hold (a buffer that grows may briefly take twice its part).
#[derive(Debug)]
pub(super) struct Budget {
    free: AtomicUsize,
}

impl Budget {
    /// A budget of `bytes`.
    pub(super) fn new(bytes: usize) -> Arc<Self> {
        Arc::new(Self { free: AtomicUsize::new(bytes) })
    }

    fn take(&self, bytes: usize) -> bool {
        self.free.fetch_update(Ordering::AcqRel, Ordering::Acquire, |free| free.checked_sub(bytes)).is_ok()
    }
}

/// A part of the budget, given back when dropped.
#[derive(Debug)]
pub(super) struct Held {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Held {
    fn grow(&mut self, bytes: usize) -> Result<(), Fault> {
        if !self.budget.take(bytes) {
            return Err(Fault::NoRoom);
        }
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.budget.free.fetch_add(self.bytes, Ordering::AcqRel);
    }
}

/// Reads a whole body of at most `cap` bytes. A `declared` length over the cap is refused before anything is read; the
/// budget is taken for bytes that came, not for bytes that were promised.
pub(super) async fn read<S, B, E>(
    stream: S,
    declared: Option<u64>,
    cap: usize,
    budget: &Arc<Budget>,
) -> Result<(Bytes, Held), Fault>
where
    S: Stream<Item = Result<B, E>>,
    B: Buf,
{
    if declared.is_some_and(|length| length > cap as u64) {
        return Err(Fault::TooLarge);
    }
    let believed = declared.map_or(0, |length| (length as usize).min(BELIEVED));
    let mut held = Held { budget: budget.clone(), bytes: 0 };
    let mut whole = BytesMut::with_capacity(believed);
    let mut stream = pin!(stream);
    while let Some(chunk) = std::future::poll_fn(|cx| stream.as_mut().poll_next(cx)).await {
        let chunk = chunk.map_err(|_| Fault::Broken)?;
        if chunk.remaining() > cap - whole.len() {
            return Err(Fault::TooLarge);
        }
        held.grow(chunk.remaining())?;
        whole.put(chunk);
    }
    Ok((whole.freeze(), held))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_given_back_and_never_overdrawn() {
        let budget = Budget::new(10);
        let mut one = Held { budget: budget.clone(), bytes: 0 };
        let mut other = Held { budget: budget.clone(), bytes: 0 };
        assert_eq!(one.grow(6), Ok(()));
        assert_eq!(other.grow(5), Err(Fault::NoRoom));
        assert_eq!(other.grow(4), Ok(()));
        drop(one);
        assert_eq!(other.grow(6), Ok(()));
        drop(other);
        assert_eq!(budget.free.load(Ordering::Acquire), 10);
    }
}
