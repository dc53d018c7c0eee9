//! What can go wrong with the store: which file, what it is, what now.

use std::io;
use std::path::{Path, PathBuf};

/// Why the store did not answer. Every text names what failed; the ones about a whole file name the file.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process owns the store, and went on owning it for as long as we waited.
    #[error("the store is in use by another process")]
    Busy,
    /// Something else lies at the store's path. It was not touched.
    #[error("not a the-loop store: {0}; it was left as it is, move it away or choose another directory")]
    Foreign(String),
    /// Written by a newer program. It was not touched.
    #[error(
        "the store has schema {found}, this program knows up to {supported}: use the newer program; nothing was changed"
    )]
    Newer {
        /// The version in the file.
        found: u32,
        /// The newest this program knows.
        supported: u32,
    },
    /// Written by an older program and not migrated yet; only an owner migrates.
    #[error("the store has schema {found}, this program needs {supported}: `the-loop start` migrates it")]
    Older {
        /// The version in the file.
        found: u32,
        /// The version this program needs.
        supported: u32,
    },
    /// A file format of redb itself that this build cannot read. It was not touched.
    #[error(
        "the store's file has redb format {0}, this build needs 3: move the file away and start again, \
         what was armed is read back from the portable files"
    )]
    FormatUpgrade(u8),
    /// The file is a store and cannot be read. It was not touched.
    #[error(
        "the store is damaged: {0}; the file was kept: `the-loop doctor --fix` tries a repair, or move it away and \
         start again, what was armed is read back from the portable files"
    )]
    Damaged(String),
    /// There is no store yet.
    #[error("there is no store yet")]
    Missing,
    /// The disk said no. The store is opened again by itself.
    #[error("{}: {source}", path.display())]
    Io {
        /// The store's file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// More waits to be written than the queue holds.
    #[error("too much waits to be written")]
    Overloaded,
    /// The store was closed by its owner.
    #[error("the store is closed")]
    Closed,
    /// A fault of ours: the change was undone, its neighbours were not.
    #[error("internal error: {0}")]
    Bug(String),
    /// One row cannot be read; all others can.
    #[error("row `{key}` of table `{table}` cannot be read: {reason}")]
    BadRow {
        /// The table's name.
        table: &'static str,
        /// The key, as text.
        key: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl StoreError {
    /// An IO error on `path`.
    pub(super) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    /// What redb's storage said about `path`.
    pub(super) fn storage(path: &Path, error: redb::StorageError) -> Self {
        match error {
            redb::StorageError::Corrupted(text) => Self::Damaged(format!("{}: {text}", path.display())),
            redb::StorageError::ValueTooLarge(size) => Self::Bug(format!("a value of {size} bytes")),
            // A reader meets the end of a file that was cut short only when it comes to a page behind it.
            redb::StorageError::Io(source) if source.kind() == io::ErrorKind::UnexpectedEof => {
                Self::Damaged(format!("{}: the file is cut short", path.display()))
            }
            // A lock of another process (patient.rs): it is in the middle of something, or suspended there.
            redb::StorageError::Io(source) if source.kind() == io::ErrorKind::TimedOut => Self::Busy,
            redb::StorageError::Io(source) => Self::io(path, source),
            other => Self::io(path, io::Error::other(other.to_string())),
        }
    }

    /// What redb said when a table of `path` was opened.
    pub(super) fn table(path: &Path, error: redb::TableError) -> Self {
        match error {
            redb::TableError::Storage(error) => Self::storage(path, error),
            other => Self::Foreign(format!("{}: {other}", path.display())),
        }
    }

    /// What redb said when a transaction on `path` was begun.
    pub(super) fn transaction(path: &Path, error: redb::TransactionError) -> Self {
        match error {
            redb::TransactionError::Storage(error) => Self::storage(path, error),
            other => Self::Bug(other.to_string()),
        }
    }

    /// What redb said when `path` was opened.
    pub(super) fn database(path: &Path, error: redb::DatabaseError) -> Self {
        use redb::DatabaseError as D;
        match error {
            D::DatabaseAlreadyOpen | D::LockProtocolMismatch => Self::Busy,
            D::UpgradeRequired(version) => Self::FormatUpgrade(version),
            D::Storage(redb::StorageError::Io(source)) if source.kind() == io::ErrorKind::InvalidData => {
                Self::Foreign(format!("{}: {source}", path.display()))
            }
            D::Storage(error) => Self::storage(path, error),
            other => Self::io(path, io::Error::other(other.to_string())),
        }
    }

    /// The same error for one more who waits for the same commit.
    pub(super) fn again(&self) -> Self {
        match self {
            Self::Busy => Self::Busy,
            Self::Foreign(text) => Self::Foreign(text.clone()),
            Self::Newer { found, supported } => Self::Newer { found: *found, supported: *supported },
            Self::Older { found, supported } => Self::Older { found: *found, supported: *supported },
            Self::FormatUpgrade(version) => Self::FormatUpgrade(*version),
            Self::Damaged(text) => Self::Damaged(text.clone()),
            Self::Missing => Self::Missing,
            Self::Io { path, source } => Self::io(path, io_again(source)),
            Self::Overloaded => Self::Overloaded,
            Self::Closed => Self::Closed,
            Self::Bug(text) => Self::Bug(text.clone()),
            Self::BadRow { table, key, reason } => Self::BadRow { table, key: key.clone(), reason: reason.clone() },
        }
    }
}

/// Keeps the system's own number where there is one, so that a full disk stays recognisable.
fn io_again(source: &io::Error) -> io::Error {
    match source.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(source.kind(), source.to_string()),
    }
}

/// What a panic said.
pub(super) fn panic_text(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic without a text".to_owned())
}
