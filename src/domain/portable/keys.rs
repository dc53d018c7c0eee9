//! Keys of other versions, joined three ways by value.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// A key that both sides changed, differently.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyConflict {
    /// The key's section: empty for the record itself, else `poll`.
    pub section: &'static str,
    /// The key.
    pub key: String,
    /// What ours says; nothing when ours removed it.
    pub ours: Option<Value>,
    /// What theirs says; nothing when theirs removed it.
    pub theirs: Option<Value>,
}

/// Joins two maps over their common ancestor: the side that changed a key wins; without an ancestor nothing was there
/// before. A key that conflicts is left out and named in `conflicts`.
pub(super) fn three_way(
    section: &'static str,
    ours: &Map<String, Value>,
    theirs: &Map<String, Value>,
    base: &Map<String, Value>,
    conflicts: &mut Vec<KeyConflict>,
) -> Map<String, Value> {
    let mut out = Map::new();
    for key in ours.keys().chain(theirs.keys()).collect::<BTreeSet<_>>() {
        let (our, their, was) = (ours.get(key), theirs.get(key), base.get(key));
        let value = match () {
            () if our == their || their == was => our,
            () if our == was => their,
            () => {
                let (ours, theirs) = (our.cloned(), their.cloned());
                conflicts.push(KeyConflict { section, key: key.clone(), ours, theirs });
                None
            }
        };
        if let Some(value) = value {
            out.insert(key.clone(), value.clone());
        }
    }
    out
}
