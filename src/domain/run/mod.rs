//! Runs: what an agent is at, so that it can be interrupted and resume honestly (`runs` rules, section 1).
//!
//! One live run per project, in `.loop/continuity.json`. Everything here is pure: files, git and the terminal are asked
//! by others, and what they said comes in as arguments.

mod archive;
mod command;
mod gates;
mod identity;
mod record;
mod shape;

pub use archive::{Leftover, archive_name, archive_number, judge_leftover};
pub use command::{Actor, Command, Refusal, apply, start};
pub use gates::{Gate, Reconciliation, Report, WorkItemState, gates};
pub use identity::{Identity, Mismatch, Project, RemoteKind};
pub use record::{
    Blocker, Integrity, ProfileName, Recovery, Run, Setting, Stage, Status, TaskId, is_transition, transitions,
};
pub use shape::{Corrupt, SCHEMA, parse, render, task_id};
