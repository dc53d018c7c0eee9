//! What the product asks of the outside world, as traits that the adapters implement.

use std::fmt;
use std::path::{Path, PathBuf};

use super::earlier::Tree;
use super::git::{FileText, GitError, Judged};
use super::harness::{Keeps, Mode};
use super::ids::{BatchId, ConversationId, InstanceId};
use super::portable::files::{Export, FileError, Held, Located, Look, Written};
use super::portable::{FolderId, Stamp};
use super::reference::{RepoRef, WorkItemRef};
use super::session::{Life, PaneKey};
use super::time::Time;
use super::workspace::{Checkout, Keep, Tidied, WorkspaceError};

/// The clock.
pub trait Clock: Send + Sync {
    /// Now, UTC.
    fn now(&self) -> Time;
}

/// Fresh ids.
pub trait Ids: Send + Sync {
    /// A random UUID in lower-case hyphenated form.
    fn uuid(&self) -> String;
    /// A number below `bound`, for jitter.
    fn below(&self, bound: u64) -> u64;
    /// An id for this run of the program.
    fn instance(&self) -> InstanceId {
        InstanceId(self.uuid())
    }
    /// Whether the process that made `instance` still runs; false where that cannot be told.
    fn is_living(&self, instance: &InstanceId) -> bool {
        let _ = instance;
        false
    }
}

/// A harness ready to be started: what to run, where, with which marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpawnRequest {
    /// Key of the endpoint's pane.
    pub key: PaneKey,
    /// The id of the store, kept on the pane.
    pub store: String,
    /// The endpoint's reference, kept on the pane.
    pub reference: WorkItemRef,
    /// Session name wanted, already free of `.`, `:` and `#`.
    pub session_name: String,
    /// Session name when the wanted one belongs to another item.
    pub fallback_name: String,
    /// Working directory.
    pub cwd: PathBuf,
    /// Program and arguments; never a shell line.
    pub argv: Vec<String>,
    /// Variables the session gets beside the server's scrubbed environment.
    pub env: Vec<(String, String)>,
}

/// A session that the earlier system started, to be taken over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakeOver {
    /// Key the pane is to carry.
    pub key: PaneKey,
    /// The id of the store, to be kept on the pane.
    pub store: String,
    /// The endpoint's reference, to be kept on the pane.
    pub reference: WorkItemRef,
    /// Its name, as tmux keeps it.
    pub session_name: String,
}

/// How a harness takes text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PasteStyle {
    /// Wait between paste and submit, milliseconds.
    pub submit_delay_ms: u32,
    /// Patterns on the screen that mean a dialog waits for a person; none holds `}`, `,` or `'`.
    pub dialogs: Vec<String>,
    /// How the line begins in which it is typed. With the cursor behind one of these, a person has begun a line there.
    pub input_marks: Vec<String>,
}

/// One delivery into a pane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliverRequest {
    /// The key the pane must carry.
    pub key: PaneKey,
    /// The life it must be.
    pub life: Life,
    /// The delivery's name.
    pub batch: BatchId,
    /// The text, already made safe; handed over as a file, never as an argument.
    pub text: String,
    /// How the harness takes it.
    pub style: PasteStyle,
    /// What to run, where a delivery is a process of its own.
    pub program: Option<Program>,
}

/// One process that takes one text on its standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Program and arguments; never a shell line, never the text.
    pub argv: Vec<String>,
    /// Working directory.
    pub cwd: PathBuf,
    /// Variables it gets beside the scrubbed environment.
    pub env: Vec<(String, String)>,
    /// How long it may run, milliseconds.
    pub limit_ms: u64,
    /// Wait between SIGTERM and SIGKILL when that is over, milliseconds.
    pub grace_ms: u64,
}

