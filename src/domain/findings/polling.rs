//! Polling: whether something is polled, whether each repository can be read, and what waits for GitHub.

use super::Finding;
use crate::domain::polling::{Polling, Progress};
use crate::domain::reference::RepoRef;
use crate::domain::time::Time;

/// How long an event may wait for a fact before somebody should look, seconds.
const PATIENCE_SECONDS: i64 = 300;

/// Whether there is something to poll that is also served.
pub fn sources(polling: &Polling, served: &[RepoRef]) -> Vec<Finding> {
    if !polling.enabled {
        return Vec::new();
    }
    if polling.sources.is_empty() {
        let finding = Finding::error("polling.nothing", "`polling.enabled` is set, and no repository is named");
        return vec![
            finding
                .because("nothing is heard of by polling")
                .todo("name repositories under `polling.sources`, or under `repositories`"),
        ];
    }
    let unserved = polling
        .sources
        .iter()
        .filter(|source| !served.is_empty() && !served.iter().any(|repository| repository.is_same(&source.repository)));
    unserved
        .map(|source| {
            Finding::warning(
                "polling.not-served",
                format!("`{}` is polled and not among `repositories`", source.repository),
            )
            .because("what is found there is dropped")
            .todo("add it to `repositories`, or take it out of `polling.sources`")
        })
        .collect()
}

/// How a repository that is polled gets on. `runs` says whether a daemon polls now.
pub fn repository(
    name: &RepoRef,
    progress: Option<&Progress>,
    polling: &Polling,
    runs: bool,
    now: Time,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let last = progress.and_then(|progress| progress.pause.last.as_ref());
    if let Some(last) = last {
        let until = progress.and_then(|progress| progress.pause.holds(now));
        let until = until.map_or_else(String::new, |until| format!("; not asked again before {until}"));
        let what = format!("`{name}`: {}{until}", last.what);
        let finding = match last.is_limit {
            true => Finding::warning("polling.limited", what).because("nothing is heard of there until then"),
            false => Finding::warning("polling.trouble", what).because("what happens there may not be heard of"),
        };
        findings.push(match &last.hint {
            Some(hint) => finding.todo(hint.clone()),
            None => finding,
        });
    }
    let failing = progress.map_or(0, |progress| progress.again.len());
    if failing > 0 {
        findings.push(
            Finding::warning("polling.items", format!("`{name}`: {failing} of its items could not be read"))
                .because("they are asked for again with every cycle, and given up after `polling.maxRetries`")
                .todo("`the-loop events --type poll` says why"),
        );
    }
    let is_silent = |at: Time| polling.is_silent(at, now);
    if runs && last.is_none() && progress.and_then(|progress| progress.cycled_at).is_some_and(is_silent) {
        findings.push(
            Finding::warning("polling.silent", format!("`{name}` was not polled for long"))
                .because("what happens there is not heard of")
                .todo("`the-loop status` says what holds the daemon up"),
        );
    }
    if findings.is_empty() && progress.is_some() {
        findings.push(Finding::ok("polling.well", format!("`{name}` is polled")));
    }
    findings
}

/// Events that wait for a fact, with the time since when the first does.
pub fn waiting(waiting: Option<(usize, Time)>, now: Time) -> Vec<Finding> {
    let old = waiting.filter(|(_, since)| since.plus_seconds(PATIENCE_SECONDS) < now);
    let finding = old.map(|(count, since)| {
        Finding::warning("polling.undecided", format!("{count} events wait for what only GitHub knows, since {since}"))
            .because("they are decided without it after a minute, by a daemon")
            .todo("start the daemon, or `the-loop poll`")
    });
    finding.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::github::{Refusal, Seen, Trouble, Until};
    use crate::domain::polling::Source;

    fn at(second: i64) -> Time {
        Time::from_millis(1_700_000_000_000).plus_seconds(second)
    }

    fn repo(name: &str) -> RepoRef {
        RepoRef::parse(name).unwrap()
    }

    fn polling(names: &[&str]) -> Polling {
        let source =
            |name: &&str| Source { repository: repo(name), label: "go".into(), issues: true, pull_requests: true };
        Polling { enabled: true, interval_seconds: 60, sources: names.iter().map(source).collect() }
    }

    fn ids(findings: &[Finding]) -> Vec<&str> {
        findings.iter().map(|finding| finding.id).collect()
    }

    #[test]
    fn what_is_polled_is_served() {
        assert_eq!(ids(&sources(&polling(&[]), &[])), ["polling.nothing"]);
        assert_eq!(ids(&sources(&polling(&["octo/hello"]), &[repo("octo/world")])), ["polling.not-served"]);
        assert!(sources(&polling(&["octo/hello"]), &[repo("Octo/Hello")]).is_empty());
        assert!(sources(&Polling { enabled: false, ..polling(&[]) }, &[]).is_empty());
    }

    #[test]
    fn q10_a_permission_error_is_named_and_is_no_limit() {
        let seen = Seen { status: 403, request_id: None };
        let refused = Refusal::Permission("Resource not accessible by integration".into());
        let refused = Trouble::Refused { host: "github.com".into(), why: refused, seen: seen.clone() };
        let limited = Trouble::Limited { host: "github.com".into(), until: Until::Unsaid, seen };
        for (trouble, id, pauses) in [(refused, "polling.trouble", false), (limited, "polling.limited", true)] {
            let mut progress = Progress::default();
            progress.pause.met(&trouble, at(0), 0);
            assert_eq!(progress.pause.holds(at(1)).is_some(), pauses);
            let found = repository(&repo("octo/hello"), Some(&progress), &polling(&["octo/hello"]), true, at(1));
            assert_eq!(ids(&found), [id]);
            assert!(found[0].what.contains("octo/hello"));
        }
    }

    #[test]
    fn k69_a_poll_that_does_not_come_round_is_named() {
        let mut progress = Progress { cycled_at: Some(at(0)), ..Progress::default() };
        let look = |progress: &Progress, runs, second| {
            let found = repository(&repo("octo/hello"), Some(progress), &polling(&["octo/hello"]), runs, at(second));
            ids(&found).join(" ")
        };
        assert_eq!(look(&progress, true, 60), "polling.well");
        assert_eq!(look(&progress, true, 301), "polling.silent");
        assert_eq!(look(&progress, false, 301), "polling.well", "no daemon polls");
        progress.again.insert(7, 1);
        assert_eq!(look(&progress, true, 60), "polling.items");
        assert_eq!(ids(&waiting(Some((1, at(0))), at(301))), ["polling.undecided"]);
        assert!(waiting(Some((1, at(0))), at(299)).is_empty() && waiting(None, at(0)).is_empty());
    }
}
