//! The portable folder: one record per file, read without guessing and replaced in one step (`state` rules, section 4).
//!
//! Git, an editor, a colleague or the earlier system may write the same files at any moment. So every file is reached
//! through the folder's own descriptor and never through a symbolic link; a record is exchanged with its successor
//! rather than overwritten; and what came out, when it is not what was read, is joined in.

mod aside;
mod batch;
mod find;
mod folder;
mod names;
mod nowhere;
mod place;
mod port;
mod read;
mod seam;

#[cfg(test)]
mod tests;

pub use batch::{Batch, would_change};
pub use find::{Found, find};
pub use folder::PortableFolder;
pub use names::Names;
pub use nowhere::Nowhere;
pub use port::PortableDir;
pub use read::{Read, ReadFile};