/// What came of a delivery into a pane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivered {
    /// Pasted and submitted.
    Submitted,
    /// Pasted; the pane changed before the submit.
    PastedOnly,
    /// Nothing was pasted: the pane did not satisfy the condition.
    Refused(Refusal),
    /// The runner could not be asked; nothing was pasted.
    NotRun(String),
    /// Nobody can know.
    Unknown(String),
    /// A process of its own took it and runs.
    Running,
    /// That process ended well; what it printed, cut.
    Finished(String),
    /// That process ended badly, which was seen.
    Failed(String),
    /// That process was begun, and how far it came nobody will ever know.
    Lost(String),
}

/// Why a pane took nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The pane is gone, or is another life.
    OtherLife,
    /// The harness ended.
    Dead,
    /// A dialog is on the screen, a person has half typed a line, or input is off: wait.
    Busy(String),
}

/// What a pane remembers of a delivery whose end nobody saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remembered {
    /// Pasted and submitted.
    Submitted,
    /// Pasted, not submitted; same life.
    PastedOnly,
    /// Nothing of it; same life.
    Nothing,
    /// The pane is of another life: it cannot say.
    OtherLife,
    /// There is no pane, but a note of how it went.
    Noted(Delivered),
}

/// A pane with our marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pane {
    /// The key it carries.
    pub key: String,
    /// The store it belongs to.
    pub store: String,
    /// The reference it carries.
    pub reference: String,
    /// Its life.
    pub life: Life,
    /// Whether the harness ended, with its exit status when known.
    pub dead: Option<Option<i32>>,
    /// Whether surely nothing but a shell is left in it, which is not what was started.
    pub only_shell: bool,
}

impl Pane {
    /// Whether an agent may be in it: it is not dead, and not surely left to a shell.
    pub const fn may_host(&self) -> bool {
        self.dead.is_none() && !self.only_shell
    }
}

/// Why the runner did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunnerError {
    /// It could not be reached; what it hosts may well be alive.
    #[error("{0}")]
    Unreachable(String),
    /// The harness did not start or ended at once; the text is its last screen or the reason.
    #[error("{0}")]
    SpawnFailed(String),
    /// A session for this reference under another store is alive on our socket.
    #[error("a living session for `{reference}` belongs to another store ({store})")]
    OtherStore {
        /// The reference.
        reference: String,
        /// The other store's id.
        store: String,
    },
}

/// What hosts harnesses.
pub trait Runner: Send + Sync {
    /// How harnesses are started from now on.
    fn mode(&self) -> Mode {
        Mode::Terminal
    }
    /// Starts a harness, or finds the living pane that already carries the key. A harness that exits within two
    /// seconds is a failed spawn; a request that got no answer is `Unreachable`.
    fn spawn(&self, request: &SpawnRequest) -> Result<Life, RunnerError>;
    /// Waits until the pane has shown nothing new for half a second, at most `limit_ms`.
    fn settle_screen(&self, life: &Life, limit_ms: u64);
    /// The last lines a pane shows; `None` when nobody can say.
    fn last_screen(&self, life: &Life) -> Option<String> {
        let _ = life;
        None
    }
    /// Hands over one text.
    fn deliver(&self, request: &DeliverRequest) -> Delivered;
    /// What the pane remembers of `batch`, after every client that carried it is gone.
    fn recall(
        &self,
        key: &PaneKey,
        life: &Life,
        batch: &BatchId,
        style: &PasteStyle,
    ) -> Result<Remembered, RunnerError>;
    /// Submits what was pasted, under the same condition as a delivery.
    fn submit(&self, request: &DeliverRequest) -> Delivered;
    /// Takes over a session that the earlier system started on the user's own server: its pane gets our marks. `None`
    /// when there is surely none of this name that runs.
    fn take_over(&self, request: &TakeOver) -> Result<Option<Life>, RunnerError> {
        let _ = request;
        Ok(None)
    }
    /// All panes that carry our marks. An empty list is sure; `Unreachable` is not.
    fn panes(&self) -> Result<Vec<Pane>, RunnerError>;
    /// Ends the harness of a pane that carries `key`: SIGTERM to its group, grace, SIGKILL. Ending what is gone is done.
    fn end(&self, key: &PaneKey, life: &Life, grace_ms: u64, keep_pane: bool) -> Result<(), RunnerError>;
}

