//! Reading the event log from its oldest file on, and on from there: over rotation, moves and truncation.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, ErrorKind, Seek as _, SeekFrom};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::PathBuf;

use super::numbered;
use crate::domain::ports::LogError;

/// Reads every line once. The first call of [`Follow::news`] reads all files there are, each later one what was added.
#[derive(Debug)]
pub struct Follow {
    path: PathBuf,
    keep: u32,
    /// The newest file, and how far it was read.
    at: Option<Opened>,
}

/// One open file; it stays readable when it is moved or removed.
#[derive(Debug)]
struct Opened {
    file: File,
    path: PathBuf,
    id: (u64, u64),
    /// Behind the last whole line that was read.
    position: u64,
}

impl Follow {
    /// Begins at the oldest line of the log at `path` with `keep` older files; nothing is opened yet.
    pub fn new(path: PathBuf, keep: u32) -> Self {
        Self { path, keep, at: None }
    }

    /// Gives every new whole line to `line`, oldest first. A line that is still being written is left for the next call.
    ///
    /// # Errors
    /// A file that is there cannot be read; what was read until then is not read again.
    pub fn news(&mut self, line: &mut dyn FnMut(&str)) -> Result<(), LogError> {
        let mut files = self.files()?;
        // The one that was read last is read to its end first, wherever it lies by now.
        if let Some(last) = &mut self.at {
            last.read_on(line)?;
            match files.iter().position(|file| file.id == last.id) {
                Some(newer) => files.truncate(newer),
                // It was moved away: only what took its place is new.
                None => files.retain(|file| file.path == self.path),
            }
        }
        for mut file in files.into_iter().rev() {
            file.read_on(line)?;
            self.at = Some(file);
        }
        Ok(())
    }

    /// The files there are, newest first, each once. Opened from the newest on: one that is rotated meanwhile is met
    /// again under its next name, and none is missed.
    fn files(&self) -> Result<Vec<Opened>, LogError> {
        let mut files: Vec<Opened> = Vec::new();
        let older = (1..=self.keep).map(|number| numbered(&self.path, number));
        for path in std::iter::once(self.path.clone()).chain(older) {
            match Opened::open(path.clone()) {
                Ok(file) if files.iter().any(|known| known.id == file.id) => {}
                Ok(file) => files.push(file),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(source) => return Err(LogError { what: "open", path, source }),
            }
        }
        Ok(files)
    }
}

impl Opened {
    fn open(path: PathBuf) -> io::Result<Self> {
        let file = File::open(&path)?;
        let found = file.metadata()?;
        Ok(Self { file, path, id: (found.dev(), found.ino()), position: 0 })
    }

    fn read_on(&mut self, line: &mut dyn FnMut(&str)) -> Result<(), LogError> {
        self.read_lines(line).map_err(|source| LogError { what: "read", path: self.path.clone(), source })
    }

    /// Whether a line still ends where reading stopped. A file that was emptied is shorter, or holds something else there.
    fn is_behind_a_line(&self) -> io::Result<bool> {
        let Some(before) = self.position.checked_sub(1) else { return Ok(true) };
        let mut last = [0];
        Ok(self.file.read_at(&mut last, before)? == 1 && last == [b'\n'])
    }

    fn read_lines(&mut self, line: &mut dyn FnMut(&str)) -> io::Result<()> {
        if !self.is_behind_a_line()? {
            // Copied and emptied by somebody else: it begins anew.
            self.position = 0;
        }
        self.file.seek(SeekFrom::Start(self.position))?;
        let mut reader = BufReader::new(&self.file);
        let mut text = Vec::new();
        while reader.read_until(b'\n', &mut text)? > 0 && text.ends_with(b"\n") {
            self.position += text.len() as u64;
            text.pop();
            line(&String::from_utf8_lossy(&text));
            text.clear();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io::Write as _;
    use std::path::Path;

    use super::*;

    fn append(path: &Path, text: &str) {
        OpenOptions::new().create(true).append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn rotate(path: &Path) {
        for number in [2, 1] {
            let _ = fs::rename(numbered(path, number), numbered(path, number + 1));
        }
        fs::rename(path, numbered(path, 1)).unwrap();
    }

    fn news(follow: &mut Follow) -> Vec<String> {
        let mut lines = Vec::new();
        follow.news(&mut |line| lines.push(line.to_owned())).unwrap();
        lines
    }

    #[test]
    fn every_line_is_read_once_over_rotation_moves_and_truncation() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("events.jsonl");
        let mut follow = Follow::new(path.clone(), 3);
        assert!(news(&mut follow).is_empty());
        append(&numbered(&path, 2), "a\n");
        append(&numbered(&path, 1), "b\n");
        append(&path, "c\nhal");
        assert_eq!(news(&mut follow), ["a", "b", "c"]);
        append(&path, "f\n");
        assert_eq!(news(&mut follow), ["half"]);
        assert!(news(&mut follow).is_empty());
        // Two rotations between two looks.
        append(&path, "d\n");
        rotate(&path);
        append(&path, "e\n");
        rotate(&path);
        append(&path, "f\n");
        assert_eq!(news(&mut follow), ["d", "e", "f"]);
        // Moved out of sight, with a last line that was written there.
        let moved = dir.path().join("moved");
        fs::rename(&path, &moved).unwrap();
        append(&moved, "g\n");
        append(&path, "h\n");
        assert_eq!(news(&mut follow), ["g", "h"]);
        // Copied and emptied.
        OpenOptions::new().write(true).open(&path).unwrap().set_len(0).unwrap();
        append(&path, "much more\n");
        assert_eq!(news(&mut follow), ["much more"]);
        OpenOptions::new().write(true).open(&path).unwrap().set_len(0).unwrap();
        append(&path, "i\n");
        assert_eq!(news(&mut follow), ["i"]);
        // Gone for a moment; the older files were read long ago.
        fs::remove_file(&path).unwrap();
        assert!(news(&mut follow).is_empty());
        append(&path, "j\n");
        assert_eq!(news(&mut follow), ["j"]);
    }
}
