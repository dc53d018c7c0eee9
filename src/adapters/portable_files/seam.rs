//! Where a writer can be stopped, for tests: between any two steps, and at calls that some file systems refuse.

use std::io;

/// A step of an export that is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    /// Everything of the item was read.
    Read,
    /// The temporary exists, empty.
    Made,
    /// The temporary holds the new record, on disk.
    Written,
    /// The old record has a second name (only where files cannot be exchanged).
    Linked,
    /// The new record is in its place.
    Placed,
    /// A second file of the item is out of its place.
    Moved,
    /// What is not needed any more was removed.
    Removed,
    /// The folder is on disk.
    Synced,
}

/// A call that some file systems refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    /// `renameat2` with a flag.
    Exchange,
    /// `linkat`.
    Link,
}

/// What may come between the steps.
pub(super) trait Seam {
    /// Called after a step; an error stops the export there as a crash would.
    fn reached(&self, step: Step) -> io::Result<()>;
    /// Whether the file system refuses the call.
    fn refuses(&self, call: Call) -> bool;
}

/// Nothing comes between.
#[derive(Debug)]
pub(super) struct Unhindered;

impl Seam for Unhindered {
    fn reached(&self, _: Step) -> io::Result<()> {
        Ok(())
    }

    fn refuses(&self, _: Call) -> bool {
        false
    }
}