/// What a harness keeps for its user beside what it shows: trust in directories, and transcripts.
pub trait HarnessFiles: Send + Sync {
    /// Sees to it that the harness trusts `directory`; true when that was news.
    fn trust(&self, directory: &Path) -> Result<bool, TrustError>;
    /// Whether there is a transcript of a conversation in `cwd`; `None` when nobody can say.
    fn has_transcript(&self, keeps: Keeps, cwd: &Path, conversation: &ConversationId) -> Option<bool>;
    /// Whether the transcript shows within `limit_ms` that the user said `word`. False is no evidence against it.
    fn shows(&self, keeps: Keeps, cwd: &Path, conversation: &ConversationId, word: &str, limit_ms: u64) -> bool;
    /// The one conversation in `cwd` whose transcript shows within `limit_ms` that the user said `word` in the last
    /// minutes. `None` where there is none, or more than one.
    fn conversation_with(&self, keeps: Keeps, cwd: &Path, word: &str, limit_ms: u64) -> Option<ConversationId>;
}

/// Why a directory was not trusted: nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("could not make the harness trust {}: {reason}", directory.display())]
pub struct TrustError {
    /// The directory.
    pub directory: PathBuf,
    /// Why not.
    pub reason: String,
}

/// Where the decision trail is written.
pub trait EventLog: Send {
    /// Appends whole lines, durably, in order.
    fn append(&mut self, lines: &[String]) -> Result<(), LogError>;
    /// The lines in the last `bytes` of the log, the first of them perhaps cut.
    fn last_lines(&mut self, bytes: u64) -> Result<Vec<String>, LogError>;
}

/// Why the log could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("cannot {what} the event log {}: {source}", path.display())]
pub struct LogError {
    /// What was tried.
    pub what: &'static str,
    /// On which file.
    pub path: PathBuf,
    /// Why it failed.
    pub source: std::io::Error,
}

