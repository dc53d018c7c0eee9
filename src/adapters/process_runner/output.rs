//! What the processes print: the present and the one before of each conversation, bounded in size and number.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// A process that prints more loses what it printed before.
const LARGEST: u64 = 8 * 1024 * 1024;
/// Files kept in the folder; the oldest go first.
const MOST: usize = 200;
/// How much of the beginning is told.
const TOLD: u64 = 64 * 1024;

/// Where one process prints.
pub(super) struct Output {
    pub path: PathBuf,
    pub file: File,
}

/// The file of a conversation: its name for people, and enough of its key to be its own.
fn path(dir: &Path, session: &str, key: &str) -> PathBuf {
    let short = key.get(..9).unwrap_or(key);
    dir.join(format!("{session}-{short}.log"))
}

fn before(path: &Path) -> PathBuf {
    path.with_extension("log.1")
}

/// Begins a file for the next process; the one before keeps its own under another name.
pub(super) fn begin(dir: &Path, session: &str, key: &str) -> io::Result<Output> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    let path = path(dir, session, key);
    match fs::rename(&path, before(&path)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => prune(dir),
    }
    let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(&path)?;
    Ok(Output { path, file })
}

/// Empties a file that has grown too large; its writer goes on at the beginning.
pub(super) fn bound(path: &Path) {
    if fs::metadata(path).is_ok_and(|meta| meta.len() > LARGEST)
        && let Ok(file) = OpenOptions::new().write(true).open(path)
    {
        // Tried again at the next look.
        let _ = file.set_len(0);
    }
}

/// What stands at the beginning of a file.
pub(super) fn beginning(path: &Path) -> String {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(TOLD).read_to_end(&mut bytes));
    read.map_or(String::new(), |_| String::from_utf8_lossy(&bytes).into_owned())
}

/// Removes what a conversation printed.
pub(super) fn remove(dir: &Path, session: &str, key: &str) {
    let path = path(dir, session, key);
    for path in [before(&path), path] {
        // One that is not there is what is wanted.
        let _ = fs::remove_file(path);
    }
}

/// Removes the oldest files beyond the number kept.
fn prune(dir: &Path) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    let mut files: Vec<_> = entries
        .flatten()
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .filter(|(_, path)| path.to_string_lossy().contains(".log"))
        .collect();
    files.sort();
    for (_, path) in files.iter().take(files.len().saturating_sub(MOST)) {
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn k65_what_is_printed_is_bounded_in_size_and_number() {
        let dir = tempfile::tempdir().unwrap();
        let mut output = begin(dir.path(), "loop-a", "k12345678abc").unwrap();
        output.file.write_all(&vec![b'x'; usize::try_from(LARGEST).unwrap()]).unwrap();
        bound(&output.path);
        assert_eq!(fs::metadata(&output.path).unwrap().len(), LARGEST);
        output.file.write_all(b"y").unwrap();
        bound(&output.path);
        output.file.write_all(b"after").unwrap();
        assert_eq!(beginning(&output.path), "after", "the writer goes on at the beginning");
        let again = begin(dir.path(), "loop-a", "k12345678abc").unwrap();
        assert_eq!((beginning(&again.path), beginning(&before(&again.path))), (String::new(), "after".into()));
        for n in 0..300 {
            begin(dir.path(), &format!("loop-{n}"), "k1").unwrap();
        }
        let count = fs::read_dir(dir.path()).unwrap().count();
        assert!(count <= MOST + 1, "{count}");
        remove(dir.path(), "loop-299", "k1");
        assert!(!path(dir.path(), "loop-299", "k1").exists());
    }
}
