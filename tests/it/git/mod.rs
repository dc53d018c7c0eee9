//! The product beside real git: `init`, the merge driver, doctor's part, and work that moves between clones.

mod daemons;
mod doctor;
mod driver;
mod exchange;
mod hand_over;
mod init;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::program::world::Ran;

/// What every call of git says of itself.
const IDENTITY: [(&str, &str); 5] = [
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_AUTHOR_NAME", "mona"),
    ("GIT_AUTHOR_EMAIL", "mona@example.invalid"),
    ("GIT_COMMITTER_NAME", "mona"),
    ("GIT_COMMITTER_EMAIL", "mona@example.invalid"),
];

/// A folder with a user's home, a bare repository everybody pushes to, and clones of it.
pub struct Ground {
    pub dir: TempDir,
}

/// One working tree.
pub struct Tree {
    pub path: PathBuf,
    home: PathBuf,
}

impl Ground {
    pub fn new() -> Self {
        let ground = Self { dir: tempfile::tempdir().unwrap() };
        fs::create_dir(ground.path("user")).unwrap();
        ground.at("").git(&["init", "-q", "--bare", "-b", "main", "hub.git"]);
        ground
    }

    pub fn path(&self, name: &str) -> PathBuf {
        // Git tells paths without links in them.
        self.dir.path().canonicalize().unwrap().join(name)
    }

    /// A folder of it as a working tree.
    pub fn at(&self, name: &str) -> Tree {
        Tree { path: self.path(name), home: self.path("user") }
    }

    /// A clone of the bare repository.
    pub fn clone(&self, name: &str) -> Tree {
        self.at("").git(&["clone", "-q", "hub.git", name]);
        let tree = self.at(name);
        tree.git(&["checkout", "-q", "-B", "main"]);
        tree
    }

    /// A repository of its own.
    pub fn repository(name: &str) -> (Self, Tree) {
        let ground = Self::new();
        let tree = ground.at(name);
        fs::create_dir_all(&tree.path).unwrap();
        tree.git(&["init", "-q", "-b", "main"]);
        (ground, tree)
    }
}

impl Tree {
    fn clean(&self, mut command: Command) -> Command {
        let bin = Path::new(env!("CARGO_BIN_EXE_the-loop")).parent().unwrap();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(std::iter::once(bin.to_owned()).chain(std::env::split_paths(&path))).unwrap();
        command.current_dir(&self.path).env_clear().envs(IDENTITY).env("HOME", &self.home).env("PATH", path);
        command.env("USER", "mona");
        command
    }

    /// git, with its outcome.
    pub fn try_git(&self, args: &[&str]) -> Output {
        let mut command = Command::new("git");
        command.args(args);
        self.clean(command).output().unwrap()
    }

    /// git that must succeed; what it said, blanks around it gone.
    pub fn git(&self, args: &[&str]) -> String {
        let output = self.try_git(args);
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        assert!(output.status.success(), "git {args:?}: {}{}", said(&output.stdout), said(&output.stderr));
        said(&output.stdout)
    }

    /// The binary here, with this user's environment.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_the-loop"));
        command.args(args);
        self.clean(command)
    }

    pub fn run(&self, line: &str) -> Ran {
        Ran::of(self.command(&line.split_whitespace().collect::<Vec<_>>()).output().unwrap())
    }

    /// Runs what must succeed.
    pub fn done(&self, line: &str) -> Ran {
        let ran = self.run(line);
        assert_eq!(ran.code, Some(0), "{line}: {ran:?}");
        ran
    }

    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn text(&self, path: &str) -> String {
        fs::read_to_string(self.path.join(path)).unwrap()
    }

    /// Whether git ignores a path, the index aside.
    pub fn ignores(&self, path: &str) -> bool {
        self.try_git(&["check-ignore", "-q", "--no-index", path]).status.success()
    }

    pub fn status(&self) -> String {
        self.git(&["status", "--porcelain"])
    }

    /// Commits everything, if there is anything.
    pub fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        if !self.status().is_empty() {
            self.git(&["commit", "-q", "-m", message]);
        }
    }
}
