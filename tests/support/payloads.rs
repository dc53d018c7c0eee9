//! Webhook bodies in GitHub's full shape, for tests, benches and the demonstration.
//!
//! A [`Repo`] makes everything that belongs to it: `repo.issue_comment_created(&item, &comment)` is a whole body.
//! Timestamps are GitHub's (`2026-01-02T03:04:05Z`). Numeric ids that nobody asks for are derived from the number.

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

#[path = "payload_objects.rs"]
mod objects;

pub use objects::{API, WEB, user};
use objects::{reactions, sha};

/// The value of `X-Hub-Signature-256` for `body`.
pub fn sign(secret: &[u8], body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("an HMAC key may have any length");
    mac.update(body);
    let hex: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256={hex}")
}

/// An issue, or the issue side of a pull request.
#[derive(Debug, Clone)]
pub struct Item {
    /// Number in its repository.
    pub number: u64,
    /// Title.
    pub title: String,
    /// Description.
    pub body: String,
    /// Who opened it.
    pub login: String,
    /// Label names.
    pub labels: Vec<String>,
    /// Open or closed.
    pub open: bool,
    /// When it was opened.
    pub created_at: String,
    /// When it last changed.
    pub updated_at: String,
    /// Set for pull requests.
    pub pull: Option<Pull>,
}

/// What a pull request has beside an issue.
#[derive(Debug, Clone)]
pub struct Pull {
    /// Head branch.
    pub branch: String,
    /// Head commit.
    pub sha: String,
    /// `owner/name` of the head repository; `None` when the fork was deleted.
    pub head_repo: Option<String>,
    /// Merged.
    pub merged: bool,
}

impl Item {
    /// An open issue.
    pub fn issue(number: u64, login: &str, at: &str) -> Self {
        Self {
            number,
            title: format!("Totals are wrong when a line is empty ({number})"),
            body: "An empty line counts as zero, and then the mean is off.".to_owned(),
            login: login.to_owned(),
            labels: Vec::new(),
            open: true,
            created_at: at.to_owned(),
            updated_at: at.to_owned(),
            pull: None,
        }
    }

    /// An open pull request from a branch of `repo` itself.
    pub fn pull(repo: &Repo, number: u64, branch: &str, login: &str, at: &str) -> Self {
        let pull = Pull {
            branch: branch.to_owned(),
            sha: format!("{number:040x}"),
            head_repo: Some(repo.full_name.clone()),
            merged: false,
        };
        Self { pull: Some(pull), title: format!("Skip empty lines ({number})"), ..Self::issue(number, login, at) }
    }

    /// The same with these labels.
    pub fn labeled(self, labels: &[&str]) -> Self {
        Self { labels: labels.iter().map(|label| (*label).to_owned()).collect(), ..self }
    }

    /// The same, closed at `at`.
    pub fn closed(self, at: &str) -> Self {
        Self { open: false, updated_at: at.to_owned(), ..self }
    }

    fn closed_at(&self) -> Value {
        if self.open { Value::Null } else { json!(self.updated_at) }
    }

    fn state(&self) -> &'static str {
        if self.open { "open" } else { "closed" }
    }
}

/// Something a person wrote: a comment, a review or a review comment.
#[derive(Debug, Clone)]
pub struct Said {
    /// Numeric id.
    pub id: u64,
    /// The text.
    pub text: String,
    /// Who wrote it, and so the sender.
    pub login: String,
    /// When.
    pub at: String,
}

impl Said {
    /// `login` says `text`.
    pub fn new(id: u64, login: &str, text: &str, at: &str) -> Self {
        Self { id, text: text.to_owned(), login: login.to_owned(), at: at.to_owned() }
    }
}

/// A repository on github.com.
#[derive(Debug, Clone)]
pub struct Repo {
    /// `owner/name`.
    pub full_name: String,
    /// Numeric id.
    pub id: u64,
}

impl Repo {
    /// The repository `owner/name`.
    pub fn new(full_name: &str, id: u64) -> Self {
        Self { full_name: full_name.to_owned(), id }
    }

