//! Who a folder under the temporary folder belongs to, and taking away those whose owner was killed.
//!
//! The owner holds a lock on the file `owner` in its folder. The system lets go of it when the process ends in whatever way,
//! so whoever gets the lock knows that the owner is dead; a process id would have to be believed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::PREFIX;
use crate::adapters::git::WorkTree;
use crate::adapters::processes;
use crate::domain::session::Liveness;

const OWNER: &str = "owner";
const SUITE: &str = "suite";
/// Most bytes of a note that are read.
const MOST: u64 = 8192;

/// Makes a folder ours for as long as the answer lives; `root` is the project that it is for.
pub(super) fn claim(folder: &Path, root: &Path) -> io::Result<File> {
    let unnamed = folder.join("owner.new");
    let mut owner = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unnamed)?;
    owner.write_all(root.as_os_str().as_encoded_bytes())?;
    // Locked before it has its name, so that nobody finds it without its lock. Where there are no locks it gets no name, and
    // nobody takes it away.
    if owner.lock().is_ok() {
        fs::rename(unnamed, folder.join(OWNER))?;
    }
    Ok(owner)
}

/// Notes the suite that runs in a folder, so that it can be ended should we be killed.
pub(super) fn note_suite(folder: &Path, pid: u32) {
    if let Some(start) = processes::start_time(pid) {
        // Without the note it goes on after our death, as it does on systems that tell no start.
        let _ = fs::write(folder.join(SUITE), format!("{pid} {start}"));
    }
}

/// Takes the note away.
pub(super) fn forget_suite(folder: &Path) {
    let _ = fs::remove_file(folder.join(SUITE));
}

/// Takes away every folder in `above` that was made for this project, or for one that is gone, by a process that is dead,
/// and ends the suite that still runs there. Answers the folders.
pub(super) fn tidy(above: &Path, root: &Path, active: Option<&WorkTree>) -> Vec<PathBuf> {
    let entries = fs::read_dir(above).into_iter().flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
    named.map(|entry| entry.path()).filter(|folder| take_away(folder, root, active).is_some()).collect()
}

fn take_away(folder: &Path, root: &Path, active: Option<&WorkTree>) -> Option<()> {
    let found = fs::symlink_metadata(folder).ok()?;
    if !found.is_dir() || found.uid() != rustix::process::geteuid().as_raw() {
        return None;
    }
    let owner = open(&folder.join(OWNER))?;
    owner.try_lock().ok()?;
    let made_for = PathBuf::from(read(&owner)?);
    let is_ours = made_for == root;
    if !is_ours && made_for.symlink_metadata().is_ok() {
        return None;
    }
    end_suite(folder);
    if let Some(active) = active.filter(|_| is_ours) {
        remove_tree(&folder.join("tree"), active);
    }
    remove(folder).ok()
}

/// Takes a working tree away, and git's note of it, whatever a suite made of it.
pub(super) fn remove_tree(root: &Path, active: &WorkTree) {
    let place = root.to_string_lossy().into_owned();
    let forget = || active.run(&["worktree", "remove", "--force", "--force", &place], &[]).is_ok();
    // Git does not remove one that it does not know again; of one that is gone it drops its note.
    if !forget() && remove(root).is_ok() {
        forget();
    }
}

/// Removes a folder with all that is in it, also where a suite took the right to do so away.
fn remove(folder: &Path) -> io::Result<()> {
    fs::remove_dir_all(folder).or_else(|_| {
        open_up(folder);
        fs::remove_dir_all(folder)
    })
}

fn open_up(folder: &Path) {
    // What cannot be opened is left for the removal to fail at.
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}

/// Ends the suite that was noted, provided that its id still means the process that was.
fn end_suite(folder: &Path) {
    let noted = open(&folder.join(SUITE)).and_then(|file| read(&file));
    let Some((pid, start)) = noted.as_deref().and_then(|text| text.split_once(' ')) else { return };
    if let (Ok(pid), Ok(start)) = (pid.parse(), start.parse())
        && processes::is_alive(pid, start) == Liveness::Live
        && processes::leads_group(pid)
    {
        processes::kill_group(pid);
    }
}

/// A plain file, without following a link and without waiting for anybody.
fn open(path: &Path) -> Option<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let file = OpenOptions::new().read(true).custom_flags(i32::try_from(flags).ok()?).open(path).ok()?;
    file.metadata().ok().filter(fs::Metadata::is_file).map(|_| file)
}

fn read(file: &File) -> Option<String> {
    let mut text = String::new();
    file.take(MOST).read_to_string(&mut text).ok().map(|_| text)
}
