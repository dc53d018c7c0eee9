//! GitHub's objects out of what the fake holds: the same in answers and in webhook bodies.

use serde_json::{Value, json};

use super::state::{Check, Comment, Reaction, Repository, Review, Status, Thing, Ticket, stamp};
use crate::payloads::{API, Item, Pull, Repo, Said, WEB, user};

/// Where this GitHub is.
#[derive(Debug, Clone)]
pub struct Places {
    /// Base of the REST API, without a slash at the end.
    pub api: String,
    /// Base of its pages.
    pub web: String,
}

/// Shows the things of one repository.
pub struct Show<'a> {
    places: &'a Places,
    repo: &'a Repository,
    base: Repo,
}

impl<'a> Show<'a> {
    /// Of `repo`.
    pub fn new(places: &'a Places, repo: &'a Repository) -> Self {
        Self { places, repo, base: Repo::new(&repo.full_name, repo.id) }
    }

    /// The repository itself.
    pub fn repository(&self) -> Value {
        self.placed(self.base.object())
    }

    /// Somebody.
    pub fn user(&self, login: &str) -> Value {
        self.placed(user(login))
    }

    /// A label.
    pub fn label(&self, name: &str) -> Value {
        self.placed(self.base.label_object(name))
    }

    /// The issue side of a ticket.
    pub fn issue(&self, ticket: &Ticket) -> Value {
        let mut object = self.base.issue_object(&item(&self.repo.full_name, ticket));
        let comments = self.repo.comments.values().filter(|comment| comment.number == ticket.number);
        set(
            &mut object,
            json!({
                "id": ticket.id, "node_id": format!("I_kwDO{}", ticket.id), "locked": ticket.locked,
                "active_lock_reason": null, "assignee": null, "assignees": [], "comments": comments.count(),
                "closed_at": ticket.closed_at.map(stamp),
                "state_reason": ticket.closed_at.map(|_| "completed"),
                "reactions": self.counts(Thing::Ticket(ticket.number), &format!("/issues/{}", ticket.number)),
            }),
        );
        if let Some(pull) = &ticket.pull {
            object["pull_request"]["merged_at"] = json!(pull.merged_at.map(stamp));
        }
        self.placed(object)
    }

    /// The pull-request side of a ticket.
    pub fn pull(&self, ticket: &Ticket) -> Value {
        let mut object = self.base.pull_object(&item(&self.repo.full_name, ticket));
        let on = |comments: &mut dyn Iterator<Item = &Comment>| comments.filter(|c| c.number == ticket.number).count();
        set(
            &mut object,
            json!({
                "id": ticket.id + 1, "node_id": format!("PR_kwDO{}", ticket.id + 1), "locked": ticket.locked,
                "closed_at": ticket.closed_at.map(stamp),
                "merged_at": ticket.pull.as_ref().and_then(|pull| pull.merged_at).map(stamp),
                "comments": on(&mut self.repo.comments.values()),
                "review_comments": on(&mut self.repo.review_comments.values()),
            }),
        );
        let links = [
            ("self", "url"),
            ("html", "html_url"),
            ("issue", "issue_url"),
            ("comments", "comments_url"),
            ("review_comments", "review_comments_url"),
            ("review_comment", "review_comment_url"),
            ("commits", "commits_url"),
            ("statuses", "statuses_url"),
        ];
        object["_links"] = linked(&object, &links);
        self.placed(object)
    }

    /// A pull request in a list: without what GitHub computes only for one alone.
    pub fn pull_in_list(&self, ticket: &Ticket) -> Value {
        let mut object = self.pull(ticket);
        for key in [
            "merged",
            "mergeable",
            "rebaseable",
            "mergeable_state",
            "merged_by",
            "comments",
            "review_comments",
            "maintainer_can_modify",
            "commits",
            "additions",
            "deletions",
            "changed_files",
        ] {
            object.as_object_mut().and_then(|object| object.shift_remove(key));
        }
        object
    }

    /// A comment in a conversation or on a diff.
    pub fn comment(&self, comment: &Comment) -> Value {
        let said = Said::new(comment.id, &comment.login, &comment.text, &stamp(comment.created_at));
        let ticket = self.repo.tickets.get(&comment.number);
        let (mut object, thing) = match (&comment.on, ticket) {
            (Some((path, line, sha)), Some(ticket)) => {
                let mut object =
                    self.base.review_comment_object(&item(&self.repo.full_name, ticket), path, *line, &said);
                set(&mut object, json!({"original_commit_id": sha}));
                let links = [("self", "url"), ("html", "html_url"), ("pull_request", "pull_request_url")];
                object["_links"] = linked(&object, &links);
                (object, Thing::ReviewComment(comment.id))
            }
            _ => (self.base.comment_object(comment.number, &said), Thing::Comment(comment.id)),
        };
        let side = if comment.on.is_some() { "pulls" } else { "issues" };
        let counts = self.counts(thing, &format!("/{side}/comments/{}", comment.id));
        set(&mut object, json!({"updated_at": stamp(comment.updated_at), "reactions": counts}));
        if comment.on.is_none() && ticket.is_some_and(|ticket| ticket.pull.is_some()) {
            let page = format!("{WEB}/{}/pull/{}#issuecomment-{}", self.repo.full_name, comment.number, comment.id);
            object["html_url"] = json!(page);
        }
        self.placed(object)
    }

