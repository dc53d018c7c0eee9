//! Where the state root lies in a repository, and which folder's `.gitignore` and `.gitattributes` speak of it.

use std::path::{Component, Path, PathBuf};

use crate::domain::layout::StateLayout;

/// The place of a state root in a working tree. All folders are absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spot {
    /// The top of the working tree.
    pub top: PathBuf,
    /// The folder whose files speak of the root: the configuration's home when the root is in it, else the top.
    pub folder: PathBuf,
    /// The root relative to that folder; empty when it is the folder.
    pub root: String,
    /// What else belongs to this machine and was put elsewhere in the repository, as patterns for that folder.
    pub more: Vec<String>,
    /// Relative to the top: one path for every kind of thing that must never be committed.
    pub local: Vec<String>,
    /// Relative to the top: the portable folder.
    pub portable: String,
}

impl Spot {
    /// `None` when the root's portable folder is not in the working tree, or has a name that is no UTF-8.
    pub fn of(top: &Path, home: &Path, layout: &StateLayout, log: &Path) -> Option<Self> {
        let portable = within(top, layout.portable_dir())?;
        let folder = if plain(layout.root()).starts_with(home) && home.starts_with(top) { home } else { top };
        let root = within(folder, layout.root())?;
        // One of every place: `local/`, `logs/`, the pidfile, and the log where it was put.
        let kinds = [layout.store_file(), layout.daemon_output(), layout.pid_file(), log.to_owned()];
        let local = kinds.iter().filter_map(|path| within(top, path)).collect();
        let elsewhere = |path: &Path| within(folder, path).filter(|_| !path.starts_with(layout.root()));
        let mut more: Vec<String> =
            elsewhere(layout.local_dir()).map(|dir| format!("/{}/", escaped(&dir))).into_iter().collect();
        // The log is rotated beside itself. Under the root only `logs/` is ignored by the block.
        let is_covered = log.starts_with(layout.root().join("logs")) || log.starts_with(layout.local_dir());
        more.extend(within(folder, log).filter(|_| !is_covered).map(|log| format!("/{}*", escaped(&log))));
        let (top, folder) = (top.to_owned(), folder.to_owned());
        Some(Self { top, folder, root, more, local, portable })
    }

    /// The root as it stands in a pattern, with a slash behind.
    pub fn pattern(&self) -> String {
        if self.root.is_empty() { "/".to_owned() } else { format!("{}/", escaped(&self.root)) }
    }

    /// A record's path relative to the top.
    pub fn record(&self) -> String {
        format!("{}/octo-hello-7.json", self.portable)
    }

    /// The path of a temporary relative to the top.
    pub fn temporary(&self) -> String {
        format!("{}/octo-hello-7.json.1-1.tmp", self.portable)
    }
}

/// A path relative to a folder that it lies in; empty for the folder itself.
pub fn within(folder: &Path, path: &Path) -> Option<String> {
    plain(path).strip_prefix(folder).ok()?.to_str().map(str::to_owned)
}

/// The path without `.` and `..`, which git knows in no pattern: `x/../y` is `y`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

/// A name as a pattern that means just it.
fn escaped(name: &str) -> String {
    let mut out = String::new();
    for (at, c) in name.chars().enumerate() {
        if matches!(c, '\\' | '*' | '?' | '[') || at == 0 && matches!(c, '#' | '!') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spot(top: &str, home: &str, root: &str) -> Option<Spot> {
        let layout = StateLayout::new(root);
        Spot::of(Path::new(top), Path::new(home), &layout, &layout.event_log())
    }

    #[test]
    fn the_files_beside_the_root_speak_of_it() {
        for (top, home, root, folder, pattern) in [
            ("/r", "/r", "/r/.the-loop", "/r", ".the-loop/"),
            ("/r", "/r/sub", "/r/sub/.the-loop", "/r/sub", ".the-loop/"),
            ("/r", "/r/sub", "/r/state", "/r", "state/"),
            ("/r", "/r/sub", "/r/sub/../state", "/r", "state/"),
            ("/r", "/r", "/r/a/../b/./c", "/r", "b/c/"),
            ("/r", "/r", "/r/a/b c", "/r", "a/b c/"),
            ("/r", "/r", "/r/#x[1]", "/r", "\\#x\\[1]/"),
            ("/r", "/r", "/r", "/r", "/"),
            ("/r", "/elsewhere", "/r/.the-loop", "/r", ".the-loop/"),
        ] {
            let found = spot(top, home, root).unwrap();
            assert_eq!((found.folder.as_path(), found.pattern().as_str()), (Path::new(folder), pattern), "{root}");
        }
        assert_eq!(spot("/r", "/r", "/elsewhere"), None);
    }

    #[test]
    fn what_was_put_elsewhere_is_ignored_too() {
        let layout = StateLayout::new("/r/.the-loop").with_local_dir("/r/reg");
        let found = Spot::of(Path::new("/r"), Path::new("/r"), &layout, Path::new("/r/.the-loop/trail")).unwrap();
        assert_eq!(found.more, ["/reg/", "/.the-loop/trail*"]);
        assert!(
            found.local.contains(&"reg/state.redb".to_owned()) && found.local.contains(&".the-loop/trail".to_owned())
        );
        let outside = StateLayout::new("/r/.the-loop").with_local_dir("/elsewhere");
        let found = Spot::of(Path::new("/r"), Path::new("/r"), &outside, Path::new("/var/log/x")).unwrap();
        assert!(found.more.is_empty() && !found.local.iter().any(|path| path.contains("elsewhere")));
        assert_eq!(spot("/r", "/r", "/r/../beside"), None, "it only begins as if it lay in it");
    }
}
