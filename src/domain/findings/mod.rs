//! What `doctor` finds: a thing, how bad it is, why it matters and what to do. Each kind has a stable id, `area.kind`.

mod fix;
pub mod git;
pub mod github;
pub mod places;
pub mod polling;
pub mod programs;
pub mod runs;
pub mod secret;
pub mod workspaces;

use serde::Serialize;

pub use fix::Fix;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// As it should be.
    Ok,
    /// Good to know.
    Note,
    /// Somebody should look; `doctor` exits 1.
    Warning,
    /// Something does not work; `doctor` exits 1.
    Error,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// How bad.
    pub severity: Severity,
    /// Which kind, `store.damaged`; stable.
    pub id: &'static str,
    /// What was looked at: `configuration`, `store`, `portable`, `tmux`, ...; the first part of the id.
    pub area: &'static str,
    /// What was found, on what.
    pub what: String,
    /// Why it matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub todo: Option<String>,
    /// What `doctor --fix` would do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<Fix>,
}

impl Finding {
    fn new(severity: Severity, id: &'static str, what: String) -> Self {
        let area = id.split_once('.').map_or(id, |(area, _)| area);
        Self { severity, id, area, what, why: None, todo: None, fix: None }
    }

    /// Something that is as it should be.
    pub fn ok(id: &'static str, what: impl Into<String>) -> Self {
        Self::new(Severity::Ok, id, what.into())
    }

    /// Something good to know.
    pub fn note(id: &'static str, what: impl Into<String>) -> Self {
        Self::new(Severity::Note, id, what.into())
    }

    /// Something somebody should look at.
    pub fn warning(id: &'static str, what: impl Into<String>) -> Self {
        Self::new(Severity::Warning, id, what.into())
    }

    /// Something that does not work.
    pub fn error(id: &'static str, what: impl Into<String>) -> Self {
        Self::new(Severity::Error, id, what.into())
    }

    /// The finding with what `doctor --fix` would do.
    #[must_use]
    pub fn fixed_by(mut self, fix: Fix) -> Self {
        self.fix = Some(fix);
        self
    }

    /// The finding with why it matters.
    #[must_use]
    pub fn because(mut self, why: impl Into<String>) -> Self {
        self.why = Some(why.into());
        self
    }

    /// The finding with what to do.
    #[must_use]
    pub fn todo(mut self, todo: impl Into<String>) -> Self {
        self.todo = Some(todo.into());
        self
    }

    /// Whether `doctor` must not say that all is well.
    pub fn is_bad(&self) -> bool {
        self.severity >= Severity::Warning
    }
}
