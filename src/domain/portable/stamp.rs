//! How a file is recognised without reading it, and which folder it lies in.

use serde::{Deserialize, Serialize};

/// How long after its last change a file may change again without its stamp telling, milliseconds: file systems
/// keep times coarsely, and git writes a file in two steps.
pub const YOUNG_MILLIS: i64 = 2_000;

/// A folder's identity; stamps of one folder say nothing about another at the same path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FolderId {
    /// Device number.
    pub device: u64,
    /// Inode number.
    pub inode: u64,
}

/// What a file looked like when it was read or written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// Device number.
    pub device: u64,
    /// Inode number.
    pub inode: u64,
    /// Length in bytes.
    pub size: u64,
    /// Last change of the content, nanoseconds since the epoch.
    pub modified_ns: i64,
    /// Last change of content or attributes, nanoseconds since the epoch; cannot be set by hand.
    pub changed_ns: i64,
    /// SHA-256 of the content as lower-case hex, kept when the file was younger than [`YOUNG_MILLIS`].
    pub hash: Option<String>,
}

impl Stamp {
    /// Whether both were taken of the same file in the same state, hashes aside.
    pub fn looks_like(&self, other: &Self) -> bool {
        let key = |s: &Self| (s.device, s.inode, s.size, s.modified_ns, s.changed_ns);
        key(self) == key(other)
    }

    /// Whether both were taken of the same file with the same content, under whatever name: a rename changes
    /// `changed_ns` alone.
    pub fn is_renamed(&self, other: &Self) -> bool {
        let key = |s: &Self| (s.device, s.inode, s.size, s.modified_ns);
        key(self) == key(other)
    }
}
