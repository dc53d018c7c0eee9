//! The sections about what hosts agents: harnesses, tmux, working directories, trust, environment.

use super::rules;
use super::schema::{Key, Rule, Section};
use super::values::words;

/// One entry of `routing.harnesses`: how a harness of the operator's own is started and spoken to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HarnessConfig {
    /// The program.
    pub binary: String,
    /// Arguments of a new conversation; `{conversation}`, `{ref}` and `{cwd}` are filled in.
    pub new: Vec<String>,
    /// Arguments that resume a conversation; empty when it cannot.
    pub resume: Vec<String>,
    /// Wait between paste and submit, milliseconds.
    pub submit_delay_ms: u32,
    /// Whether it takes several lines as one paste.
    pub bracketed_paste: bool,
    /// Patterns on the screen that mean a dialog waits for a person.
    pub dialogs: Vec<String>,
    /// How the line begins in which it is typed.
    pub input_marks: Vec<String>,
}

impl Section for HarnessConfig {
    const KEYS: &'static [Key<Self>] = &[
        Key::new("binary", "the program", |s: &mut Self| &mut s.binary).rule(Rule::Text(&rules::FILLED)).required(),
        Key::new(
            "new",
            "arguments of a new conversation; `{conversation}`, `{ref}` and `{cwd}` are filled in",
            |s: &mut Self| &mut s.new,
        )
        .rule(Rule::Text(&rules::TEMPLATE)),
        Key::new("resume", "arguments that resume a conversation; empty when it cannot", |s: &mut Self| &mut s.resume)
            .rule(Rule::Text(&rules::TEMPLATE)),
        Key::new("submitDelayMs", "wait between paste and submit, milliseconds", |s: &mut Self| &mut s.submit_delay_ms)
            .rule(Rule::Range(0, 10_000)),
        Key::new(
            "bracketedPaste",
            "whether it takes several lines as one paste; without it a text is submitted line by line",
            |s: &mut Self| &mut s.bracketed_paste,
        ),
        Key::new("dialogs", "patterns on the screen that mean a dialog waits for a person", |s: &mut Self| {
            &mut s.dialogs
        })
        .rule(Rule::Text(&rules::DIALOG)),
        Key::new(
            "inputMarks",
            "how the line begins in which it is typed; with the cursor behind one, a person has begun a line",
            |s: &mut Self| &mut s.input_marks,
        )
        .rule(Rule::Text(&rules::DIALOG)),
    ];
}

/// What hosts harnesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runner {
    /// tmux where it is, else processes.
    Auto,
    /// tmux only.
    Tmux,
    /// One process per delivery.
    Process,
}

words!(Runner: "auto" => Runner::Auto, "tmux" => Runner::Tmux, "process" => Runner::Process);

/// `routing.tmux`.
#[derive(Debug, Clone, PartialEq)]
pub struct TmuxConfig {
    /// Name of the socket; empty is the user's own server.
    pub socket: String,
    /// Whether pull requests get conversations of their own.
    pub session_per_pr: bool,
    /// Whether a pane stays when its session ends.
    pub keep_session_on_close: bool,
    /// Whether a harness that died resumes its conversation.
    pub resume_on_respawn: bool,
    /// Seconds between asking a harness to end and killing it.
    pub harness_kill_grace_seconds: u32,
}

impl Default for TmuxConfig {
    fn default() -> Self {
        Self {
            socket: "the-loop".into(),
            session_per_pr: true,
            keep_session_on_close: true,
            resume_on_respawn: true,
            harness_kill_grace_seconds: 5,
        }
    }
}

