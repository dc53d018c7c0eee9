//! What changes a run: each command as one pure step from the state that was read to the state to be written.

use std::collections::BTreeMap;
use std::fmt;

use super::identity::{Identity, Mismatch};
use super::record::{
    Blocker, Integrity, ProfileName, Recovery, Run, Setting, Stage, Status, is_transition, transitions,
};
use super::shape::task_id;
use crate::domain::time::Time;

/// A command on a live run.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Writes down where the work is; an active run only.
    Checkpoint {
        /// The stage, when it changed.
        stage: Option<Stage>,
        /// A note on it.
        note: Option<String>,
        /// Settings to set.
        settings: BTreeMap<String, Setting>,
    },
    /// Puts it aside.
    Pause,
    /// Something has to happen first.
    Block {
        /// What.
        reason: String,
    },
    /// It has happened.
    Unblock,
    /// It was interrupted.
    Recover {
        /// By what.
        reason: String,
    },
    /// Goes on; whoever calls it has passed the gates.
    Resume,
    /// It is done; whoever calls it has the evaluator's PASS.
    Complete,
    /// It is given up.
    Cancel {
        /// Why.
        reason: String,
    },
}

impl Command {
    /// The word on the command line.
    pub const fn verb(&self) -> &'static str {
        match self {
            Self::Checkpoint { .. } => "checkpoint",
            Self::Pause => "pause",
            Self::Block { .. } => "block",
            Self::Unblock => "unblock",
            Self::Recover { .. } => "recover",
            Self::Resume => "resume",
            Self::Complete => "complete",
            Self::Cancel { .. } => "cancel",
        }
    }

    /// From which states it goes, and where it leads; the checkpoint stays where it is.
    const fn way(&self) -> (&'static [Status], Status) {
        use Status::{Active, Blocked, Cancelled, Completed, Paused, RecoveryRequired};
        match self {
            Self::Checkpoint { .. } => (&[Active], Active),
            Self::Pause => (&[Active], Paused),
            Self::Block { .. } => (&[Active, Paused, RecoveryRequired], Blocked),
            Self::Unblock => (&[Blocked], Active),
            Self::Recover { .. } => (&[Active, Paused], RecoveryRequired),
            Self::Resume => (&[Paused, RecoveryRequired], Active),
            Self::Complete => (&[Active], Completed),
            Self::Cancel { .. } => (&[Active, Paused, RecoveryRequired, Blocked], Cancelled),
        }
    }

    /// Whether another endpoint of the same item may give it only once the run's own endpoint has ended.
    const fn is_the_owners(&self) -> bool {
        !matches!(self, Self::Checkpoint { .. })
    }

    /// Whether another endpoint may ever give it.
    const fn can_be_taken_over(&self) -> bool {
        matches!(self, Self::Checkpoint { .. } | Self::Resume | Self::Cancel { .. })
    }
}

/// Who gives a command, by the environment of its session; a person has neither.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Actor {
    /// The work item the session is for.
    pub work_item: Option<String>,
    /// The endpoint the session is.
    pub endpoint: Option<String>,
    /// Whether the run's own endpoint is known to have ended.
    pub owner_ended: bool,
    /// Whether it is this program itself, for what happened on a ticket or to a session.
    pub is_program: bool,
}

impl Actor {
    /// This program, which speaks for a work item.
    pub fn program(work_item: &str) -> Self {
        Self { work_item: Some(work_item.to_owned()), is_program: true, ..Self::default() }
    }

    /// Who it is, for the record: its endpoint, this program, or a person.
    pub fn name(&self) -> &str {
        let nobody = if self.is_program { "the-loop" } else { "person" };
        self.endpoint.as_deref().unwrap_or(nobody)
    }
}

/// Why a command was not followed; nothing was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The state does not allow it.
    Transition {
        /// The command.
        verb: &'static str,
        /// The state.
        from: Status,
    },
    /// The run is of another project.
    Identity(Mismatch),
    /// The run is another work item's.
    OtherItem {
        /// Whose.
        owner: String,
    },
    /// The run is another endpoint's, which has not ended.
    OtherEndpoint {
        /// Whose.
        owner: String,
        /// The command.
        verb: &'static str,
    },
    /// The record is suspected to be stale; only the gates of a resume clear that.
    Stale,
    /// An argument says nothing.
    Empty(&'static str),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transition { verb, from } => {
                write!(f, "`{verb}` does not apply to a run that is {from}")?;
                let ways: Vec<&str> = transitions(*from).iter().map(|status| status.word()).collect();
                if ways.is_empty() { Ok(()) } else { write!(f, "; from there it can become {}", ways.join(", ")) }
            }
            Self::Identity(mismatch) => mismatch.fmt(f),
            Self::OtherItem { owner } => write!(f, "the run belongs to `{owner}`"),
            Self::OtherEndpoint { owner, verb } => {
                write!(f, "`{verb}` is for `{owner}`, whose run this is and which has not ended")
            }
            Self::Stale => f.write_str("the record is suspected to be stale (SUSPECTED_STALE)"),
            Self::Empty(what) => write!(f, "{what} is empty"),
        }
    }
}

