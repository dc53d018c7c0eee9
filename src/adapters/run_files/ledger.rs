//! The ledger of evolution: `.loop/evolution/ledger.jsonl`. It is read in pieces and only ever grows.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::{RunFolder, io_error, open_plain, real};
use crate::domain::evolve::{End, LedgerFile};
use crate::domain::kept::{KeptFiles as _, Shelf};
use crate::domain::run::{FilesError, LARGEST};
use crate::domain::secrets::Scanned;

/// What stands around an entry on its line, at most.
const AROUND: u64 = 128;

impl LedgerFile for RunFolder {
    fn ledger_path(&self) -> PathBuf {
        self.path(Shelf::Evolution, "ledger.jsonl")
    }

    fn read_lines(&self, visit: &mut dyn FnMut(&[u8]) -> bool) -> Result<End, FilesError> {
        let path = self.ledger_path();
        let opened = open_plain(&path).map_err(|error| io_error(&path, &error))?;
        let Some(file) = opened else { return Ok(End::default()) };
        lines(file, visit).map_err(|error| io_error(&path, &error))
    }

    fn append_lines(&self, after: End, lines: &[Scanned<String>]) -> Result<(), FilesError> {
        let path = self.ledger_path();
        match real(&path).and_then(|target| append(&target, after, lines)).map_err(|error| io_error(&path, &error))? {
            true => Ok(()),
            false => Err(FilesError::Stale(path)),
        }
    }
}

fn lines(file: File, visit: &mut dyn FnMut(&[u8]) -> bool) -> io::Result<End> {
    let (mut reader, mut line, mut end) = (BufReader::with_capacity(1 << 16, file), Vec::new(), End::default());
    loop {
        line.clear();
        // A longer line is none of ours; a piece of it is handed over, and refused.
        let read = reader.by_ref().take(LARGEST as u64 + AROUND).read_until(b'\n', &mut line)? as u64;
        let is_long = read == LARGEST as u64 + AROUND;
        match line.strip_suffix(b"\n") {
            _ if read == 0 => return Ok(end),
            None if !is_long => {
                end.torn = read;
                return Ok(end);
            }
            whole => {
                if !visit(whole.unwrap_or(&line)) {
                    return Ok(end);
                }
                end.length += read;
            }
        }
    }
}

/// Says `false` when the file is not what was read.
fn append(target: &Path, after: End, lines: &[Scanned<String>]) -> io::Result<bool> {
    let folder = target.parent().unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(target)?;
    // Two writers at once would make two ends of one chain.
    file.lock()?;
    if file.metadata()?.len() != after.length + after.torn {
        return Ok(false);
    }
    if after.torn > 0 {
        file.set_len(after.length)?;
    }
    file.seek(SeekFrom::Start(after.length))?;
    let all: String = lines.iter().map(|line| line.get().as_str()).collect();
    file.write_all(all.as_bytes())?;
    file.sync_all()?;
    if after.length == 0 {
        File::open(folder)?.sync_all()?;
    }
    Ok(true)
}
