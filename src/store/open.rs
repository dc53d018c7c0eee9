//! Opening the file: whose it is, which version, and only then for writing.
//!
//! Nothing that is refused is changed: a file is first looked at read-only, or through an overlay when its writer was
//! killed, and opened for writing only when it is ours, of our version and whole.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, FileExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use redb::TableError;
use redb::backends::FileBackend;
use redb::{Builder, ConcurrencyMode, Database, DatabaseError, ReadOnlyDatabase, ReadableDatabase, StorageBackend};

use super::error::StoreError;
use super::migrate::{self, Step};
use super::overlay::OverlayBackend;
use super::patient::PatientBackend;
use super::raw::guarded;
use super::tables::{ID_KEY, SCHEMA_KEY, TableId};
use crate::domain::ids::StoreId;
use crate::domain::ports::Ids;

/// How long a file in use is asked for again: a dying owner, a command's moment, somebody's repair.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);
/// Between two tries.
const PAUSE: Duration = Duration::from_millis(20);
/// redb's cache. The daemon is to stay under 64 MiB.
const CACHE_BYTES: usize = 12 << 20;
/// The first bytes of every redb file.
const MAGIC: &[u8] = b"redb\x1A\x0A\xA9\x0D\x0A";

/// What a file says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Label {
    pub schema: u32,
    pub id: StoreId,
}

/// An open store, for writing.
pub(super) type Opened = (Database, StoreId);

/// Opens or makes the store at `path` for writing, migrated by `steps`; waits [`PATIENCE`] for one in use.
pub(super) fn open(path: &Path, ids: &dyn Ids, steps: &[Step]) -> Result<Opened, StoreError> {
    patiently(|| open_once(path, ids, steps))
}

/// The same with one try.
pub(super) fn open_once(path: &Path, ids: &dyn Ids, steps: &[Step]) -> Result<Opened, StoreError> {
    make_parent(path)?;
    let opened = match open_existing(path, steps, true) {
        Err(StoreError::Missing) => {
            create(path, ids, steps)?;
            open_existing(path, steps, true)
        }
        other => other,
    }?;
    remove_leftovers(path);
    Ok(opened)
}

/// Opens a store that is there, once. With `migrate`, an older one is migrated, otherwise refused.
pub(super) fn open_existing(path: &Path, steps: &[Step], migrate: bool) -> Result<Opened, StoreError> {
    let supported = migrate::version(steps);
    match inspect(path)?.schema {
        found if found > supported => return Err(StoreError::Newer { found, supported }),
        found if found < supported && migrate => migrate::run(path, found, steps)?,
        found if found < supported => return Err(StoreError::Older { found, supported }),
        _ => {}
    }
    let database = catching(path, || shared_builder().create_with_backend(PatientBackend::open(path, true)?))?;
    let label = label(path, &database)?;
    if label.schema != supported {
        // Between the look and the lock somebody else migrated it: look again.
        return Err(StoreError::Busy);
    }
    Ok((database, label.id))
}

/// Opens the store at `path` for reading beside whoever owns it. One whose owner was killed is repaired first, which
/// takes owning it for that moment.
pub(super) fn open_reader(path: &Path, steps: &[Step]) -> Result<ReadOnlyDatabase, StoreError> {
    let supported = migrate::version(steps);
    patiently(|| {
        check_kind(path)?;
        let database = match catching_raw(path, || {
            shared_builder().open_read_only_with_backend(PatientBackend::open(path, false)?)
        })? {
            Ok(database) => database,
            Err(DatabaseError::RepairAborted) => {
                drop(open_existing(path, steps, false)?);
                catching(path, || shared_builder().open_read_only_with_backend(PatientBackend::open(path, false)?))?
            }
            Err(error) => return Err(StoreError::database(path, error)),
        };
        match label(path, &database)?.schema {
            found if found > supported => Err(StoreError::Newer { found, supported }),
            found if found < supported => Err(StoreError::Older { found, supported }),
            _ => Ok(database),
        }
    })
}