    fn web(&self, rest: &str) -> String {
        format!("{WEB}/{}{rest}", self.full_name)
    }

    fn api(&self, rest: &str) -> String {
        format!("{API}/repos/{}{rest}", self.full_name)
    }

    /// `issues` with any action.
    pub fn issues(&self, action: &str, item: &Item, sender: &str) -> Value {
        self.body(action, sender, [("issue", self.issue_object(item))])
    }

    /// `issues.labeled` and `issues.unlabeled`; `item.labels` says what it carries afterwards.
    pub fn issues_label(&self, action: &str, item: &Item, label: &str, sender: &str) -> Value {
        self.body(action, sender, [("issue", self.issue_object(item)), ("label", self.label_object(label))])
    }

    /// `issue_comment.created`, on an issue or in the conversation of a pull request.
    pub fn issue_comment_created(&self, item: &Item, said: &Said) -> Value {
        let comment = self.comment_object(item.number, said);
        self.body("created", &said.login, [("issue", self.issue_object(item)), ("comment", comment)])
    }

    /// A comment in the conversation of `number`.
    pub fn comment_object(&self, number: u64, said: &Said) -> Value {
        json!({
            "url": self.api(&format!("/issues/comments/{}", said.id)),
            "html_url": self.web(&format!("/issues/{number}#issuecomment-{}", said.id)),
            "issue_url": self.api(&format!("/issues/{number}")),
            "id": said.id,
            "node_id": format!("IC_kwDO{}", said.id),
            "user": user(&said.login),
            "created_at": said.at,
            "updated_at": said.at,
            "author_association": "MEMBER",
            "body": said.text,
            "reactions": reactions(&self.api(&format!("/issues/comments/{}", said.id))),
            "performed_via_github_app": null,
        })
    }

    /// `pull_request` with any action.
    pub fn pull_request(&self, action: &str, item: &Item, sender: &str) -> Value {
        self.body(action, sender, [("number", json!(item.number)), ("pull_request", self.pull_object(item))])
    }

    /// `pull_request_review.submitted`; `state` is `approved`, `changes_requested` or `commented`.
    pub fn review_submitted(&self, item: &Item, state: &str, said: &Said) -> Value {
        let review = self.review_object(item, state, said);
        self.body("submitted", &said.login, [("review", review), ("pull_request", self.pull_object(item))])
    }

    /// A submitted review of `item`.
    pub fn review_object(&self, item: &Item, state: &str, said: &Said) -> Value {
        let number = item.number;
        json!({
            "id": said.id,
            "node_id": format!("PRR_kwDO{}", said.id),
            "user": user(&said.login),
            "body": said.text,
            "commit_id": sha(item),
            "submitted_at": said.at,
            "state": state,
            "html_url": self.web(&format!("/pull/{number}#pullrequestreview-{}", said.id)),
            "pull_request_url": self.api(&format!("/pulls/{number}")),
            "author_association": "MEMBER",
            "_links": {
                "html": {"href": self.web(&format!("/pull/{number}#pullrequestreview-{}", said.id))},
                "pull_request": {"href": self.api(&format!("/pulls/{number}"))},
            },
        })
    }

    /// `pull_request_review_comment.created` on a line of `path`.
    pub fn review_comment_created(&self, item: &Item, path: &str, line: u64, said: &Said) -> Value {
        let comment = self.review_comment_object(item, path, line, said);
        self.body("created", &said.login, [("comment", comment), ("pull_request", self.pull_object(item))])
    }

