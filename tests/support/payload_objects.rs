//! The objects GitHub's webhook bodies are made of: repository, user, label, issue, pull request.

use serde_json::{Value, json};

use super::{Item, Repo};

/// The web side of github.com.
pub const WEB: &str = "https://github.com";
/// The REST side of github.com.
pub const API: &str = "https://api.github.com";

/// What a repository's API address is followed by; the key of each is its first part with `_url`.
const URLS: [&str; 36] = [
    "forks",
    "keys{/key_id}",
    "collaborators{/collaborator}",
    "teams",
    "hooks",
    "issues/events{/number}",
    "events",
    "assignees{/user}",
    "branches{/branch}",
    "tags",
    "git/blobs{/sha}",
    "git/tags{/sha}",
    "git/refs{/sha}",
    "git/trees{/sha}",
    "statuses/{sha}",
    "languages",
    "stargazers",
    "contributors",
    "subscribers",
    "subscription",
    "commits{/sha}",
    "git/commits{/sha}",
    "comments{/number}",
    "issues/comments{/number}",
    "contents/{+path}",
    "compare/{base}...{head}",
    "merges",
    "{archive_format}{/ref}",
    "downloads",
    "issues{/number}",
    "pulls{/number}",
    "milestones{/number}",
    "notifications{?since,all,participating}",
    "labels{/name}",
    "releases{/id}",
    "deployments",
];

impl Repo {
    pub(super) fn name(&self) -> &str {
        self.full_name.split('/').next_back().unwrap_or(&self.full_name)
    }

    fn owner(&self) -> &str {
        self.full_name.split('/').next().unwrap_or(&self.full_name)
    }

    /// The repository object.
    pub fn object(&self) -> Value {
        let mut object = json!({
            "id": self.id,
            "node_id": format!("R_kgDO{}", self.id),
            "name": self.name(),
            "full_name": self.full_name,
            "private": false,
            "owner": user(self.owner()),
            "html_url": self.web(""),
            "description": "Sums the lines of a file",
            "fork": false,
            "url": self.api(""),
        });
        for rest in URLS {
            let key: String = rest.split(['{', '?']).next().unwrap_or(rest).trim_end_matches('/').replace('/', "_");
            let key = if key.is_empty() { "archive".to_owned() } else { key };
            object[format!("{key}_url")] = json!(self.api(&format!("/{rest}")));
        }
        let plain = json!({
            "created_at": "2019-05-15T15:19:25Z", "updated_at": "2025-11-01T10:00:00Z", "pushed_at": "2025-11-01T10:00:00Z",
            "git_url": format!("git://github.com/{}.git", self.full_name),
            "ssh_url": format!("git@github.com:{}.git", self.full_name),
            "clone_url": self.web(".git"), "svn_url": self.web(""), "homepage": null, "size": 1204,
            "stargazers_count": 3, "watchers_count": 3, "language": "Python", "has_issues": true, "has_projects": true,
            "has_downloads": true, "has_wiki": true, "has_pages": false, "has_discussions": false, "forks_count": 1,
            "mirror_url": null, "archived": false, "disabled": false, "open_issues_count": 12, "license": null,
            "allow_forking": true, "is_template": false, "web_commit_signoff_required": false, "topics": [],
            "visibility": "public", "forks": 1, "open_issues": 12, "watchers": 3, "default_branch": "main",
        });
        merge(&mut object, plain);
        object
    }

    /// The label `name`.
    pub fn label_object(&self, name: &str) -> Value {
        json!({"id": 900_000_000 + name.len(), "node_id": "LA_kwDO", "url": self.api(&format!("/labels/{}", name.replace(' ', "%20"))),
            "name": name, "color": "d73a4a", "default": false, "description": format!("About {name}")})
    }

    fn labels(&self, item: &Item) -> Vec<Value> {
        item.labels.iter().map(|label| self.label_object(label)).collect()
    }

    /// The issue side of an item.
    pub fn issue_object(&self, item: &Item) -> Value {
        let number = item.number;
        let side = if item.pull.is_some() { "pull" } else { "issues" };
        let mut issue = json!({
            "url": self.api(&format!("/issues/{number}")),
            "repository_url": self.api(""),
            "labels_url": self.api(&format!("/issues/{number}/labels{{/name}}")),
            "comments_url": self.api(&format!("/issues/{number}/comments")),
            "events_url": self.api(&format!("/issues/{number}/events")),
            "html_url": self.web(&format!("/{side}/{number}")),
            "id": 600_000_000 + number,
            "node_id": format!("I_kwDO{number}"),
            "number": number,
            "title": item.title,
            "user": user(&item.login),
            "labels": self.labels(item),
            "state": item.state(),
            "locked": false,
            "assignee": user(&item.login),
            "assignees": [user(&item.login)],
            "milestone": null,
            "comments": 4,
            "created_at": item.created_at,
            "updated_at": item.updated_at,
            "closed_at": item.closed_at(),
            "author_association": "MEMBER",
            "active_lock_reason": null,
            "body": item.body,
            "reactions": reactions(&self.api(&format!("/issues/{number}"))),
            "timeline_url": self.api(&format!("/issues/{number}/timeline")),
            "performed_via_github_app": null,
            "state_reason": null,
        });
        if item.pull.is_some() {
            issue["draft"] = json!(false);
            issue["pull_request"] = json!({
                "url": self.api(&format!("/pulls/{number}")), "html_url": self.web(&format!("/pull/{number}")),
                "diff_url": self.web(&format!("/pull/{number}.diff")), "patch_url": self.web(&format!("/pull/{number}.patch")),
                "merged_at": null,
            });
        }
        issue
    }

