//! GitHub: whether it is asked at all, whether it answers this token, how often it still may be asked, and its clock.

use super::Finding;
use crate::domain::github::{Limit, Trouble, Unsent, reserve};
use crate::domain::time::Time;

/// The largest difference of clocks that harms nothing, seconds.
const SKEW: i64 = 120;

/// What asking a host is needed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// Items of it are known here; what happens to them comes by itself.
    Items,
    /// Who speaks there may be admitted by permission.
    Permission,
    /// It is polled.
    Polling,
}

/// A host that nobody can ask, for want of a token or of configuration.
pub fn unasked(trouble: &Trouble, need: Need) -> Finding {
    let id = match trouble {
        Trouble::Unsent(Unsent::UnknownHost { .. }) => "github.unknown-host",
        _ => "github.no-token",
    };
    let finding = match need {
        Need::Polling => Finding::error(id, trouble.to_string()).because("it is to be polled, and cannot be"),
        Need::Permission => Finding::warning(id, trouble.to_string())
            .because("`routing.authorizePermission` admits nobody there: permissions cannot be asked"),
        Need::Items => Finding::note(id, trouble.to_string())
            .because("nothing is polled there, and nobody is told anything on its tickets"),
    };
    with_hint(finding, trouble)
}

/// A host that was asked and gave no usable answer.
pub fn trouble(trouble: &Trouble) -> Finding {
    let what = trouble.to_string();
    let finding = match trouble {
        Trouble::Refused { .. } => {
            Finding::error("github.refused", what).because("nothing is polled or told with this token")
        }
        Trouble::Limited { .. } => {
            Finding::warning("github.limited", what).because("nothing is asked there until the limit ends")
        }
        Trouble::Outage { .. } | Trouble::Unsent(Unsent::Unreachable { .. }) => {
            Finding::warning("github.unreachable", what).because("what happens there is not heard of by polling")
        }
        Trouble::Gone { .. } | Trouble::Odd { .. } | Trouble::Unsent(_) => {
            Finding::warning("github.odd", what).because("what answers there may not be GitHub's API")
        }
    };
    with_hint(finding, trouble)
}

fn with_hint(finding: Finding, trouble: &Trouble) -> Finding {
    match trouble.hint() {
        Some(hint) => finding.todo(hint),
        None => finding,
    }
}

/// What is left of a host's limits; none when it counts nothing.
pub fn budget(host: &str, limits: &[Limit]) -> Vec<Finding> {
    let counted: Vec<&Limit> =
        limits.iter().filter(|limit| matches!(limit.resource.as_str(), "core" | "graphql")).collect();
    let left = |limit: &&Limit| format!("{} of {} requests ({})", limit.remaining, limit.limit, limit.resource);
    let all: Vec<String> = counted.iter().map(left).collect();
    let all = if all.is_empty() { "it counts no requests".to_owned() } else { format!("left: {}", all.join(", ")) };
    let mut findings = vec![Finding::ok("github.answers", format!("`{host}` answers this token; {all}"))];
    for limit in counted.iter().filter(|limit| limit.remaining <= reserve(limit)) {
        let what = format!("`{host}`: only {} are left until {}", left(limit), limit.reset);
        findings.push(
            Finding::warning("github.budget", what)
                .because("quiet polling waits until then, so that people's words can still be asked about")
                .todo("see what else uses this token; a longer `polling.intervalSeconds` or another token helps"),
        );
    }
    findings
}

/// A classic token without the scope that work needs. Other tokens have no scopes.
pub fn scopes(host: &str, scopes: Option<&str>) -> Option<Finding> {
    let scopes = scopes?;
    let has = |wanted: &str| scopes.split(',').any(|scope| scope.trim() == wanted);
    let what = format!("the token for `{host}` has no scope `repo`");
    let finding = match (has("repo"), has("public_repo")) {
        (true, _) => return None,
        (false, true) => {
            Finding::note("github.scopes", what).because("with `public_repo` it sees no private repository")
        }
        (false, false) => Finding::warning("github.scopes", what)
            .because("private repositories are not seen, and nothing can be posted"),
    };
    Some(finding.todo("give it the scope, or use a fine-grained token; docs/github.md says what that must be allowed"))
}

/// How far the host's clock is from this machine's `now`.
pub fn clock(host: &str, date: Option<Time>, now: Time) -> Option<Finding> {
    let ahead = (now.as_millis() - date?.as_millis()) / 1000;
    let direction = if ahead > 0 { "ahead of" } else { "behind" };
    (ahead.abs() > SKEW).then(|| {
        let what = format!("this machine's clock is {} s {direction} `{host}`", ahead.unsigned_abs());
        Finding::error("github.clock", what)
            .because("commands given here are ordered with words on tickets by their time")
            .todo("set the clock, best by a time service")
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::domain::findings::Severity;

    #[rstest]
    #[case(Need::Polling, Severity::Error)]
    #[case(Need::Permission, Severity::Warning)]
    #[case(Need::Items, Severity::Note)]
    fn a_missing_token_is_as_bad_as_what_it_is_needed_for(#[case] need: Need, #[case] want: Severity) {
        let none = Trouble::Unsent(Unsent::NoToken { host: "ghe.example".into(), unusable: None });
        let found = unasked(&none, need);
        assert_eq!((found.id, found.severity), ("github.no-token", want));
        assert!(found.todo.unwrap().contains("github.hosts.ghe.example.tokenEnv"));
        let unknown = Trouble::Unsent(Unsent::UnknownHost { host: "ghe.example".into() });
        assert_eq!(unasked(&unknown, need).id, "github.unknown-host");
    }

    #[rstest]
    #[case(None, None)]
    #[case(Some("gist, repo"), None)]
    #[case(Some("public_repo"), Some(Severity::Note))]
    #[case(Some(""), Some(Severity::Warning))]
    #[case(Some("repo:status"), Some(Severity::Warning))]
    fn a_classic_token_needs_a_scope(#[case] said: Option<&str>, #[case] want: Option<Severity>) {
        assert_eq!(scopes("h", said).map(|found| found.severity), want);
    }

    #[rstest]
    #[case(-121, Some("121 s ahead of"))]
    #[case(-120, None)]
    #[case(120, None)]
    #[case(180, Some("180 s behind"))]
    fn clocks_may_differ_by_two_minutes(#[case] date: i64, #[case] want: Option<&str>) {
        let found = clock("h", Some(Time::from_millis(date * 1000)), Time::from_millis(0));
        assert_eq!(found.is_some(), want.is_some());
        assert!(found.is_none_or(|found| found.what.contains(want.unwrap()) && found.is_bad()));
        assert_eq!(clock("h", None, Time::from_millis(0)), None);
    }

    #[test]
    fn only_the_reserve_is_left() {
        let limit = |resource: &str, remaining| Limit {
            limit: 5000,
            remaining,
            reset: Time::from_millis(0),
            resource: resource.into(),
        };
        let ids = |limits: &[Limit]| budget("h", limits).iter().map(|found| found.id).collect::<Vec<_>>();
        assert_eq!(ids(&[]), ["github.answers"]);
        assert_eq!(ids(&[limit("core", 101), limit("search", 0)]), ["github.answers"]);
        assert_eq!(
            ids(&[limit("core", 100), limit("graphql", 0)]),
            ["github.answers", "github.budget", "github.budget"]
        );
    }
}
