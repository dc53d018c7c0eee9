//! Why a request was not answered, in a form that crosses the control socket.

use serde::{Deserialize, Serialize};

use crate::app::portable::PortableError;
use crate::store::StoreError;

/// What kind of trouble; the command line has an exit code for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TroubleKind {
    /// It was refused, or found problems.
    Refused,
    /// A file, a folder or a program did not do its part.
    Outside,
    /// The store is in use or has no room for more right now.
    StoreBusy,
    /// The store cannot be read.
    StoreDamaged,
    /// The store was written by another version.
    StoreVersion,
    /// A bug of ours.
    Bug,
}

/// Why a request was not answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{message}")]
#[serde(rename_all = "camelCase")]
pub struct Trouble {
    /// What kind.
    pub kind: TroubleKind,
    /// What failed and on what; literals in backticks.
    pub message: String,
    /// What to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Trouble {
    /// Trouble without a hint.
    pub fn new(kind: TroubleKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None }
    }

    /// A refusal: nothing is broken and nothing was changed.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(TroubleKind::Refused, message)
    }

    /// The same with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        let kind = match &error {
            StoreError::Busy | StoreError::Overloaded | StoreError::Closed => TroubleKind::StoreBusy,
            StoreError::Newer { .. } | StoreError::Older { .. } | StoreError::FormatUpgrade(_) => {
                TroubleKind::StoreVersion
            }
            StoreError::Foreign(_) | StoreError::Damaged(_) | StoreError::BadRow { .. } => TroubleKind::StoreDamaged,
            StoreError::Missing | StoreError::Io { .. } => TroubleKind::Outside,
            StoreError::Bug(_) => TroubleKind::Bug,
        };
        Self::new(kind, error.to_string())
    }
}

impl From<PortableError> for Trouble {
    fn from(error: PortableError) -> Self {
        match error {
            PortableError::Store(error) => error.into(),
            PortableError::Files(error) => Self::new(TroubleKind::Outside, error.to_string()),
        }
    }
}