    /// The pull-request side of an item.
    pub fn pull_object(&self, item: &Item) -> Value {
        let number = item.number;
        let merged = item.pull.as_ref().is_some_and(|pull| pull.merged);
        let mut object = json!({
            "url": self.api(&format!("/pulls/{number}")),
            "id": 700_000_000 + number,
            "node_id": format!("PR_kwDO{number}"),
            "html_url": self.web(&format!("/pull/{number}")),
            "diff_url": self.web(&format!("/pull/{number}.diff")),
            "patch_url": self.web(&format!("/pull/{number}.patch")),
            "issue_url": self.api(&format!("/issues/{number}")),
            "number": number,
            "state": item.state(),
            "locked": false,
            "title": item.title,
            "user": user(&item.login),
            "body": item.body,
            "created_at": item.created_at,
            "updated_at": item.updated_at,
            "closed_at": item.closed_at(),
            "merged_at": if merged { json!(item.updated_at) } else { Value::Null },
            "merge_commit_sha": "c".repeat(40),
            "assignee": null, "assignees": [], "requested_reviewers": [], "requested_teams": [],
            "labels": self.labels(item),
            "milestone": null,
            "draft": false,
            "commits_url": self.api(&format!("/pulls/{number}/commits")),
            "review_comments_url": self.api(&format!("/pulls/{number}/comments")),
            "review_comment_url": self.api("/pulls/comments{/number}"),
            "comments_url": self.api(&format!("/issues/{number}/comments")),
            "statuses_url": self.api(&format!("/statuses/{}", sha(item))),
        });
        let rest = json!({
            "head": self.head(item),
            "base": {"label": format!("{}:main", self.owner()), "ref": "main", "sha": "b".repeat(40),
                "user": user(self.owner()), "repo": self.object()},
            "author_association": "MEMBER", "auto_merge": null, "active_lock_reason": null, "merged": merged,
            "mergeable": null, "rebaseable": null, "mergeable_state": "unknown",
            "merged_by": if merged { user(&item.login) } else { Value::Null },
            "comments": 0, "review_comments": 1, "maintainer_can_modify": false, "commits": 1, "additions": 1,
            "deletions": 0, "changed_files": 1,
        });
        merge(&mut object, rest);
        object
    }

    fn head(&self, item: &Item) -> Value {
        let branch = item.pull.as_ref().map_or("main", |pull| pull.branch.as_str());
        let repo = item.pull.as_ref().and_then(|pull| pull.head_repo.as_deref());
        let owner = repo.and_then(|name| name.split('/').next());
        let id = if repo == Some(self.full_name.as_str()) { self.id } else { self.id + 1 };
        json!({
            "label": format!("{}:{branch}", owner.unwrap_or("unknown")),
            "ref": branch,
            "sha": sha(item),
            "user": owner.map(user),
            "repo": repo.map(|name| Self::new(name, id).object()),
        })
    }
}

pub(super) fn sha(item: &Item) -> &str {
    item.pull.as_ref().map_or("", |pull| pull.sha.as_str())
}

fn merge(into: &mut Value, from: Value) {
    if let (Value::Object(into), Value::Object(from)) = (into, from) {
        into.extend(from);
    }
}

pub(super) fn reactions(url: &str) -> Value {
    json!({"url": format!("{url}/reactions"), "total_count": 0, "+1": 0, "-1": 0, "laugh": 0, "hooray": 0, "confused": 0,
        "heart": 0, "rocket": 0, "eyes": 0})
}

/// A user object; names that end in `[bot]` are bots. The id is derived from the name.
pub fn user(login: &str) -> Value {
    let id = login.bytes().fold(5381_u32, |hash, byte| hash.wrapping_mul(33) ^ u32::from(byte)) % 100_000_000;
    let api = format!("{API}/users/{login}");
    json!({
        "login": login,
        "id": id,
        "node_id": format!("U_kgDO{id}"),
        "avatar_url": format!("https://avatars.githubusercontent.com/u/{id}?v=4"),
        "gravatar_id": "",
        "url": api,
        "html_url": format!("{WEB}/{login}"),
        "followers_url": format!("{api}/followers"),
        "following_url": format!("{api}/following{{/other_user}}"),
        "gists_url": format!("{api}/gists{{/gist_id}}"),
        "starred_url": format!("{api}/starred{{/owner}}{{/repo}}"),
        "subscriptions_url": format!("{api}/subscriptions"),
        "organizations_url": format!("{api}/orgs"),
        "repos_url": format!("{api}/repos"),
        "events_url": format!("{api}/events{{/privacy}}"),
        "received_events_url": format!("{api}/received_events"),
        "type": if login.ends_with("[bot]") { "Bot" } else { "User" },
        "site_admin": false,
    })
}