/// The id of the store at `path`, looked at without a change; `None` where only its owner could read it.
pub(super) fn id_at(path: &Path) -> Result<Option<StoreId>, StoreError> {
    check_kind(path)?;
    let opened =
        catching_raw(path, || shared_builder().open_read_only_with_backend(PatientBackend::open(path, false)?))?;
    match opened {
        Ok(database) => label(path, &database).map(|label| Some(label.id)),
        Err(DatabaseError::RepairAborted) => Ok(None),
        Err(error) => Err(StoreError::database(path, error)),
    }
}

/// Opens a store in a backend of the caller's, made when it is empty.
pub(super) fn open_backend(backend: impl StorageBackend, ids: &dyn Ids) -> Result<Opened, StoreError> {
    let path = Path::new(IN_MEMORY);
    let empty = backend.len().map_err(|error| StoreError::io(path, error))? == 0;
    let mut builder = Builder::new();
    builder.set_cache_size(CACHE_BYTES);
    let database = catching(path, || builder.create_with_backend(backend))?;
    if empty || is_blank(path, &database)? {
        migrate::initialise(path, &database, &ids.uuid(), migrate::version(migrate::STEPS))?;
    }
    let (label, supported) = (label(path, &database)?, migrate::version(migrate::STEPS));
    match label.schema {
        found if found > supported => Err(StoreError::Newer { found, supported }),
        found if found < supported => Err(StoreError::Older { found, supported }),
        _ => Ok((database, label.id)),
    }
}

/// The path of a store that has none.
pub(super) const IN_MEMORY: &str = "(memory)";

/// Checks every page of the file and repairs what can be repaired; true when nothing was wrong. Nobody else may have
/// the file open.
pub(super) fn check_pages(path: &Path) -> Result<bool, StoreError> {
    check_kind(path)?;
    let mut builder = exclusive_builder();
    let mut database = catching(path, || builder.set_concurrency_mode(ConcurrencyMode::ExclusiveWriter).open(path))?;
    catching(path, || database.check_integrity())
}

/// What the file says of itself, without a byte of it changed.
pub(super) fn inspect(path: &Path) -> Result<Label, StoreError> {
    check_kind(path)?;
    match catching_raw(path, || shared_builder().open_read_only_with_backend(PatientBackend::open(path, false)?))? {
        Ok(database) => label(path, &database),
        Err(DatabaseError::RepairAborted) => inspect_overlay(path),
        Err(error) => Err(StoreError::database(path, error)),
    }
}

fn inspect_overlay(path: &Path) -> Result<Label, StoreError> {
    let file = OpenOptions::new().read(true).write(true).open(path).map_err(|error| StoreError::io(path, error))?;
    let backend = OverlayBackend::new(file).map_err(|error| StoreError::database(path, error))?;
    let database = catching(path, || shared_builder().create_with_backend(backend))?;
    label(path, &database)
}

/// Whether somebody has the file open for writing.
///
/// # Errors
/// The file cannot be looked at.
pub(super) fn is_owned(path: &Path) -> Result<bool, StoreError> {
    match check_kind(path).and_then(|()| inspect_overlay(path)) {
        Err(StoreError::Busy) => Ok(true),
        Err(error @ StoreError::Io { .. }) => Err(error),
        // One that is missing, or that its owner could not have opened, has none.
        Ok(_) | Err(_) => Ok(false),
    }
}

/// Opens the file as its owner would and checks every page of it, with every write kept in memory.
///
/// # Errors
/// [`StoreError::Busy`] while somebody has it open; otherwise what an owner would meet.
pub(super) fn rehearse(path: &Path) -> Result<(), StoreError> {
    check_kind(path)?;
    let file = OpenOptions::new().read(true).write(true).open(path).map_err(|error| StoreError::io(path, error))?;
    let backend = OverlayBackend::new(file).map_err(|error| StoreError::database(path, error))?;
    let mut database = catching(path, || exclusive_builder().create_with_backend(backend))?;
    catching(path, || database.check_integrity()).map(drop)
}