    /// A review; the REST API writes its state in capitals, webhooks do not.
    pub fn review(&self, review: &Review, in_capitals: bool) -> Value {
        let said = Said::new(review.id, &review.login, &review.text, &stamp(review.submitted_at));
        let state = if in_capitals { review.state.to_ascii_uppercase() } else { review.state.clone() };
        let item = item(&self.repo.full_name, self.repo.ticket(review.number));
        let mut object = self.base.review_object(&item, &state, &said);
        object["commit_id"] = json!(review.sha);
        self.placed(object)
    }

    /// A check run.
    pub fn check(&self, check: &Check) -> Value {
        let Check { id, name, conclusion, sha, .. } = check;
        let pulls = self.repo.pulls_of(sha);
        self.placed(self.base.check_run_object(*id, name, conclusion, sha, &pulls, &stamp(check.completed_at)))
    }

    /// A commit status.
    pub fn status(&self, status: &Status) -> Value {
        let Status { id, sha, context, state, .. } = status;
        let at = stamp(status.created_at);
        self.placed(json!({
            "url": format!("{API}/repos/{}/statuses/{sha}", self.repo.full_name),
            "avatar_url": "https://avatars.githubusercontent.com/oa/1", "id": id, "node_id": format!("SC_kwDO{id}"),
            "state": state, "description": format!("{context} ended"), "target_url": null, "context": context,
            "created_at": at, "updated_at": at,
        }))
    }

    /// A reaction.
    pub fn reaction(&self, reaction: &Reaction) -> Value {
        json!({"id": reaction.id, "node_id": format!("REA_{}", reaction.id), "user": self.user(&reaction.login),
            "content": reaction.content, "created_at": stamp(reaction.created_at)})
    }

    /// How often there is each reaction.
    fn counts(&self, on: Thing, path: &str) -> Value {
        let count = |content: &str| {
            let here = self.repo.reactions.iter().filter(|reaction| reaction.on == on);
            here.filter(|reaction| content.is_empty() || reaction.content == content).count()
        };
        let mut counts = json!({"url": format!("{API}/repos/{}{path}/reactions", self.repo.full_name)});
        counts["total_count"] = json!(count(""));
        for content in super::REACTIONS {
            counts[content] = json!(count(content));
        }
        counts
    }

    /// With the addresses of this GitHub in place of those of github.com.
    fn placed(&self, mut value: Value) -> Value {
        self.places.place(&mut value);
        value
    }
}

impl Places {
    fn place(&self, value: &mut Value) {
        match value {
            Value::Object(entries) => {
                for (key, value) in entries.iter_mut() {
                    match value {
                        Value::String(text) if key.ends_with("url") || key == "href" => *text = self.placed(text),
                        _ => self.place(value),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.place(item)),
            _ => {}
        }
    }

    fn placed(&self, url: &str) -> String {
        let moved = |from: &str, to: &str| url.strip_prefix(from).map(|rest| format!("{to}{rest}"));
        moved(API, &self.api).or_else(|| moved(WEB, &self.web)).unwrap_or_else(|| url.to_owned())
    }
}

fn item(repo: &str, ticket: &Ticket) -> Item {
    let pull = ticket.pull.as_ref().map(|pull| Pull {
        branch: pull.branch.clone(),
        sha: pull.sha.clone(),
        head_repo: Some(repo.to_owned()),
        merged: pull.merged_at.is_some(),
    });
    Item {
        number: ticket.number,
        title: ticket.title.clone(),
        body: ticket.body.clone(),
        login: ticket.login.clone(),
        labels: ticket.labels.clone(),
        open: ticket.is_open(),
        created_at: stamp(ticket.created_at),
        updated_at: stamp(ticket.updated_at),
        pull,
    }
}

/// `_links`: for each relation the address that the object has under another key.
fn linked(object: &Value, relations: &[(&str, &str)]) -> Value {
    let links = relations.iter().map(|(relation, key)| ((*relation).to_owned(), json!({"href": object[*key]})));
    Value::Object(links.collect())
}

/// Puts the keys of `values` into `object`.
fn set(object: &mut Value, values: Value) {
    if let (Value::Object(object), Value::Object(values)) = (object, values) {
        object.extend(values);
    }
}