impl std::error::Error for Refusal {}

/// A new run.
///
/// # Errors
/// The objective says nothing.
pub fn start(
    objective: &str,
    profile: Option<ProfileName>,
    identity: Identity,
    actor: &Actor,
    now: Time,
) -> Result<Run, Refusal> {
    let now = now.whole_seconds();
    if objective.trim().is_empty() {
        return Err(Refusal::Empty("the objective"));
    }
    Ok(Run {
        task_id: task_id(objective, now),
        objective: objective.to_owned(),
        created_at: now,
        updated_at: now,
        status: Status::Active,
        integrity: Integrity::Valid,
        stage: Stage::default(),
        stage_note: None,
        generation: 1,
        identity,
        work_item: actor.work_item.clone(),
        endpoint: actor.endpoint.clone(),
        last_endpoint: Some(actor.name().to_owned()),
        profile,
        settings: BTreeMap::new(),
        blockers: Vec::new(),
        stop_reason: None,
        recovery: None,
        created_by: Some(actor.name().to_owned()),
    })
}

/// The run after a command. `today` is the project as it is found now; `is_stale` says that the recorded head is no
/// ancestor of today's, or that a temporary of a newer generation was found.
///
/// # Errors
/// Why it is not followed.
pub fn apply(
    run: &Run,
    command: &Command,
    today: &Identity,
    actor: &Actor,
    is_stale: bool,
    now: Time,
) -> Result<Run, Refusal> {
    run.identity.check(today).map_err(Refusal::Identity)?;
    may_speak(run, command, actor)?;
    let stale = is_stale || run.integrity == Integrity::SuspectedStale;
    let (from, to) = command.way();
    let clears_only = matches!(command, Command::Resume) && run.status == Status::Active && stale;
    // The table has the last word: a command can narrow it and never widen it.
    let allowed = from.contains(&run.status) && (run.status == to || is_transition(run.status, to));
    if !allowed && !clears_only {
        return Err(Refusal::Transition { verb: command.verb(), from: run.status });
    }
    if stale && matches!(command, Command::Complete) {
        return Err(Refusal::Stale);
    }
    let integrity = match (stale, command) {
        (true, Command::Resume) | (false, _) => Integrity::Valid,
        (true, _) => Integrity::SuspectedStale,
    };
    let mut next = Run {
        status: to,
        integrity,
        generation: run.generation + 1,
        // A clock that went back does not make the record older than it is.
        updated_at: now.whole_seconds().max(run.updated_at),
        identity: today.clone(),
        last_endpoint: Some(actor.name().to_owned()),
        ..run.clone()
    };
    follow(&mut next, run, command)?;
    Ok(next)
}

/// What a command changes beside the state.
fn follow(next: &mut Run, before: &Run, command: &Command) -> Result<(), Refusal> {
    let said = |text: &str, what: &'static str| match text.trim().is_empty() {
        true => Err(Refusal::Empty(what)),
        false => Ok(text.to_owned()),
    };
    match command {
        Command::Checkpoint { stage, note, settings } => {
            next.stage = stage.unwrap_or(before.stage);
            next.stage_note = note.clone().or_else(|| before.stage_note.clone()).filter(|note| !note.is_empty());
            next.settings.extend(settings.clone());
        }
        Command::Pause | Command::Complete => {}
        Command::Block { reason } => {
            next.blockers.push(Blocker { reason: said(reason, "the reason")?, since: next.updated_at });
        }
        Command::Unblock => next.blockers.clear(),
        Command::Recover { reason } => {
            next.recovery = Some(Recovery {
                reason: said(reason, "the reason")?,
                interrupted_stage: before.stage,
                detected_at: next.updated_at,
            });
        }
        Command::Resume => next.recovery = None,
        Command::Cancel { reason } => next.stop_reason = Some(said(reason, "the reason")?),
    }
    if matches!(command, Command::Complete) {
        next.stop_reason = Some("completed: the evaluator said PASS".to_owned());
    }
    Ok(())
}

/// Whether whoever speaks may add to the run: this project's, and this work item's.
///
/// # Errors
/// It is another project's, or another work item's.
pub fn check_speaker(run: &Run, today: &Identity, actor: &Actor) -> Result<(), Refusal> {
    run.identity.check(today).map_err(Refusal::Identity)?;
    let command = Command::Checkpoint { stage: None, note: None, settings: BTreeMap::new() };
    may_speak(run, &command, actor)
}

/// Whether the run is this speaker's to change.
fn may_speak(run: &Run, command: &Command, actor: &Actor) -> Result<(), Refusal> {
    if let (Some(owner), Some(item)) = (&run.work_item, &actor.work_item)
        && !owner.eq_ignore_ascii_case(item)
    {
        return Err(Refusal::OtherItem { owner: owner.clone() });
    }
    match (&run.endpoint, &actor.endpoint) {
        (Some(owner), Some(speaker)) if !owner.eq_ignore_ascii_case(speaker) && command.is_the_owners() => {
            match command.can_be_taken_over() && actor.owner_ended {
                true => Ok(()),
                false => Err(Refusal::OtherEndpoint { owner: owner.clone(), verb: command.verb() }),
            }
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
