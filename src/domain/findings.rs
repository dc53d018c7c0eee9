//! What `doctor` finds: a thing, how bad it is, why it matters and what to do.

use serde::Serialize;

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
    /// What was looked at: `configuration`, `store`, `portable`, `tmux`, ...
    pub area: &'static str,
    /// What was found, on what.
    pub what: String,
    /// Why it matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub todo: Option<String>,
}

impl Finding {
    /// Something that is as it should be.
    pub fn ok(area: &'static str, what: impl Into<String>) -> Self {
        Self { severity: Severity::Ok, area, what: what.into(), why: None, todo: None }
    }

    /// Something good to know.
    pub fn note(area: &'static str, what: impl Into<String>) -> Self {
        Self { severity: Severity::Note, ..Self::ok(area, what) }
    }

    /// Something somebody should look at.
    pub fn warning(area: &'static str, what: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::ok(area, what) }
    }

    /// Something that does not work.
    pub fn error(area: &'static str, what: impl Into<String>) -> Self {
        Self { severity: Severity::Error, ..Self::ok(area, what) }
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