/// Whether the file can be a store at all, by its first bytes.
fn check_kind(path: &Path) -> Result<(), StoreError> {
    let foreign = |what: &str| Err(StoreError::Foreign(format!("{} {what}", path.display())));
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(StoreError::Missing),
        Err(error) => return Err(StoreError::io(path, error)),
    };
    let kind = file.metadata().map_err(|error| StoreError::io(path, error))?;
    if !kind.is_file() {
        return foreign("is not a file");
    }
    if kind.len() == 0 {
        return Err(StoreError::Damaged(format!("{} is empty", path.display())));
    }
    let mut start = Vec::new();
    (&file).take(HEADER_BYTES).read_to_end(&mut start).map_err(|error| StoreError::io(path, error))?;
    if !start.starts_with(MAGIC) {
        return foreign("is no redb file (magic number mismatch)");
    }
    // Asked before and after the header was read: meanwhile an owner may have come or gone.
    let later = file.metadata().map_err(|error| StoreError::io(path, error))?;
    let len = kind.len().max(later.len());
    match closed_len(&start) {
        Some(closed) if len < closed => {
            Err(StoreError::Damaged(format!("{} is cut short: {len} of {closed} bytes", path.display())))
        }
        _ => Ok(()),
    }
}

/// How much of the file the header takes that says how long the file is (redb's file format, version 3).
const HEADER_BYTES: u64 = 32;

/// The flag behind the first bytes that says that the file was not closed.
const NOT_CLOSED: u8 = 2;
/// The flag beside it that says that the last commit was known to be whole when it was made.
const LAST_IS_WHOLE: u8 = 4;

/// Makes redb check every page of the file at its next open, and take the commit before the last one where the last one
/// is damaged. A file that says that it was closed, or that its last commit is whole, is believed.
pub(super) fn mark_doubtful(path: &Path) -> io::Result<()> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    let (mut flags, at) = ([0], MAGIC.len() as u64);
    file.read_exact_at(&mut flags, at)?;
    file.write_all_at(&[(flags[0] | NOT_CLOSED) & !LAST_IS_WHOLE], at)?;
    file.sync_all()
}

/// The length that a cleanly closed file says it has. A reader of redb's does not look at it and would meet the end of a
/// file that was cut short only when it comes to a page behind it. `None` while somebody writes, or after a kill.
fn closed_len(header: &[u8]) -> Option<u64> {
    if header.get(MAGIC.len())? & NOT_CLOSED != 0 {
        return None;
    }
    let number = |at: usize| Some(u64::from(u32::from_le_bytes(header.get(at..at + 4)?.try_into().ok()?)));
    let (page, region_header, region_pages) = (number(12)?, number(16)?, number(20)?);
    let (full_regions, last_region_pages) = (number(24)?, number(28)?);
    let last_region = if last_region_pages > 0 { region_header + last_region_pages } else { 0 };
    let pages = full_regions.checked_mul(region_header + region_pages)?.checked_add(last_region + 1)?;
    pages.checked_mul(page)
}

/// Reads the two keys that never move.
pub(super) fn label(path: &Path, database: &impl ReadableDatabase) -> Result<Label, StoreError> {
    let foreign = |what: &str| StoreError::Foreign(format!("{} {what}", path.display()));
    let transaction = guarded(path, || database.begin_read())?.map_err(|e| StoreError::transaction(path, e))?;
    let table = match guarded(path, || transaction.open_table(TableId::Store.definition()))? {
        Ok(table) => table,
        Err(TableError::TableDoesNotExist(_)) => return Err(foreign("is a database of another program")),
        Err(error) => return Err(StoreError::table(path, error)),
    };
    let text = |key: &'static [u8]| {
        let read =
            || table.get(key).map(|found| found.map(|value| String::from_utf8_lossy(value.value()).into_owned()));
        guarded(path, read)?.map_err(|error| StoreError::storage(path, error))
    };
    let schema = text(SCHEMA_KEY)?.and_then(|text| text.parse().ok());
    match (schema, text(ID_KEY)?) {
        (Some(schema), Some(id)) => Ok(Label { schema, id: StoreId(id) }),
        _ => Err(foreign("has no schema version")),
    }
}

