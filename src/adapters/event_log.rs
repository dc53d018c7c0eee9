//! The event log's file: one JSON object per line, appended whole, reopened when moved, rotated by size.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::domain::ports::{EventLog, LogError};

mod follow;

pub use follow::Follow;

/// An append-only log with a size limit and a number of older files (`events.jsonl.1`, `.2`, ...).
#[derive(Debug)]
pub struct EventLogFile {
    path: PathBuf,
    max_bytes: u64,
    keep: u32,
    open: Option<File>,
}

impl EventLogFile {
    /// A log at `path`; nothing is opened before the first line.
    pub fn new(path: PathBuf, max_bytes: u64, keep: u32) -> Self {
        Self { path, max_bytes, keep, open: None }
    }

    fn error(&self, what: &'static str, source: std::io::Error) -> LogError {
        LogError { what, path: self.path.clone(), source }
    }

    /// The file under the configured name; another file there by now (moved, rotated by hand) is opened anew.
    fn file(&mut self) -> Result<&mut File, LogError> {
        let there = std::fs::metadata(&self.path).ok().map(|meta| (meta.dev(), meta.ino()));
        let ours = self.open.as_ref().and_then(|file| file.metadata().ok()).map(|meta| (meta.dev(), meta.ino()));
        if ours.is_none() || ours != there {
            if let Some(parent) = self.path.parent() {
                let made = DirBuilder::new().recursive(true).mode(0o700).create(parent);
                made.map_err(|error| self.error("create the directory of", error))?;
            }
            let options = OpenOptions::new().create(true).append(true).read(true).mode(0o600).clone();
            self.open = Some(options.open(&self.path).map_err(|error| self.error("open", error))?);
        }
        let path = &self.path;
        self.open.as_mut().ok_or_else(|| LogError {
            what: "open",
            path: path.clone(),
            source: std::io::ErrorKind::NotFound.into(),
        })
    }

    fn rotate_if_full(&mut self) -> Result<(), LogError> {
        let size = self.file()?.metadata().map_err(|error| self.error("look at", error))?.len();
        if self.max_bytes == 0 || size < self.max_bytes {
            return Ok(());
        }
        self.open = None;
        for number in (1..self.keep).rev() {
            let (from, to) = (numbered(&self.path, number), numbered(&self.path, number + 1));
            if from.exists() {
                std::fs::rename(&from, &to).map_err(|error| self.error("rotate", error))?;
            }
        }
        match self.keep {
            0 => std::fs::remove_file(&self.path),
            _ => std::fs::rename(&self.path, numbered(&self.path, 1)),
        }
        .map_err(|error| self.error("rotate", error))
    }
}

impl EventLog for EventLogFile {
    fn append(&mut self, lines: &[String]) -> Result<(), LogError> {
        if lines.is_empty() {
            return Ok(());
        }
        self.rotate_if_full()?;
        let mut text = lines.join("\n");
        text.push('\n');
        // A crash may have left half a line; ours begins on a line of its own.
        if !ends_with_newline(self.file()?).map_err(|error| self.error("read", error))? {
            text.insert(0, '\n');
        }
        let written = write_whole(self.file()?, &text);
        written.map_err(|error| self.error("write", error))?;
        let synced = self.file()?.sync_data();
        synced.map_err(|error| self.error("sync", error))
    }

    fn last_lines(&mut self, bytes: u64) -> Result<Vec<String>, LogError> {
        let mut text = tail(self.file()?, bytes).map_err(|error| self.error("read", error))?;
        if text.is_empty() {
            // A crash right after a rotation: what was written last stands in the file before.
            text = match File::open(numbered(&self.path, 1)) {
                Ok(mut before) => tail(&mut before, bytes).map_err(|error| self.error("read", error))?,
                Err(_) => text,
            };
        }
        Ok(text.lines().map(str::to_owned).collect())
    }
}

/// Writes all of `text` or nothing: what a full disk cut off would be written a second time.
fn write_whole(file: &mut File, text: &str) -> std::io::Result<()> {
    let before = file.metadata()?.len();
    file.write_all(text.as_bytes()).inspect_err(|_| {
        // What cannot be taken back is half a line and lines that are written again; readers pass over both.
        let _ = file.set_len(before);
    })
}

fn ends_with_newline(file: &mut File) -> std::io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(true);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == [b'\n'])
}

fn tail(file: &mut File, bytes: u64) -> std::io::Result<String> {
    let size = file.metadata()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(bytes)))?;
    let mut buffer = Vec::new();
    file.read_to_end(&mut buffer)?;
    Ok(String::from_utf8_lossy(&buffer).into_owned())
}

fn numbered(path: &Path, number: u32) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{number}"));
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &Path) -> Vec<String> {
        let mut lines = Vec::new();
        Follow::new(path.to_owned(), 9).news(&mut |line| lines.push(line.to_owned())).unwrap();
        lines.retain(|line| !line.is_empty());
        lines
    }

    #[test]
    fn l08_a_moved_file_is_left_and_a_new_one_begun() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("logs/events.jsonl");
        let mut log = EventLogFile::new(path.clone(), 0, 5);
        log.append(&["a".into()]).unwrap();
        std::fs::rename(&path, dir.path().join("moved")).unwrap();
        log.append(&["b".into()]).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "b\n");
        assert_eq!(std::fs::read_to_string(dir.path().join("moved")).unwrap(), "a\n");
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn l12_a_truncated_file_goes_on_at_its_end() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("events.jsonl");
        let mut log = EventLogFile::new(path.clone(), 0, 5);
        log.append(&["x".repeat(1000)]).unwrap();
        OpenOptions::new().write(true).open(&path).unwrap().set_len(0).unwrap();
        log.append(&["one line".into()]).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one line\n");
    }

    #[test]
    fn a_full_file_is_rotated_and_the_oldest_is_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("events.jsonl");
        let mut log = EventLogFile::new(path.clone(), 10, 2);
        for n in 0..6 {
            log.append(&[format!("line number {n}")]).unwrap();
        }
        assert_eq!(lines(&path), ["line number 3", "line number 4", "line number 5"]);
    }

    #[test]
    fn k65_a_full_disk_leaves_no_half_of_a_write() {
        // A file of limited size stands for a full disk: the second write does not fit.
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("events.jsonl");
        let mut log = EventLogFile::new(path.clone(), 0, 1);
        log.append(&["fits".into()]).unwrap();
        log.open = Some(OpenOptions::new().write(true).read(true).open("/dev/full").unwrap());
        let written = write_whole(log.open.as_mut().unwrap(), "does not fit\n");
        assert_eq!(written.unwrap_err().kind(), std::io::ErrorKind::StorageFull);
        log.append(&["fits again".into()]).unwrap();
        assert_eq!(lines(&path), ["fits", "fits again"]);
    }

    #[test]
    fn after_a_crash_behind_a_rotation_the_last_line_is_found_in_the_file_before() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("events.jsonl");
        std::fs::write(numbered(&path, 1), "a\nb\n").unwrap();
        assert_eq!(EventLogFile::new(path, 10, 2).last_lines(100).unwrap(), ["a", "b"]);
    }

    #[test]
    fn half_a_line_of_a_crash_does_not_swallow_the_next() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("events.jsonl");
        std::fs::write(&path, "{\"half\":").unwrap();
        EventLogFile::new(path.clone(), 0, 1).append(&["{}".into()]).unwrap();
        assert_eq!(lines(&path), ["{\"half\":", "{}"]);
    }
}
