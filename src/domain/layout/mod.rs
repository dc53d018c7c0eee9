//! Where every file under `state.root` lies, and which of them travel (`state` rules, section 2).
//!
//! The folder is the rule: `portable/` travels with the work, everything else belongs to this machine. A new path gets
//! an accessor here and an entry in [`GENERATED_PATHS`]; the tests fail until it has one.

mod declaration;
pub mod gitignore;

pub use declaration::{GENERATED_PATHS, GeneratedPath, IGNORE_BLOCK};

use std::path::{Path, PathBuf};

/// The default of `state.root`, relative to the configuration's home.
pub const DEFAULT_ROOT: &str = ".the-loop";

/// The paths under one state root; derived, never looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateLayout {
    root: PathBuf,
    portable: PathBuf,
    local: PathBuf,
}

impl StateLayout {
    /// The layout under `root`, an absolute path outside tests.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        Self { portable: root.join("portable"), local: root.join("local"), root }
    }

    /// The same with another local folder (`routing.registryDir`, `--registry-dir`).
    #[must_use]
    pub fn with_local_dir(self, local: impl Into<PathBuf>) -> Self {
        Self { local: local.into(), ..self }
    }

    /// The same with another portable folder (`--portable-dir`, `--state-dir`): a view, never written.
    #[must_use]
    pub fn with_portable_dir(self, portable: impl Into<PathBuf>) -> Self {
        Self { portable: portable.into(), ..self }
    }

    /// The root itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder that travels.
    pub fn portable_dir(&self) -> &Path {
        &self.portable
    }

    /// The folder that never leaves the machine.
    pub fn local_dir(&self) -> &Path {
        &self.local
    }

    /// The configuration that `init` writes, where the root is the folder that a configuration lies in.
    pub fn configuration(&self) -> PathBuf {
        self.root.join("cli-config.yaml")
    }

    /// A work item's portable record, by its file name.
    pub fn portable_record(&self, file_name: &str) -> PathBuf {
        self.portable.join(file_name)
    }

    /// What the exporter writes before it takes a record's place.
    pub fn portable_temporary(&self, file_name: &str) -> PathBuf {
        self.portable.join(file_name)
    }

    /// The database.
    pub fn store_file(&self) -> PathBuf {
        self.local.join("state.redb")
    }

    /// A copy of the database made before its migration from schema `version`.
    pub fn store_copy(&self, version: &str) -> PathBuf {
        self.local.join(format!("state.redb.v{version}"))
    }

    /// A damaged database as it was before `doctor --fix` repaired a copy of it; `when` is a number.
    pub fn damaged_store(&self, when: &str) -> PathBuf {
        self.local.join(format!("state.redb.damaged-{when}"))
    }

    /// Who owns the database.
    pub fn owner_file(&self) -> PathBuf {
        self.local.join("owner.json")
    }

    /// The options of our own tmux server.
    pub fn tmux_options(&self) -> PathBuf {
        self.local.join("tmux.conf")
    }

    /// Where the owner takes requests, when the path is short enough for a socket.
    pub fn control_socket(&self) -> PathBuf {
        self.local.join("daemon.sock")
    }

    /// Where `doctor --fix` puts portable files that cannot be read.
    pub fn set_aside_dir(&self) -> PathBuf {
        self.local.join("set-aside")
    }

    /// Where a configuration goes before `migrate-config` changes it.
    pub fn config_copies_dir(&self) -> PathBuf {
        self.local.join("config-copies")
    }

    /// Where the working trees of work items are made.
    pub fn worktrees_dir(&self) -> PathBuf {
        self.local.join("worktrees")
    }

    /// Where clones are made, one per repository.
    pub fn clones_dir(&self) -> PathBuf {
        self.local.join("clones")
    }

    /// Where the process runner notes what it is about to start.
    pub fn starts_dir(&self) -> PathBuf {
        self.local.join("starts")
    }

    /// The decision trail.
    pub fn event_log(&self) -> PathBuf {
        self.root.join("logs").join("events.jsonl")
    }

    /// What a detached daemon prints.
    pub fn daemon_output(&self) -> PathBuf {
        self.root.join("logs").join("daemon.log")
    }

    /// What the process runner's programs print.
    pub fn command_output_dir(&self) -> PathBuf {
        self.root.join("logs").join("commands")
    }

    /// The daemon's process id, for people; the lock is the store's.
    pub fn pid_file(&self) -> PathBuf {
        self.root.join("the-loop.pid")
    }
}

#[cfg(test)]
mod tests {
    use super::gitignore::Ignore;
    use super::*;

    const SOURCE: &str = include_str!("mod.rs");

