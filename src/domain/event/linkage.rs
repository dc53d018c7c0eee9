//! Which issues a pull request delivers: a hint in its branch, closing keywords in its text (events rules, section 4).
//!
//! GitHub's own linkage, when it is known, comes before both and is not looked at here.

use super::prose;
use crate::domain::reference::{RepoRef, WorkItemRef};
use crate::domain::{text, workspace};

/// An issue a pull request may deliver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The issue, in the repository of the pull request.
    pub issue: WorkItemRef,
    /// How it is named.
    pub evidence: Evidence,
}

/// How a pull request names an issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// By its branch: a hint, which counts only when the issue has a record or is known upstream.
    Branch,
    /// By a closing keyword.
    Keyword,
}

/// The issues a pull request names, its branch first, then its text in order, each once. One that the text names too
/// keeps its place and is a keyword. Other repositories and hosts are not ours, and nothing delivers itself.
pub fn linked_issues(pull_request: &WorkItemRef, head_branch: Option<&str>, body: &str) -> Vec<Link> {
    let repo = pull_request.repo();
    let by_branch = head_branch.into_iter().flat_map(|branch| branch_issues(repo, branch));
    let by_branch = by_branch.map(|number| (number, Evidence::Branch));
    let by_keyword = closing_issues(repo, body).into_iter().map(|number| (number, Evidence::Keyword));
    let mut seen: std::collections::HashMap<u64, usize> = std::collections::HashMap::new();
    let mut links: Vec<Link> = Vec::new();
    for (number, evidence) in by_branch.chain(by_keyword) {
        if let Some(at) = seen.get(&number) {
            if evidence == Evidence::Keyword {
                links[*at].evidence = evidence;
            }
        } else if let Some(issue) = repo.item(number).ok().filter(|issue| issue != pull_request) {
            seen.insert(number, links.len());
            links.push(Link { issue, evidence });
        }
    }
    links
}

/// The issues that the name of a branch in `repo` stands for.
pub fn branch_items(repo: &RepoRef, branch: &str) -> Vec<WorkItemRef> {
    branch_issues(repo, branch).into_iter().filter_map(|number| repo.item(number).ok()).collect()
}

/// `issue-<n>` or `issue/<n>` as whole parts of the branch, and the slug of our own branches.
fn branch_issues(repo: &RepoRef, branch: &str) -> Vec<u64> {
    let ours = our_issue(repo, branch);
    let parts: Vec<&str> = branch.split('/').collect();
    let hints = parts.iter().enumerate().filter_map(|(at, part)| match part.strip_prefix("issue-") {
        Some(digits) => number(digits),
        None if *part == "issue" => number(parts.get(at + 1)?),
        None => None,
    });
    ours.into_iter().chain(hints).collect()
}

/// A slug cannot be read back, so the number at its end is tried: the branches that we would make for that issue.
fn our_issue(repo: &RepoRef, branch: &str) -> Option<u64> {
    let number = number(branch.rsplit('-').next()?.split('.').next()?)?;
    let item = repo.item(number).ok()?;
    let is_ours = |name: &String| workspace::branch(name).eq_ignore_ascii_case(branch);
    workspace::names(&item).iter().any(is_ours).then_some(number)
}

/// The whole text as an issue number.
fn number(digits: &str) -> Option<u64> {
    let plain = (1..=16).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_digit());
    digits.parse().ok().filter(|_| plain && !digits.starts_with('0'))
}

