//! What people may do, as GitHub said lately: asked live, and not for every word of the same person.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::domain::github::Permission;
use crate::domain::reference::RepoRef;
use crate::domain::time::Time;

/// How long an answer counts, seconds: so long somebody may speak whose permission was taken away.
const KEPT_SECONDS: i64 = 300;

/// The answers of the last minutes, by repository and login in lower case.
#[derive(Default)]
pub(super) struct Permissions(Mutex<BTreeMap<(String, String), (Permission, Time)>>);

impl Permissions {
    /// What was said lately of `login`.
    pub(super) fn lately(&self, repository: &RepoRef, login: &str, now: Time) -> Option<Permission> {
        let mut known = self.known();
        known.retain(|_, (_, until)| *until > now);
        known.get(&(repository.key(), login.to_ascii_lowercase())).map(|(permission, _)| *permission)
    }

    /// GitHub said it at `now`.
    pub(super) fn said(&self, repository: &RepoRef, login: &str, permission: Permission, now: Time) {
        let key = (repository.key(), login.to_ascii_lowercase());
        self.known().insert(key, (permission, now.plus_seconds(KEPT_SECONDS)));
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<(String, String), (Permission, Time)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_counts_for_its_repository_and_for_a_while() {
        let (permissions, now) = (Permissions::default(), Time::from_millis(0));
        let [here, there] = ["octo/hello", "octo/other"].map(|name| RepoRef::parse(name).unwrap());
        permissions.said(&here, "Wendy", Permission::Write, now);
        let lately = |repository, seconds| permissions.lately(repository, "wendY", now.plus_seconds(seconds));
        assert_eq!(lately(&there, 0), None);
        assert_eq!(lately(&here, KEPT_SECONDS - 1), Some(Permission::Write));
        assert_eq!(lately(&here, KEPT_SECONDS), None);
    }
}