impl Section for TmuxConfig {
    const KEYS: &'static [Key<Self>] = &[
        Key::new("socket", "socket of our own tmux server; empty is yours", |s: &mut Self| &mut s.socket)
            .rule(Rule::Text(&rules::SOCKET))
            .restart(),
        Key::new("sessionPerPr", "a conversation for each pull request", |s: &mut Self| &mut s.session_per_pr),
        Key::new("keepSessionOnClose", "keep pane and scroll-back when a session ends", |s: &mut Self| {
            &mut s.keep_session_on_close
        }),
        Key::new("resumeOnRespawn", "resume the conversation of a harness that died", |s: &mut Self| {
            &mut s.resume_on_respawn
        }),
        Key::new(
            "harnessKillGraceSeconds",
            "seconds between asking a harness to end and killing it",
            |s: &mut Self| &mut s.harness_kill_grace_seconds,
        )
        .rule(Rule::Range(0, 600)),
    ];
}

/// How a working directory comes to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// A git worktree per work item.
    Worktree,
    /// A clone per work item.
    Clone,
    /// `spawnWorkdir`, for all.
    Shared,
}

words!(Strategy: "worktree" => Strategy::Worktree, "clone" => Strategy::Clone, "shared" => Strategy::Shared);

/// How repositories are cloned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CloneProtocol {
    /// HTTPS.
    Https,
    /// SSH.
    Ssh,
}

words!(CloneProtocol: "https" => CloneProtocol::Https, "ssh" => CloneProtocol::Ssh);

/// `routing.workspace`.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkspaceConfig {
    /// Directory of clones; empty uses the repository the daemon stands in.
    pub root: String,
    /// How a working directory comes to be.
    pub strategy: Strategy,
    /// How repositories are cloned.
    pub clone_protocol: CloneProtocol,
    /// Whether a clean and pushed checkout stays when its item ends.
    pub keep_checkout_on_close: bool,
}

impl Default for WorkspaceConfig {
    fn default() -> Self {
        Self {
            root: String::new(),
            strategy: Strategy::Worktree,
            clone_protocol: CloneProtocol::Https,
            keep_checkout_on_close: false,
        }
    }
}

impl Section for WorkspaceConfig {
    const KEYS: &'static [Key<Self>] = &[
        Key::new("root", "directory of clones; empty uses the repository at hand", |s: &mut Self| &mut s.root)
            .rule(Rule::Text(&rules::FILE))
            .restart(),
        Key::new("strategy", "how a working directory comes to be", |s: &mut Self| &mut s.strategy),
        Key::new("cloneProtocol", "how repositories are cloned", |s: &mut Self| &mut s.clone_protocol),
        Key::new("keepCheckoutOnClose", "keep a clean and pushed checkout when its item ends", |s: &mut Self| {
            &mut s.keep_checkout_on_close
        }),
    ];
}

/// How far a harness's trust reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustScope {
    /// `workspace.root` and what is below it.
    WorkspaceRoot,
    /// The working directory alone.
    Directory,
}

words!(TrustScope: "workspace-root" => TrustScope::WorkspaceRoot, "directory" => TrustScope::Directory);

/// `routing.harnessTrust`.
#[derive(Debug, Clone, PartialEq)]
pub struct HarnessTrustConfig {
    /// Whether the harness's own trust is recorded before it starts.
    pub enabled: bool,
    /// How far it reaches.
    pub scope: TrustScope,
}

impl Default for HarnessTrustConfig {
    fn default() -> Self {
        Self { enabled: true, scope: TrustScope::WorkspaceRoot }
    }
}

impl Section for HarnessTrustConfig {
    const KEYS: &'static [Key<Self>] = &[
        Key::new("enabled", "record the harness's trust in a directory before it starts", |s: &mut Self| {
            &mut s.enabled
        }),
        Key::new("scope", "how far that trust reaches", |s: &mut Self| &mut s.scope),
    ];
}

/// `routing.environment`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EnvironmentConfig {
    /// Variables that sessions see beside the safe base set.
    pub pass: Vec<String>,
}

impl Section for EnvironmentConfig {
    const KEYS: &'static [Key<Self>] =
        &[Key::new("pass", "variables that sessions may see beside a safe base set", |s: &mut Self| &mut s.pass)
            .rule(Rule::Text(&rules::VARIABLE))];
}
