//! What every generated path is, whether it travels, and why. Nothing reads this at run time; tests hold it against
//! the code, the documentation and `.gitignore`.

use std::path::PathBuf;

use super::StateLayout;

/// One path the program writes under its root.
#[derive(Debug, Clone, Copy)]
pub struct GeneratedPath {
    /// Label for people.
    pub name: &'static str,
    /// The accessor of [`StateLayout`] it derives from.
    pub accessor: &'static str,
    /// That accessor, called.
    pub path: fn(&StateLayout) -> PathBuf,
    /// The documented path; a folder ends in `/`.
    pub default: &'static str,
    /// Whether it means anything on another machine.
    pub portable: bool,
    /// Who writes it.
    pub writer: &'static str,
    /// What is in it.
    pub holds: &'static str,
    /// Why it travels, or stays.
    pub why: &'static str,
}

/// Every path under the root.
pub const GENERATED_PATHS: &[GeneratedPath] = &[
    GeneratedPath {
        name: "work item record",
        accessor: "portable_record",
        path: |layout| layout.portable_record("<slug>.json"),
        default: "<root>/portable/<slug>.json",
        portable: true,
        writer: "the exporter",
        holds: "one record per work item: `control`, `poll`, `ended`, and sections of other versions",
        why: "what an authorised person asked for and what GitHub already told us is true on any machine",
    },
    GeneratedPath {
        name: "configuration",
        accessor: "configuration",
        path: StateLayout::configuration,
        default: "<root>/cli-config.yaml",
        portable: true,
        writer: "`init`, then people",
        holds: "the configuration, where the root is the folder it lies in; `init` writes it once",
        why: "who may speak to an agent and how work is done here holds on any machine",
    },
    GeneratedPath {
        name: "portable temporary",
        accessor: "portable_temporary",
        path: |layout| layout.portable_temporary("<slug>.json.<n>.tmp"),
        default: "<root>/portable/<slug>.json.<n>.tmp",
        portable: false,
        writer: "the exporter",
        holds: "a record on its way to its place, or one that a crash left there",
        why: "only the exporter of this machine knows whether its content was taken in",
    },
    GeneratedPath {
        name: "store",
        accessor: "store_file",
        path: StateLayout::store_file,
        default: "<root>/local/state.redb",
        portable: false,
        writer: "the store's owner",
        holds: "sessions, pull-request endpoints, identities, effects, cursors, the live sections",
        why: "conversation ids, folders and panes of this machine: elsewhere they name nothing, or something else",
    },
    GeneratedPath {
        name: "store copy",
        accessor: "store_copy",
        path: |layout| layout.store_copy("<n>"),
        default: "<root>/local/state.redb.v<n>",
        portable: false,
        writer: "the store's owner",
        holds: "the store as it was before its migration from schema <n>",
        why: "it holds what the store holds, and goes back only on the machine it was made on",
    },
    GeneratedPath {
        name: "damaged store",
        accessor: "damaged_store",
        path: |layout| layout.damaged_store("<n>"),
        default: "<root>/local/state.redb.damaged-<n>",
        portable: false,
        writer: "`doctor --fix`",
        holds: "a damaged store as it was before a copy of it was repaired",
        why: "it is kept for whoever wants to look into it, on the machine it was damaged on",
    },
    GeneratedPath {
        name: "owner",
        accessor: "owner_file",
        path: StateLayout::owner_file,
        default: "<root>/local/owner.json",
        portable: false,
        writer: "the store's owner",
        holds: "process id, start time, kind, version, receiver and socket of the process that owns the store",
        why: "process ids mean nothing on another machine",
    },
    GeneratedPath {
        name: "tmux options",
        accessor: "tmux_options",
        path: StateLayout::tmux_options,
        default: "<root>/local/tmux.conf",
        portable: false,
        writer: "the store's owner",
        holds: "the options that our own tmux server is started with",
        why: "it is written again by every start, for the tmux of this machine",
    },
    GeneratedPath {
        name: "control socket",
        accessor: "control_socket",
        path: StateLayout::control_socket,
        default: "<root>/local/daemon.sock",
        portable: false,
        writer: "the daemon",
        holds: "nothing; commands reach the daemon through it",
        why: "a socket is a handle to a process of this machine",
    },
    GeneratedPath {
        name: "files set aside",
        accessor: "set_aside_dir",
        path: StateLayout::set_aside_dir,
        default: "<root>/local/set-aside/",
        portable: false,
        writer: "`doctor --fix`",
        holds: "portable files that could not be read, kept as they were",
        why: "what cannot be read must not travel on as if it were a record",
    },
    GeneratedPath {
        name: "configuration copies",
        accessor: "config_copies_dir",
        path: StateLayout::config_copies_dir,
        default: "<root>/local/config-copies/",
        portable: false,
        writer: "`migrate-config`",
        holds: "configurations as they were before they were migrated",
        why: "the configuration itself travels; what it was before is for whoever wants to compare",
    },
    GeneratedPath {
        name: "working trees",
        accessor: "worktrees_dir",
        path: StateLayout::worktrees_dir,
        default: "<root>/local/worktrees/",
        portable: false,
        writer: "the daemon",
        holds: "one git working tree per work item",
        why: "a working tree points to a clone of this machine; its branch travels by git",
    },
    GeneratedPath {
        name: "clones",
        accessor: "clones_dir",
        path: StateLayout::clones_dir,
        default: "<root>/local/clones/",
        portable: false,
        writer: "the daemon",
        holds: "one git clone per repository that is not checked out here",
        why: "a clone is made again from its remote wherever it is needed",
    },
    GeneratedPath {
        name: "start notes",
        accessor: "starts_dir",
        path: StateLayout::starts_dir,
        default: "<root>/local/starts/",
        portable: false,
        writer: "the daemon",
        holds: "one note per conversation of the process runner: what was started and how it ended",
        why: "it speaks of processes of this machine",
    },
    GeneratedPath {
        name: "event log",
        accessor: "event_log",
        path: StateLayout::event_log,
        default: "<root>/logs/events.jsonl",
        portable: false,
        writer: "the event log",
        holds: "the decision trail, one JSON object per line",
        why: "it tells what this machine did; two machines' logs do not merge",
    },
    GeneratedPath {
        name: "daemon output",
        accessor: "daemon_output",
        path: StateLayout::daemon_output,
        default: "<root>/logs/daemon.log",
        portable: false,
        writer: "the daemon",
        holds: "what a detached daemon prints",
        why: "it tells what this machine did",
    },
    GeneratedPath {
        name: "command output",
        accessor: "command_output_dir",
        path: StateLayout::command_output_dir,
        default: "<root>/logs/commands/",
        portable: false,
        writer: "the daemon",
        holds: "what the programs of the process runner print: the present and the one before, per conversation",
        why: "agents print whatever they see, secrets of this machine included",
    },
    GeneratedPath {
        name: "pidfile",
        accessor: "pid_file",
        path: StateLayout::pid_file,
        default: "<root>/the-loop.pid",
        portable: false,
        writer: "the daemon",
        holds: "process id, version and start time; advisory, the lock is the store's",
        why: "process ids mean nothing on another machine",
    },
];

/// What `.gitignore` has to say. The four patterns never change; the comment may.
pub const IGNORE_BLOCK: &str = "\
# the-loop: generated state under state.root (default .the-loop), see docs/cli/state.md.
# What belongs to this machine (store, logs, pidfile) is never committed.
# .the-loop/portable/ travels with the work: it is committed, its temporaries are not.
.the-loop/local/
.the-loop/logs/
.the-loop/*.pid
.the-loop/portable/*.tmp
";
