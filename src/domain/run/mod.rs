//! Runs: what an agent is at, so that it can be interrupted and resume honestly (`runs` rules, section 1).
//!
//! One live run per project, in `.loop/continuity.json`. Everything here is pure: files, git and the terminal are asked
//! by others, and what they said comes in as arguments.

mod archive;
mod command;
mod gates;
mod identity;
mod ports;
mod record;
mod shape;
mod told;

pub use archive::{Leftover, Mark, archive_name, archive_number, judge_leftover, manifest_name};
pub use command::{Actor, Command, Refusal, apply, check_speaker, start};
pub use gates::{Gate, Reconciliation, Report, WorkItemState, gates};
pub use identity::{Identity, Mismatch, Project, RemoteKind};
pub use ports::{
    Document, FilesError, Listed, NoRuns, ProjectError, ProjectFacts, RunFiles, RunPlace, RunPlaces, Temporary,
};
pub use record::{
    Blocker, Integrity, ProfileName, Recovery, Run, Setting, Stage, Status, TaskId, is_transition, transitions,
};
pub use shape::{Corrupt, LARGEST, SCHEMA, document, parse, render, strict_json, task_id};
pub use told::for_prompt;
