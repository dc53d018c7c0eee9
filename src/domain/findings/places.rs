//! Files and folders of ours: whose they are, who may read them, whether there is room.

use std::path::{Path, PathBuf};

use super::{Finding, Fix};

/// Less free than this and the next burst does not fit, bytes.
const FULL: u64 = 64 << 20;
/// Less free than this is worth a word, bytes.
const NEARLY_FULL: u64 = 1 << 30;

/// How a file or folder lies there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Its path.
    pub path: PathBuf,
    /// Permission bits.
    pub mode: u32,
    /// Whether it belongs to this user.
    pub is_ours: bool,
    /// Whether it is a folder.
    pub is_folder: bool,
}

/// What is wrong with a place that is this user's alone; `None` when nothing is. `holds` completes "it holds …".
pub fn access(place: &Place, holds: &str) -> Option<Finding> {
    let path = place.path.display();
    if !place.is_ours {
        return Some(
            Finding::error("state.foreign-owner", format!("`{path}` belongs to another user"))
                .because("what another user owns, another user can replace")
                .todo("run the-loop as the user it belongs to, or give it to this one"),
        );
    }
    (place.mode & 0o077 != 0).then(|| {
        let mode = if place.is_folder { "0700" } else { "0600" };
        Finding::warning("state.open", format!("`{path}` is open to other users (mode {:04o})", place.mode & 0o7777))
            .because(format!("it holds {holds}"))
            .todo(format!("give it mode {mode}"))
            .fixed_by(Fix::Close { path: place.path.clone() })
    })
}

/// Whether there is room where `path` lies.
pub fn room(path: &Path, free: u64) -> Finding {
    let what = format!("{} MiB are free where `{}` lies", free >> 20, path.display());
    match free {
        free if free < FULL => Finding::error("state.disk-full", what)
            .because("nothing more is taken in once the store cannot be written")
            .todo("make room; the daemon goes on by itself"),
        free if free < NEARLY_FULL => Finding::warning("state.disk", what)
            .because("nothing more is taken in once the store cannot be written")
            .todo("make room"),
        _ => Finding::ok("state.disk", what),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::findings::Severity;

    #[test]
    fn what_belongs_to_this_user_alone_is_open_to_nobody_else() {
        let place = |mode, is_ours, is_folder| Place { path: "/x".into(), mode, is_ours, is_folder };
        for (place, want) in [
            (place(0o40700, true, true), None),
            (place(0o600, true, false), None),
            (place(0o400, true, false), None),
            (place(0o40750, true, true), Some("state.open")),
            (place(0o604, true, false), Some("state.open")),
            (place(0o622, true, false), Some("state.open")),
            (place(0o600, false, false), Some("state.foreign-owner")),
        ] {
            let found = access(&place, "messages");
            assert_eq!(found.as_ref().map(|finding| finding.id), want, "{place:?}");
            // Only what is ours is changed.
            let fix = found.and_then(|finding| finding.fix);
            assert_eq!(fix.is_some(), want == Some("state.open"), "{place:?}");
        }
    }

    #[test]
    fn room_is_told_in_time() {
        for (free, want) in [
            (0, Severity::Error),
            (FULL - 1, Severity::Error),
            (FULL, Severity::Warning),
            (NEARLY_FULL - 1, Severity::Warning),
            (NEARLY_FULL, Severity::Ok),
        ] {
            let found = room(Path::new("/x"), free);
            assert_eq!(found.severity, want, "{free}");
            assert_eq!(found.todo.is_some(), found.is_bad());
        }
    }
}
