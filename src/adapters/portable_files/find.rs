//! Which file is an item's: the one whose `ref` says so, whatever its name.

use crate::domain::portable::files::FileError;
use crate::domain::portable::{Refusal, RefusalKind};
use crate::domain::reference::WorkItemRef;
use crate::domain::time::Time;

use super::folder::PortableFolder;
use super::names::Names;
use super::read::{Read, ReadFile};

/// Where an item's record is, or goes.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// Its files: the first is the one to write, others are of the same item under other spellings.
    Files(Box<ReadFile>, Vec<ReadFile>),
    /// None yet; it goes under this name.
    Free(String),
    /// A file that is no record, or is about an item its name does not fit, stands in its place.
    Refused {
        /// The file.
        name: String,
        /// What is wrong.
        refusal: Refusal,
        /// Whether it may still be being written.
        later: bool,
    },
}

/// Finds the files of `item` among `names`.
///
/// # Errors
/// A file that may be its own cannot be read.
pub fn find(folder: &PortableFolder, names: &Names, item: &WorkItemRef, now: Time) -> Result<Found, FileError> {
    let slug = item.slug();
    let (usual, hashed) = (slug.file_name(), slug.file_name_with(&item.key()));
    let mut own: Vec<ReadFile> = Vec::new();
    let mut refused: Option<Found> = None;
    let mut taken = [false, false];
    for (index, wanted) in [&usual, &hashed].into_iter().enumerate() {
        for name in names.spellings(wanted) {
            match folder.read(name, now)? {
                Read::Missing => {}
                Read::Refused { refusal, young } => {
                    let later = young && refusal.may_be_half_written();
                    refused.get_or_insert(Found::Refused { name: name.to_owned(), refusal, later });
                }
                Read::File(file) if file.record.reference.key() == item.key() => own.push(*file),
                Read::File(file) if index == 0 && fits(&file, item) => taken[0] = true,
                Read::File(file) => {
                    taken[index] = true;
                    refused.get_or_insert_with(|| mismatch(*file, item));
                }
            }
        }
    }
    // The item's own spelling first, so that others give way to it.
    own.sort_by_key(|file| (file.name != usual, file.name != hashed));
    let mut own = own.into_iter();
    Ok(match (own.next(), refused) {
        (Some(first), _) => Found::Files(Box::new(first), own.collect()),
        (None, Some(refused)) => refused,
        (None, None) => Found::Free(if taken[0] { hashed } else { usual }),
    })
}

/// Whether a file's name fits the reference inside it: then the name belongs to that item.
fn fits(file: &ReadFile, item: &WorkItemRef) -> bool {
    file.record.reference.slug().as_str().eq_ignore_ascii_case(item.slug().as_str())
}

fn mismatch(file: ReadFile, item: &WorkItemRef) -> Found {
    let found = Box::new(file.record.reference);
    let kind = RefusalKind::RefMismatch { found, expected: item.to_string() };
    Found::Refused { name: file.name, refusal: Refusal::new(kind), later: false }
}
