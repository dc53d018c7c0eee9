//! The stored shape of what is to be told.

use serde::{Deserialize, Serialize};

use crate::domain::telling::Tell;
use crate::domain::time::Time;
use crate::store::view::Telling;

/// Something to tell; its number is its key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::store) struct TellRow {
    tell: Tell,
    #[serde(default, skip_serializing_if = "is_zero")]
    attempts: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    not_before: Option<Time>,
    pub t: Time,
}

fn is_zero(value: &u32) -> bool {
    *value == 0
}

impl TellRow {
    /// A new one's row.
    pub fn new(tell: &Tell, at: Time) -> Self {
        Self { tell: tell.clone(), attempts: 0, not_before: None, t: at }
    }

    /// With its number.
    pub fn into_telling(self, number: u64) -> Telling {
        let Self { tell, attempts, not_before, t } = self;
        Telling { number, tell, attempts, not_before, decided_at: t }
    }
}

impl From<&Telling> for TellRow {
    fn from(telling: &Telling) -> Self {
        let Telling { number: _, tell, attempts, not_before, decided_at } = telling;
        Self { tell: tell.clone(), attempts: *attempts, not_before: *not_before, t: *decided_at }
    }
}
