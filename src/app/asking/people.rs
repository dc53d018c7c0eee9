//! Questions about who may do what: a person in a repository, and this token at its host.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::{fresh, odd};
use crate::domain::github::{GitHub, Limit, Permission, Request, Trouble, repo_path};
use crate::domain::ids::Login;
use crate::domain::reference::RepoRef;
use crate::domain::time::Time;

/// What stands as it is in one segment of a path.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_');

/// What `login` may do in `repository`; who is no collaborator may do nothing.
///
/// # Errors
/// It cannot be known now; [`Trouble::Refused`] when this token may not ask (it needs to be allowed to push).
pub fn permission(github: &dyn GitHub, repository: &RepoRef, login: &Login) -> Result<Permission, Trouble> {
    let login = utf8_percent_encode(login.as_str(), SEGMENT);
    let path = format!("{}/collaborators/{login}/permission", repo_path(repository));
    let answer = github.send(&Request::get(repository.host(), path))?;
    match fresh(repository.host(), &answer) {
        Err(Trouble::Gone { .. }) => Ok(Permission::None),
        Err(trouble) => Err(trouble),
        Ok(found) => {
            Permission::of_answer(&found).ok_or_else(|| odd(repository.host(), &answer, "it names no known permission"))
        }
    }
}

/// What a host says about our own asking.
#[derive(Debug, Clone, PartialEq)]
pub struct Rate {
    /// The limits by resource; empty where the host counts nothing.
    pub limits: Vec<Limit>,
    /// The host's clock.
    pub date: Option<Time>,
    /// The scopes of a classic token; others have none.
    pub scopes: Option<String>,
}

/// The rate limits of this token at `host`. Asking costs nothing of them.
///
/// # Errors
/// It cannot be known now.
pub fn rate(github: &dyn GitHub, host: &str) -> Result<Rate, Trouble> {
    let answer = github.send(&Request::get(host, "/rate_limit"))?;
    let limits = match fresh(host, &answer) {
        // An Enterprise server that counts nothing has no such page.
        Err(Trouble::Gone { .. }) => Vec::new(),
        Err(trouble) => return Err(trouble),
        Ok(found) => limits(&found).ok_or_else(|| odd(host, &answer, "it names no limits"))?,
    };
    Ok(Rate { limits, date: answer.date, scopes: answer.scopes })
}

fn limits(document: &Value) -> Option<Vec<Limit>> {
    let limit = |(resource, limit): (&String, &Value)| {
        let number = |name: &str| limit.get(name)?.as_u64();
        let reset = Time::from_millis(i64::try_from(number("reset")?).ok()?.checked_mul(1000)?);
        Some(Limit { limit: number("limit")?, remaining: number("remaining")?, reset, resource: resource.clone() })
    };
    document.get("resources")?.as_object()?.iter().map(limit).collect()
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::Says;
    use super::*;

    #[test]
    fn a_permission_is_asked_by_login_and_a_stranger_has_none() {
        let repository = RepoRef::parse("ghe.example/octo/hello").unwrap();
        let ask = |status, body: &str| {
            let github = Says::new(status, body);
            let found = permission(&github, &repository, &Login::parse("octo-bot[bot]").unwrap());
            assert_eq!(
                github.asked(),
                Request::get("ghe.example", "/repos/octo/hello/collaborators/octo-bot%5Bbot%5D/permission")
            );
            found
        };
        assert_eq!(ask(200, r#"{"permission":"write","role_name":"maintain"}"#), Ok(Permission::Maintain));
        assert_eq!(ask(404, "{}"), Ok(Permission::None));
        assert!(matches!(ask(403, r#"{"message":"Must have push access"}"#), Err(Trouble::Refused { .. })));
        assert!(matches!(ask(200, "{}"), Err(Trouble::Odd { .. })));
        assert!(matches!(ask(200, "<html>"), Err(Trouble::Outage { .. })));
    }

    #[test]
    fn a_host_that_counts_nothing_has_no_limits() {
        let core = r#"{"resources":{"core":{"limit":5000,"used":1,"remaining":4999,"reset":1767229200}}}"#;
        let found = rate(&Says::new(200, core), "h").unwrap();
        let core = &found.limits[0];
        assert_eq!((core.resource.as_str(), core.limit, core.remaining), ("core", 5000, 4999));
        assert_eq!(rate(&Says::new(404, "{}"), "h").unwrap().limits, []);
        assert!(rate(&Says::new(200, "{}"), "h").is_err());
        assert!(rate(&Says::new(401, "{}"), "h").is_err());
    }
}
