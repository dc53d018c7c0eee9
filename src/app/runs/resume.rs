//! The gates of a resume.

use super::error::RunError;
use super::{Changed, Live, Runs};
use crate::domain::run::{Command, Reconciliation, Report, WorkItemState, apply, gates};

impl Runs<'_> {
    /// Passes the gates up to the report; reads only. `work_item` is what is known here of the item the run is for.
    ///
    /// # Errors
    /// A gate stays shut.
    pub fn report(&self, work_item: WorkItemState) -> Result<Report, RunError> {
        let live = self.live()?;
        self.report_on(&live, work_item)
    }

    fn report_on(&self, live: &Live, work_item: WorkItemState) -> Result<Report, RunError> {
        live.run.identity.check(&live.today).map_err(crate::domain::run::Refusal::Identity)?;
        // Whoever may not resume need not read what there is to approve.
        apply(&live.run, &Command::Resume, &live.today, &self.actor, live.is_stale(), self.now)?;
        let then = live.run.identity.head.as_deref();
        let is_ancestor = match (then, &live.today.head) {
            (Some(then), Some(_)) => Some(self.project.is_in_history(then)?),
            _ => None,
        };
        let commits = match (then, is_ancestor) {
            (Some(then), Some(true)) => self.project.commits_since(then)?,
            _ => (Vec::new(), 0),
        };
        let found = Reconciliation {
            today: live.today.clone(),
            is_ancestor,
            commits,
            changes: self.project.changes()?,
            leftovers: self.leftovers()?.iter().map(super::Judged::line).collect(),
            work_item: live.run.work_item.is_some().then_some(work_item),
        };
        Ok(gates(&live.run, &found, live.is_stale())?)
    }

    /// Resumes, provided that `digest` approves the very report of this moment.
    ///
    /// # Errors
    /// A gate stays shut.
    pub fn resume(&self, digest: &str, work_item: WorkItemState) -> Result<Changed, RunError> {
        let live = self.live()?;
        let report = self.report_on(&live, work_item)?;
        if report.digest != digest.trim() {
            return Err(RunError::OtherReport(crate::domain::text::head(digest.trim(), 40).to_owned()));
        }
        let next = apply(&live.run, &Command::Resume, &live.today, &self.actor, live.is_stale(), self.now)?;
        self.write(&live, next)
    }
}
