//! Questions about one issue, one pull request, one repository.

use serde_json::{Value, json};

use super::{fresh, odd};
use crate::domain::github::{GitHub, Request, Trouble, graphql, repo_path};
use crate::domain::reference::{RepoRef, WorkItemRef};

/// GitHub's own linkage of a pull request.
const CLOSING: &str = "query($owner: String!, $name: String!, $number: Int!) { \
    repository(owner: $owner, name: $name) { pullRequest(number: $number) { \
    closingIssuesReferences(first: 50) { nodes { number repository { nameWithOwner } } } } } }";

/// The issue, or the pull request as an issue; `None` when it is gone. One that was transferred is answered from where
/// it lies now, which its own address says.
///
/// # Errors
/// It cannot be known now.
pub fn issue(github: &dyn GitHub, reference: &WorkItemRef) -> Result<Option<Value>, Trouble> {
    item(github, reference, "issues")
}

/// The pull request; `None` when it is gone, or no pull request.
///
/// # Errors
/// It cannot be known now.
pub fn pull_request(github: &dyn GitHub, reference: &WorkItemRef) -> Result<Option<Value>, Trouble> {
    item(github, reference, "pulls")
}

fn item(github: &dyn GitHub, reference: &WorkItemRef, kind: &str) -> Result<Option<Value>, Trouble> {
    let repository = reference.repo();
    let path = format!("{}/{kind}/{}", repo_path(repository), reference.number());
    let answer = github.send(&Request::get(repository.host(), path))?;
    match fresh(repository.host(), &answer) {
        Err(Trouble::Gone { .. }) => Ok(None),
        other => other.map(Some),
    }
}

/// The issues that a pull request closes, as GitHub itself knows it; those the token may not see are left out.
///
/// # Errors
/// It cannot be known now, or the pull request is gone.
pub fn closing_issues(github: &dyn GitHub, pull_request: &WorkItemRef) -> Result<Vec<WorkItemRef>, Trouble> {
    let repository = pull_request.repo();
    let variables = json!({"owner": repository.owner(), "name": repository.name(), "number": pull_request.number()});
    let answer = github.send(&Request::graphql(repository.host(), CLOSING, variables))?;
    let nodes = graphql(repository.host(), &answer, "/repository/pullRequest/closingIssuesReferences/nodes")?;
    let shapeless = || odd(repository.host(), &answer, "the linked issues are of no known shape");
    let nodes = nodes.as_array().ok_or_else(shapeless)?.iter().filter(|node| !node.is_null());
    nodes.map(|node| linked(repository, node).ok_or_else(shapeless)).collect()
}

fn linked(beside: &RepoRef, node: &Value) -> Option<WorkItemRef> {
    let (owner, name) = node.pointer("/repository/nameWithOwner")?.as_str()?.split_once('/')?;
    let repository = RepoRef::new(beside.provider(), beside.host(), owner, name).ok()?;
    repository.item(node.get("number")?.as_u64()?).ok()
}

/// A repository as its host knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// GitHub's id, which survives renames.
    pub id: u64,
    /// Its present name.
    pub name: RepoRef,
}

/// What the host knows of a repository; one that was renamed is answered under its new name.
///
/// # Errors
/// It cannot be known now; [`Trouble::Refused`] when the token sees no such repository.
pub fn repository(github: &dyn GitHub, repository: &RepoRef) -> Result<Known, Trouble> {
    let answer = github.send(&Request::get(repository.host(), repo_path(repository)))?;
    let found = fresh(repository.host(), &answer).map_err(Trouble::of_repository)?;
    let known = || {
        let (owner, name) = found.get("full_name")?.as_str()?.split_once('/')?;
        let name = RepoRef::new(repository.provider(), repository.host(), owner, name).ok()?;
        Some(Known { id: found.get("id")?.as_u64()?, name })
    };
    known().ok_or_else(|| odd(repository.host(), &answer, "it is no repository"))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::super::fixtures::Says;
    use super::*;

    fn pull() -> WorkItemRef {
        WorkItemRef::parse("github:ghe.example/octo/hello#7").unwrap()
    }

    #[rstest]
    #[case(200, r#"{"number":7}"#, "Ok(Some(Object {\"number\": Number(7)}))")]
    #[case(404, "{}", "Ok(None)")]
    #[case(410, "{}", "Ok(None)")]
    #[case(502, "<html>", "Err(Outage")]
    fn q14_what_is_gone_is_none_and_trouble_is_trouble(#[case] status: u16, #[case] body: &str, #[case] want: &str) {
        for (ask, path) in [
            (issue as fn(&dyn GitHub, &WorkItemRef) -> _, "/repos/octo/hello/issues/7"),
            (pull_request, "/repos/octo/hello/pulls/7"),
        ] {
            let github = Says::new(status, body);
            let found = format!("{:?}", ask(&github, &pull()));
            assert!(found.starts_with(want), "{found}");
            assert_eq!(github.asked(), Request::get("ghe.example", path));
        }
    }

    #[test]
    fn linked_issues_are_of_the_same_host() {
        let node = |name: &str, number: u64| json!({"number": number, "repository": {"nameWithOwner": name}});
        let body = |nodes: Value| {
            let references = json!({"closingIssuesReferences": {"nodes": nodes}});
            json!({"data": {"repository": {"pullRequest": references}}}).to_string()
        };
        let github = Says::new(200, &body(json!([node("octo/hello", 5), null, node("other/Repo", 6)])));
        let found: Vec<String> = closing_issues(&github, &pull()).unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(found, ["github:ghe.example/octo/hello#5", "github:ghe.example/other/Repo#6"]);
        let asked = github.asked();
        assert_eq!(asked.host, "ghe.example");
        assert_eq!(asked.body.unwrap()["variables"], json!({"owner": "octo", "name": "hello", "number": 7}));
        for nodes in [json!([node("hello", 5)]), json!([node("a/b", 0)]), json!({})] {
            let odd = closing_issues(&Says::new(200, &body(nodes)), &pull());
            assert!(matches!(odd, Err(Trouble::Odd { .. })), "{odd:?}");
        }
    }

    #[test]
    fn a_repository_is_known_by_id_and_present_name() {
        let renamed = Says::new(200, r#"{"id":101,"full_name":"octo/goodbye"}"#);
        let found = repository(&renamed, pull().repo()).unwrap();
        assert_eq!((found.id, found.name.to_string()), (101, "github:ghe.example/octo/goodbye".to_owned()));
        let unseen = repository(&Says::new(404, "{}"), pull().repo());
        assert!(matches!(unseen, Err(Trouble::Refused { .. })), "{unseen:?}");
        assert!(matches!(repository(&Says::new(200, "{}"), pull().repo()), Err(Trouble::Odd { .. })));
    }
}