/// The folder of portable records. A folder that is not there has no files; only an export makes it.
pub trait PortableFiles: Send + Sync {
    /// Which folder this is now; stamps are kept per folder. `None` when there is none.
    fn folder(&self) -> Result<Option<FolderId>, FileError>;
    /// The file names of all records.
    fn names(&self) -> Result<Vec<String>, FileError>;
    /// The items whose export was cut off by a crash: exporting each of them joins and removes what is left.
    fn leftovers(&self, now: Time) -> Result<Vec<WorkItemRef>, FileError>;
    /// Compares a file with the stamp the store keeps, and reads it only when that cannot tell.
    fn look(&self, name: &str, known: Option<&Stamp>, now: Time) -> Result<Look, FileError>;
    /// As [`PortableFiles::look`], for many files at once; answers which folder it was.
    fn look_each(
        &self,
        files: &[(&str, Option<&Stamp>)],
        now: Time,
        told: &mut dyn FnMut(usize, Look),
    ) -> Result<Option<FolderId>, FileError> {
        for (at, (name, known)) in files.iter().enumerate() {
            told(at, self.look(name, *known, now)?);
        }
        self.folder()
    }
    /// Finds an item's files by the reference inside them.
    fn locate(&self, item: &WorkItemRef, now: Time) -> Result<Located, FileError>;
    /// Brings files up to date as the folder's one writer, and tells of each as it is done.
    ///
    /// # Errors
    /// Nothing was done: the folder cannot be made or read, or another writer keeps it locked.
    fn export(
        &self,
        items: &[Export<'_>],
        done: &mut dyn FnMut(usize, Result<Written, Held>),
    ) -> Result<FolderId, FileError>;
    /// Takes the files of these items out of the folder, and tells of each the name that is gone. A file that says more
    /// than the record, or is not there, gives none.
    ///
    /// # Errors
    /// As [`PortableFiles::export`].
    fn remove(
        &self,
        items: &[Export<'_>],
        done: &mut dyn FnMut(usize, Result<Option<String>, Held>),
    ) -> Result<(), FileError> {
        (0..items.len()).for_each(|at| done(at, Ok(None)));
        Ok(())
    }
    /// Tells of each item whether an export would change its file; writes nothing and takes no lock.
    fn check(&self, items: &[Export<'_>], told: &mut dyn FnMut(usize, Result<bool, Held>)) -> Result<(), FileError>;
}

/// Directories of work items, one each. Everything can be asked again: what is there is not made twice, what is gone is not
/// removed twice.
pub trait Workspaces: fmt::Debug + Send + Sync {
    /// The item's directory, on its own branch; made when it is not there. `had` is where it worked before, perhaps under
    /// another name: one of ours is used again.
    ///
    /// # Errors
    /// See [`WorkspaceError`].
    fn prepare(&self, item: &WorkItemRef, had: Option<&Path>) -> Result<PathBuf, WorkspaceError>;
    /// Whether this path is one where directories of items are made, whatever lies there.
    fn owns(&self, path: &Path) -> bool;
    /// Removes the item's directory when everything in it is committed and pushed. Nothing outside our own places goes.
    ///
    /// # Errors
    /// It could not be looked at.
    fn tidy(&self, item: &WorkItemRef, had: Option<&Path>) -> Result<Tidied, WorkspaceError>;
    /// All there are. Looks only at files.
    fn checkouts(&self) -> Vec<Checkout>;
    /// Why [`Workspaces::tidy`] would keep this one.
    ///
    /// # Errors
    /// It could not be looked at.
    fn keeps(&self, path: &Path) -> Result<Option<Keep>, WorkspaceError>;
    /// Why there is a directory for no item at all, or for none of one of these repositories, as far as that can be told
    /// without an item.
    fn trouble(&self, repositories: &[RepoRef]) -> Vec<String>;
}

/// git, asked about one working tree. Paths are relative to its top, `/` between their parts.
pub trait Git {
    /// The top of the working tree, absolute.
    fn top(&self) -> &Path;
    /// What decides whether each of these is ignored, the index aside.
    fn judge(&self, paths: &[String]) -> Result<Vec<Judged>, GitError>;
    /// What is in the index at or below these paths.
    fn tracked(&self, paths: &[String]) -> Result<Vec<String>, GitError>;
    /// The values of these attributes of a path.
    fn attributes(&self, path: &str, names: &[&str]) -> Result<Vec<String>, GitError>;
    /// A key of the configuration, wherever it is set.
    fn setting(&self, key: &str) -> Result<Option<String>, GitError>;
    /// Sets a key of the repository's own configuration, which its working trees share.
    fn set(&self, key: &str, value: &str) -> Result<(), GitError>;
    /// Whether a program can be run from here: a name in `PATH`, or a path.
    fn finds(&self, program: &str) -> bool;
    /// Reads a file of lines.
    fn read(&self, path: &Path) -> Result<FileText, GitError>;
    /// Gives a file this content, whole or not at all; a link is not followed.
    fn write(&self, path: &Path, text: &str) -> Result<(), GitError>;
}

/// What a command came to that was run to show something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Its exit code; 128 and more for a signal, 124 when it took too long or printed too much, 127 when it could not be run.
    pub exit_code: i64,
    /// How long it took, milliseconds.
    pub duration_ms: u64,
    /// SHA-256 of what it printed, both streams as they came, in hex.
    pub output_digest: String,
    /// The end of what it printed.
    pub output_tail: String,
}

/// How much a program may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Time.
    pub time: std::time::Duration,
    /// Bytes printed.
    pub output: u64,
}

/// Runs commands at the root of a project, without a shell.
pub trait Checks {
    /// Runs one to its end, or to the end of its time, and ends what it leaves running.
    fn run(&self, argv: &[String], limit: std::time::Duration) -> Checked;
}

/// What the earlier system left under the state root.
pub trait EarlierFiles: Send + Sync {
    /// Everything there is; `None` when no file can have changed since the last time, unless `anew`.
    fn read(&self, anew: bool) -> Option<Tree>;
}

/// Where no earlier system was.
impl EarlierFiles for () {
    fn read(&self, _: bool) -> Option<Tree> {
        None
    }
}