/// The numbers behind closing keywords, in order.
fn closing_issues(repo: &RepoRef, body: &str) -> Vec<u64> {
    let said = prose::visible(&text::lf_of(body));
    let bytes = said.as_bytes();
    let mut issues = Vec::new();
    let mut at = 0;
    while let Some(next) = bytes[at..].iter().position(u8::is_ascii_alphabetic) {
        at += next;
        let end = at + bytes[at..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        if is_keyword(&bytes[at..end]) && begins_word(&said[..at]) {
            issues.extend(behind_keyword(&said[end..]).and_then(|target| reference(repo, target)));
        }
        at = end;
    }
    issues
}

fn is_keyword(word: &[u8]) -> bool {
    const KEYWORDS: [&str; 9] =
        ["close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved"];
    KEYWORDS.iter().any(|keyword| word.eq_ignore_ascii_case(keyword.as_bytes()))
}

/// `hotfix`, `auto-close` and paths are not keywords.
fn begins_word(before: &str) -> bool {
    before.chars().next_back().is_none_or(|c| !c.is_alphanumeric() && !"-_/.#@&".contains(c))
}

/// What stands behind a keyword: an optional colon, then blanks; without a colon at least one. Longer references than
/// the bound do not exist, and the bound keeps the whole linear.
fn behind_keyword(rest: &str) -> Option<&str> {
    const LONGEST: usize = 512;
    let trimmed = rest.trim_start_matches([' ', '\t']);
    let target = match trimmed.strip_prefix(':') {
        Some(target) => target.trim_start_matches([' ', '\t']),
        None if trimmed.len() < rest.len() => trimmed,
        None => return None,
    };
    Some(text::head(target, LONGEST))
}

/// The issue number a reference at the beginning of `target` means in `repo`.
fn reference(repo: &RepoRef, target: &str) -> Option<u64> {
    if let Some(rest) = target.strip_prefix('#') {
        return leading_number(rest);
    }
    if target.get(..3).is_some_and(|prefix| prefix.eq_ignore_ascii_case("gh-")) {
        return leading_number(&target[3..]);
    }
    let (named, rest) = match target.strip_prefix("https://").or_else(|| target.strip_prefix("http://")) {
        Some(address) => {
            let (path, rest) = address.split_once("/issues/")?;
            (by_address(path)?, rest)
        }
        None => {
            let (path, rest) = target.split_once('#')?;
            (by_short_form(repo, path)?, rest)
        }
    };
    named.is_same(repo).then(|| leading_number(rest)).flatten()
}

/// `<host>/<owner>/<repo>`, all three.
fn by_address(path: &str) -> Option<RepoRef> {
    let (host, path) = path.split_once('/').filter(|(host, _)| !host.is_empty())?;
    let (owner, name) = path.split_once('/')?;
    RepoRef::new("github", host, owner, name).ok()
}

/// `<owner>/<repo>`, on the host of `repo`.
fn by_short_form(repo: &RepoRef, path: &str) -> Option<RepoRef> {
    let (owner, name) = path.split_once('/')?;
    RepoRef::new("github", repo.host(), owner, name).ok()
}

/// The number at the beginning of `text` that no letter continues.
fn leading_number(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let goes_on = text[digits..].chars().next().is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '/'));
    if goes_on { None } else { number(&text[..digits]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pull_request() -> WorkItemRef {
        WorkItemRef::parse("github:octo/hello#7").unwrap()
    }

    fn numbers(branch: Option<&str>, body: &str) -> Vec<u64> {
        linked_issues(&pull_request(), branch, body).iter().map(|link| link.issue.number()).collect()
    }

    #[test]
    fn branches_hint_by_whole_parts() {
        for (branch, found) in [
            ("issue-12", &[12][..]),
            ("issue/12", &[12]),
            ("feature/issue-12", &[12]),
            ("issue-12/fix", &[12]),
            ("mona/issue/12/fix", &[12]),
            ("loop/github-octo-hello-15", &[15]),
            ("loop/github-octo-hello2-15", &[]),
            ("loop/github-octo-hello-015", &[]),
            ("issue-12-fix", &[]),
            ("my-issue-12", &[]),
            ("tissue/12", &[]),
            ("issue/", &[]),
            ("issue-", &[]),
            ("issue-0", &[]),
            ("issue-012", &[]),
            ("issue-99999999999999999999", &[]),
            ("issue-7", &[]),
            ("main", &[]),
        ] {
            assert_eq!(numbers(Some(branch), ""), found, "{branch}");
        }
    }

    #[test]
    fn keywords_close_issues_of_this_repository() {
        for (body, found) in [
            ("Closes #3", &[3][..]),
            (
                "close #1 closed #2, FIX #3; fixes #4 fixed #5 resolve #6 resolves #8 resolved #9",
                &[1, 2, 3, 4, 5, 6, 8, 9],
            ),
            ("Closes: #3", &[3]),
            ("closes:#3", &[3]),
            ("fixes : #3", &[3]),
            ("(fixes #3)", &[3]),
            ("fixes Octo/Hello#3.", &[3]),
            ("fixes gh-3", &[3]),
            ("fixes GH-3!", &[3]),
            ("fixes https://github.com/octo/hello/issues/3#issuecomment-1", &[3]),
            ("fixes http://GitHub.com/octo/hello/issues/3)", &[3]),
            ("- fixes #3\n- fixes #4", &[3, 4]),
            ("fixes #3\r\nfixes #3\r\n", &[3]),
            ("closes #7", &[]),
            ("closes#3", &[]),
            ("closes\n#3", &[]),
            ("see #3", &[]),
            ("hotfix #3, auto-close #3, closing #3, discloses #3, éfix #3", &[]),
            ("fixes #3a", &[]),
            ("fixes #0", &[]),
            ("fixes #03", &[]),
            ("fixes other/hello#3", &[]),
            ("fixes github.com/octo/hello#3", &[]),
            ("fixes https://ghe.example/octo/hello/issues/3", &[]),
            ("fixes https://github.com/octo/hello/pull/3", &[]),
            ("fixes https://github.com/octo/hello/sub/issues/3", &[]),
            ("fixes https://octo/hello/issues/3", &[]),
            ("fixes https:///octo/hello/issues/3", &[]),
            ("fixes https://github.com/octo/hello/issues/3/x", &[]),
            ("`fixes #3`", &[]),
            ("```\nfixes #3\n```", &[]),
            ("> fixes #3", &[]),
            ("<!-- fixes #3 -->", &[]),
            ("fixes `#3`", &[]),
            ("fixes <!-- --> #3", &[]),
            ("fixes", &[]),
            ("fixes:", &[]),
        ] {
            assert_eq!(numbers(None, body), found, "{body:?}");
        }
    }

    #[test]
    fn an_enterprise_host_is_a_host_of_its_own() {
        let there = WorkItemRef::parse("github:ghe.example:8443/octo/hello#7").unwrap();
        let count = |body: &str| linked_issues(&there, None, body).len();
        assert_eq!(count("fixes https://ghe.example:8443/octo/hello/issues/3"), 1);
        assert_eq!(count("fixes octo/hello#3"), 1);
        assert_eq!(count("fixes https://github.com/octo/hello/issues/3"), 0);
        assert_eq!(count("fixes https://ghe.example/octo/hello/issues/3"), 0);
    }

    #[test]
    fn the_branch_comes_first_and_a_keyword_makes_it_sure() {
        let links = linked_issues(&pull_request(), Some("issue-3"), "fixes #4, fixes #3");
        let shape: Vec<_> = links.iter().map(|link| (link.issue.number(), link.evidence)).collect();
        assert_eq!(shape, [(3, Evidence::Keyword), (4, Evidence::Keyword)]);
        let hint = linked_issues(&pull_request(), Some("issue-3"), "fixes #4");
        assert_eq!(hint[0].evidence, Evidence::Branch);
    }

    #[test]
    fn k75_hostile_descriptions_take_linear_time() {
        let n = 30_000;
        for body in [
            format!("close{}", " ".repeat(25 * 1024 * 1024)),
            format!("close{}#3", " ".repeat(16_000)),
            "close ".repeat(n),
            "fix:https://a(".repeat(n),
            "fix:a/".repeat(n),
            "fixes #".repeat(n),
            "close".repeat(n),
            "fix:".repeat(n),
        ] {
            numbers(None, &body);
        }
        let many: String = (1..=20_000).map(|n| format!("fixes #{n} ")).collect();
        assert_eq!(numbers(Some(&"issue/".repeat(n)), &many).len(), 19_999);
    }
}