/// Whether a database holds no table at all.
fn is_blank(path: &Path, database: &Database) -> Result<bool, StoreError> {
    let transaction = guarded(path, || database.begin_read())?.map_err(|e| StoreError::transaction(path, e))?;
    let blank = || transaction.list_tables().map(|mut tables| tables.next().is_none());
    guarded(path, blank)?.map_err(|error| StoreError::storage(path, error))
}

/// Makes a new store beside `path`, whole, and only then gives it its name: a file under that name is never half made,
/// and an empty one is never ours.
fn create(path: &Path, ids: &dyn Ids, steps: &[Step]) -> Result<(), StoreError> {
    let io = |error| StoreError::io(path, error);
    let dir = path.parent().unwrap_or(Path::new("."));
    let file = tempfile::Builder::new().prefix(&leftover_prefix(path)).tempfile_in(dir).map_err(io)?;
    let backend = FileBackend::new(file.as_file().try_clone().map_err(io)?);
    let backend = backend.map_err(|error| StoreError::database(path, error))?;
    let database = catching(path, || exclusive_builder().create_with_backend(backend))?;
    migrate::initialise(path, &database, &ids.uuid(), migrate::version(steps))?;
    catching(path, || database.close())?;
    match file.persist_noclobber(path) {
        Ok(_) => File::open(dir).and_then(|dir| dir.sync_all()).map_err(io),
        // Another process made it first, or took our unfinished one for a leftover: theirs it is.
        Err(error) if matches!(error.error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound) => Ok(()),
        Err(error) => Err(io(error.error)),
    }
}

/// What unfinished new stores are called; a killed process leaves one.
pub(super) fn leftover_prefix(path: &Path) -> String {
    format!(".{}.new-", path.file_name().unwrap_or_default().to_string_lossy())
}

/// Removes what killed processes left. Only an owner calls this, so the store exists and nobody needs another.
fn remove_leftovers(path: &Path) {
    let prefix = leftover_prefix(path);
    let Some(entries) = path.parent().and_then(|dir| fs::read_dir(dir).ok()) else { return };
    let leftovers = entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix));
    for leftover in leftovers {
        // One that cannot be removed does no harm.
        let _ = fs::remove_file(leftover.path());
    }
}

fn make_parent(path: &Path) -> Result<(), StoreError> {
    match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(dir)
            .map_err(|error| StoreError::io(&PathBuf::from(dir), error)),
        _ => Ok(()),
    }
}

/// Asks again while the file is in use, for at most [`PATIENCE`].
fn patiently<T>(mut attempt: impl FnMut() -> Result<T, StoreError>) -> Result<T, StoreError> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match attempt() {
            Err(StoreError::Busy) if Instant::now() < deadline => std::thread::sleep(PAUSE),
            other => return other,
        }
    }
}

pub(super) fn shared_builder() -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(CACHE_BYTES).set_concurrency_mode(ConcurrencyMode::SingleWriter);
    builder
}

pub(super) fn exclusive_builder() -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(CACHE_BYTES);
    builder
}

/// One call on a whole database: panics become damage, errors ours.
pub(super) fn catching<T>(path: &Path, call: impl FnOnce() -> Result<T, DatabaseError>) -> Result<T, StoreError> {
    catching_raw(path, call)?.map_err(|error| StoreError::database(path, error))
}

fn catching_raw<T>(
    path: &Path,
    call: impl FnOnce() -> Result<T, DatabaseError>,
) -> Result<Result<T, DatabaseError>, StoreError> {
    guarded(path, call)
}
