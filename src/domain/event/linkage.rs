//! Linkage.
use crate::domain::reference::{RepoRef, WorkItemRef};
pub enum Hint {
    Keyword,
    Branch,
}
pub fn linked_issues(_r: &RepoRef, _b: Option<&str>, _t: &str) -> Vec<(WorkItemRef, Hint)> {
    vec![]
}
pub fn branch_items(_r: &RepoRef, _b: &str) -> Vec<WorkItemRef> {
    vec![]
}