    /// A comment on a line of `path` in the diff of `item`.
    pub fn review_comment_object(&self, item: &Item, path: &str, line: u64, said: &Said) -> Value {
        let number = item.number;
        let url = self.api(&format!("/pulls/comments/{}", said.id));
        json!({
            "url": url,
            "pull_request_review_id": said.id + 1,
            "id": said.id,
            "node_id": format!("PRRC_kwDO{}", said.id),
            "diff_hunk": "@@ -1,3 +1,4 @@\n total = 0\n for line in lines:\n+    if not line: continue\n     total += int(line)",
            "path": path,
            "position": 3,
            "original_position": 3,
            "commit_id": sha(item),
            "original_commit_id": sha(item),
            "user": user(&said.login),
            "body": said.text,
            "created_at": said.at,
            "updated_at": said.at,
            "html_url": self.web(&format!("/pull/{number}#discussion_r{}", said.id)),
            "pull_request_url": self.api(&format!("/pulls/{number}")),
            "author_association": "MEMBER",
            "reactions": reactions(&url),
            "start_line": null,
            "original_start_line": null,
            "start_side": null,
            "line": line,
            "original_line": line,
            "side": "RIGHT",
            "subject_type": "line",
        })
    }

    /// `check_run.completed` on `head_sha`; `pulls` are the numbers GitHub names with it.
    pub fn check_run_completed(
        &self,
        id: u64,
        name: &str,
        conclusion: &str,
        head_sha: &str,
        pulls: &[u64],
        at: &str,
    ) -> Value {
        let check_run = self.check_run_object(id, name, conclusion, head_sha, pulls, at);
        self.body("completed", "github-actions[bot]", [("check_run", check_run)])
    }

    /// A check run that has completed at `at`.
    pub fn check_run_object(
        &self,
        id: u64,
        name: &str,
        conclusion: &str,
        head_sha: &str,
        pulls: &[u64],
        at: &str,
    ) -> Value {
        let pulls: Vec<Value> = pulls
            .iter()
            .map(|number| {
                let small = json!({"id": self.id, "url": self.api(""), "name": self.name()});
                json!({
                    "url": self.api(&format!("/pulls/{number}")),
                    "id": 700_000_000 + number,
                    "number": number,
                    "head": {"ref": format!("branch-{number}"), "sha": head_sha, "repo": small},
                    "base": {"ref": "main", "sha": "b".repeat(40), "repo": small},
                })
            })
            .collect();
        json!({
            "id": id,
            "node_id": format!("CR_kwDO{id}"),
            "head_sha": head_sha,
            "external_id": "",
            "url": self.api(&format!("/check-runs/{id}")),
            "html_url": self.web(&format!("/runs/{id}")),
            "details_url": self.web(&format!("/runs/{id}")),
            "status": "completed",
            "conclusion": conclusion,
            "started_at": at,
            "completed_at": at,
            "output": {"title": name, "summary": "1 of 40 tests failed", "text": null, "annotations_count": 0,
                "annotations_url": self.api(&format!("/check-runs/{id}/annotations"))},
            "name": name,
            "check_suite": {"id": id + 1, "head_branch": "main", "head_sha": head_sha, "status": "completed",
                "conclusion": conclusion, "url": self.api(&format!("/check-suites/{}", id + 1)), "pull_requests": pulls},
            "app": {"id": 15368, "slug": "github-actions", "owner": user("github"), "name": "GitHub Actions"},
            "pull_requests": pulls,
        })
    }

    /// `ping` of a repository's hook.
    pub fn ping(&self, sender: &str) -> Value {
        json!({
            "zen": "Keep it logically awesome.",
            "hook_id": 1000 + self.id,
            "hook": {"type": "Repository", "id": 1000 + self.id, "name": "web", "active": true, "events": ["*"],
                "config": {"content_type": "json", "insecure_ssl": "0", "url": "https://example.com/gh-webhook"}},
            "repository": self.object(),
            "sender": user(sender),
        })
    }

    /// `action`, the parts, then repository and sender, in GitHub's order.
    fn body<const N: usize>(&self, action: &str, sender: &str, parts: [(&str, Value); N]) -> Value {
        let mut body = serde_json::Map::new();
        body.insert("action".to_owned(), json!(action));
        body.extend(parts.into_iter().map(|(key, value)| (key.to_owned(), value)));
        body.insert("repository".to_owned(), self.object());
        body.insert("sender".to_owned(), user(sender));
        Value::Object(body)
    }
}
