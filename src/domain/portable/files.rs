//! What is asked of the portable folder, and what comes of it; the port itself is `ports::PortableFiles`.

use std::io;
use std::path::PathBuf;

use crate::domain::time::Time;

use super::{Beaten, Conflict, Record, Refusal, Stamp};

/// What failed, on which path.
#[derive(Debug, thiserror::Error)]
#[error("{}: {doing}: {source}", path.display())]
pub struct FileError {
    /// The file or folder.
    pub path: PathBuf,
    /// What was being done.
    pub doing: &'static str,
    /// What the system said.
    pub source: io::Error,
}

/// A record file with what has to be kept of it.
#[derive(Debug, Clone, PartialEq)]
pub struct News {
    /// Its name in the folder.
    pub name: String,
    /// What it says.
    pub record: Record,
    /// How it looks; the store keeps it once the record is joined in.
    pub stamp: Stamp,
}

/// What came of comparing a file with the stamp the store keeps of it.
#[derive(Debug, Clone, PartialEq)]
pub enum Look {
    /// Known.
    Unchanged,
    /// Known, and old enough now to be known without its hash: keep this stamp.
    Aged(Stamp),
    /// Nothing there: no fact, nothing follows from it.
    Missing,
    /// Being written, as it seems: look again in two seconds.
    Later,
    /// No record; it changes nothing that is known.
    Refused(Refusal),
    /// Something else than what is known: to be joined.
    News(Box<News>),
}

/// What there is of an item in the folder.
#[derive(Debug, Clone, PartialEq)]
pub enum Located {
    /// Its files, the one that is written first; more than one when it is spelled in several ways.
    Files(Vec<News>),
    /// None, which is no fact.
    Missing,
    /// Being written, as it seems.
    Later {
        /// The file.
        name: String,
    },
    /// What stands in its place is no record of it. It reads as nothing recorded.
    Refused {
        /// The file.
        name: String,
        /// What is wrong.
        refusal: Refusal,
    },
}

/// What to bring up to date.
#[derive(Debug, Clone, Copy)]
pub struct Export<'a> {
    /// What the store holds.
    pub record: &'a Record,
    /// The stamp of the file the store last took in. What an undated tombstone in that very file cleared is settled; in
    /// any other file it is news.
    pub adopted: Option<&'a Stamp>,
    /// Now.
    pub now: Time,
}

/// An export that is done.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    /// The file; absent when there was nothing to say and no file.
    pub name: Option<String>,
    /// How the file looks; the store keeps it.
    pub stamp: Option<Stamp>,
    /// What the file says now: the store's record with whatever the file knew. The store adopts it when it differs.
    pub record: Record,
    /// Whether a file was written or removed.
    pub changed: bool,
    /// Commands that an ending beat on the way.
    pub beaten: Vec<Beaten>,
    /// How the last write took its place.
    pub replaced: Option<Replaced>,
}

/// How a record took another's place; the less the file system can do, the wider the window for a colleague's write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replaced {
    /// Exchanged, or made where nothing was: nothing can be lost.
    Exchanged,
    /// Renamed over, the old one kept under a second name: a file renamed into place at that very moment is lost.
    Linked,
    /// Renamed over after a last look: what is written between the two is lost.
    Renamed,
}

/// Why a file is not up to date; its mark stays.
#[derive(Debug, thiserror::Error)]
pub enum Held {
    /// It is no record. Kept as it is.
    #[error("{name}: {refusal}")]
    Refused {
        /// The file.
        name: String,
        /// What is wrong.
        refusal: Refusal,
    },
    /// It is being written, as it seems.
    #[error("{name}: changed a moment ago; tried again in two seconds")]
    Later {
        /// The file.
        name: String,
    },
    /// Keys of other versions differ, and nobody knows which is right.
    #[error("{name}: {conflict}")]
    Conflict {
        /// The file.
        name: String,
        /// Which.
        conflict: Box<Conflict>,
    },
    /// Others wrote it again and again.
    #[error("{name}: others keep writing it")]
    Busy {
        /// The file.
        name: String,
    },
    /// The system refused.
    #[error(transparent)]
    Io(#[from] FileError),
}