    /// The names of the public accessors of a source text that make a path.
    fn accessors<'a>(source: &'a str) -> Vec<&'a str> {
        let code = source.split("#[cfg(test)]").next().unwrap_or(source);
        let makes_path = |line: &&str| line.contains("&self") && line.contains("-> PathBuf");
        let name = |line: &'a str| line.trim().strip_prefix("pub fn ")?.split('(').next();
        code.lines().filter(makes_path).filter_map(name).collect()
    }

    /// S1: every public path of the layout is named by an entry.
    fn unclassified<'a>(source: &'a str, entries: &[GeneratedPath]) -> Vec<&'a str> {
        let named = |name: &&str| entries.iter().any(|entry| entry.accessor == *name);
        accessors(source).into_iter().filter(|name| !named(name)).collect()
    }

    /// S2: every entry names a real path of the layout, and its default is what that resolves to.
    fn drifted(source: &str, entries: &[GeneratedPath]) -> Vec<&'static str> {
        let layout = StateLayout::new("<root>");
        let real = accessors(source);
        let fits = |entry: &&GeneratedPath| {
            real.contains(&entry.accessor) && (entry.path)(&layout) == Path::new(entry.default.trim_end_matches('/'))
        };
        entries.iter().filter(|entry| !fits(entry)).map(|entry| entry.name).collect()
    }

    /// S5: the block ignores every local default and no portable one.
    fn misjudged(block: &str, entries: &[GeneratedPath]) -> Vec<&'static str> {
        let ignore = Ignore::parse(block);
        let wrong =
            |entry: &&GeneratedPath| ignore.ignores(&entry.default.replace("<root>", DEFAULT_ROOT)) == entry.portable;
        entries.iter().filter(wrong).map(|entry| entry.name).collect()
    }

    #[test]
    fn s1_every_path_is_classified() {
        assert!(accessors(SOURCE).len() >= 14);
        assert_eq!(unclassified(SOURCE, GENERATED_PATHS), Vec::<&str>::new());
        let planted = SOURCE.replacen(
            "    /// The database.\n",
            "    pub fn secret(&self) -> PathBuf {\n        self.root.join(\"secret\")\n    }\n    /// The database.\n",
            1,
        );
        assert_eq!(unclassified(&planted, GENERATED_PATHS), ["secret"]);
        assert_eq!(unclassified(SOURCE, &GENERATED_PATHS[1..]), [GENERATED_PATHS[0].accessor]);
    }

    #[test]
    fn s2_every_entry_is_a_path_with_its_documented_default() {
        assert_eq!(drifted(SOURCE, GENERATED_PATHS), Vec::<&str>::new());
        let mut planted = GENERATED_PATHS.to_vec();
        planted[0].accessor = "gone";
        planted[2].default = "<root>/state.redb";
        assert_eq!(drifted(SOURCE, &planted), [planted[0].name, planted[2].name]);
    }

    #[test]
    fn s5_the_block_ignores_what_is_local_and_nothing_that_travels() {
        assert_eq!(misjudged(IGNORE_BLOCK, GENERATED_PATHS), Vec::<&str>::new());
        let all = |portable| GENERATED_PATHS.iter().filter(move |e| e.portable == portable).map(|e| e.name).collect();
        let (travel, stay): (Vec<_>, Vec<_>) = (all(true), all(false));
        // A whole-tree rule that a negation cannot undo, one in the wrong order, and one that is missing.
        assert_eq!(misjudged(".the-loop/\n!.the-loop/portable/\n", GENERATED_PATHS), travel);
        assert_eq!(misjudged("!/.the-loop/portable/\n/.the-loop/*\n", GENERATED_PATHS), travel);
        assert_eq!(misjudged("", GENERATED_PATHS), stay);
        let without_temporaries = IGNORE_BLOCK.replace(".the-loop/portable/*.tmp\n", "");
        assert_eq!(misjudged(&without_temporaries, GENERATED_PATHS), ["portable temporary"]);
    }

    #[test]
    fn every_entry_says_what_and_why() {
        for entry in GENERATED_PATHS {
            assert!(entry.holds.len() > 10 && entry.why.len() > 20, "{}", entry.name);
        }
    }

    #[test]
    fn folders_can_be_moved_one_by_one() {
        let layout = StateLayout::new("/r").with_local_dir("/elsewhere");
        assert_eq!(layout.store_file(), Path::new("/elsewhere/state.redb"));
        assert_eq!(layout.pid_file(), Path::new("/r/the-loop.pid"));
        assert_eq!(layout.with_portable_dir("/p").portable_record("a.json"), Path::new("/p/a.json"));
    }
}
