//! What the pages of a list said of themselves, so that only what changed is sent again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The validators of a list's pages, by the address that each was asked at.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Validators {
    /// Page by page.
    pub pages: BTreeMap<String, Validator>,
}

/// What one page said of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validator {
    /// Its `ETag`.
    pub etag: String,
    /// The page after it, for an answer of 304 without a `Link`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}
