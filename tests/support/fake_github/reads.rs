//! `GET`: from the path to the object or the list.

use serde_json::{Value, json};

use super::deliveries;
use super::lists::List;
use super::pages::{Call, Reply, page};
use super::shapes::{Places, Show};
use super::state::{Comment, Named, Place, Repository, Thing, World};

/// What a path leads to.
pub(super) enum Found<'w, 'c> {
    /// Something of this repository.
    In(&'w Repository, Vec<&'c str>),
    /// It has moved to this address.
    Moved(String),
    /// Nothing.
    Nothing,
}

/// Finds the repository of a path, by name or by id.
pub(super) fn find<'w, 'c>(world: &'w World, places: &Places, call: &'c Call) -> Found<'w, 'c> {
    let path: Vec<&str> = call.path.iter().map(String::as_str).collect();
    match path.as_slice() {
        ["repos", owner, name, rest @ ..] => match world.named(&format!("{owner}/{name}")) {
            Some(Named::Here(repo)) => Found::In(repo, rest.to_vec()),
            Some(Named::Formerly(repo)) => {
                let query = call.query_with(&[]);
                let query = if query.is_empty() { query } else { format!("?{query}") };
                Found::Moved(format!("{}{query}", canonical(places, repo, rest)))
            }
            None => Found::Nothing,
        },
        ["repositories", id, rest @ ..] => {
            let repo = id.parse().ok().and_then(|id: u64| world.repositories.get(&id));
            repo.map_or(Found::Nothing, |repo| Found::In(repo, rest.to_vec()))
        }
        _ => Found::Nothing,
    }
}

/// The address by id, which GitHub's own links use.
fn canonical(places: &Places, repo: &Repository, rest: &[&str]) -> String {
    let rest: String = rest.iter().map(|part| format!("/{part}")).collect();
    format!("{}/repositories/{}{rest}", places.api, repo.id)
}

/// Answers `GET`.
pub(super) fn read(world: &World, places: &Places, call: &Call) -> Reply {
    match find(world, places, call) {
        Found::In(repo, rest) => Reader { world, places, call, repo, show: Show::new(places, repo) }.read(&rest),
        Found::Moved(to) => Reply::moved(call, to),
        Found::Nothing => Reply::not_found(),
    }
}

struct Reader<'a> {
    world: &'a World,
    places: &'a Places,
    call: &'a Call,
    repo: &'a Repository,
    show: Show<'a>,
}

impl Reader<'_> {
    fn read(&self, rest: &[&str]) -> Reply {
        let url = canonical(self.places, self.repo, rest);
        let list = List { call: self.call, url, repo: self.repo, show: &self.show };
        match rest {
            [] => Reply::ok(self.show.repository()),
            ["issues", rest @ ..] => self.issues(&list, rest),
            ["pulls", rest @ ..] => self.pulls(&list, rest),
            ["commits", sha, rest @ ..] => self.commit(&list, sha, rest),
            ["collaborators", login, "permission"] => self.permission(login),
            ["hooks", rest @ ..] => self.hooks(&list, rest),
            _ => Reply::not_found(),
        }
    }

    fn issues(&self, list: &List<'_>, rest: &[&str]) -> Reply {
        match rest {
            [] => list.issues(),
            ["comments"] => list.comments(self.repo.comments.values()),
            ["comments", id, rest @ ..] => match self.comment(id, &self.repo.comments) {
                Some(comment) => self.of_comment(list, comment, rest),
                None => Reply::not_found(),
            },
            [number, rest @ ..] => self.on_ticket(number, rest, |number| match rest {
                [] => Reply::ok(self.show.issue(self.repo.ticket(number))),
                ["comments"] => list.comments(self.repo.comments.values().filter(|c| c.number == number)),
                ["reactions"] => list.reactions(Thing::Ticket(number)),
                _ => Reply::not_found(),
            }),
        }
    }

    fn pulls(&self, list: &List<'_>, rest: &[&str]) -> Reply {
        match rest {
            [] => list.pulls(),
            ["comments"] => list.comments(self.repo.review_comments.values()),
            ["comments", id, rest @ ..] => match self.comment(id, &self.repo.review_comments) {
                Some(comment) => self.of_comment(list, comment, rest),
                None => Reply::not_found(),
            },
            [number, rest @ ..] => self.on_ticket(number, rest, |number| match rest {
                _ if self.repo.ticket(number).pull.is_none() => Reply::not_found(),
                [] => Reply::ok(self.show.pull(self.repo.ticket(number))),
                ["reviews"] => list.reviews(number),
                ["comments"] => list.comments(self.repo.review_comments.values().filter(|c| c.number == number)),
                _ => Reply::not_found(),
            }),
        }
    }

    fn comment<'r>(&self, id: &str, comments: &'r std::collections::BTreeMap<u64, Comment>) -> Option<&'r Comment> {
        comments.get(&id.parse().ok()?)
    }

    fn of_comment(&self, list: &List<'_>, comment: &Comment, rest: &[&str]) -> Reply {
        match rest {
            [] => Reply::ok(self.show.comment(comment)),
            ["reactions"] if comment.on.is_some() => list.reactions(Thing::ReviewComment(comment.id)),
            ["reactions"] => list.reactions(Thing::Comment(comment.id)),
            _ => Reply::not_found(),
        }
    }

    /// Answers for a ticket that is here; one that was transferred redirects, one that was deleted is gone.
    fn on_ticket(&self, number: &str, rest: &[&str], here: impl Fn(u64) -> Reply) -> Reply {
        let number = number.parse().unwrap_or(0);
        match self.repo.tickets.get(&number).map(|ticket| ticket.place) {
            Some(Place::Here) => here(number),
            Some(Place::Moved(repo, number)) => {
                let number = number.to_string();
                let path: Vec<&str> = ["issues", &number].into_iter().chain(rest.iter().copied()).collect();
                Reply::moved(self.call, canonical(self.places, &self.world.repositories[&repo], &path))
            }
            Some(Place::Gone) => Reply::refused(410, "This issue was deleted"),
            None => Reply::not_found(),
        }
    }

    fn commit(&self, list: &List<'_>, sha: &str, rest: &[&str]) -> Reply {
        match rest {
            ["check-runs" | "status"] if !self.repo.commits.contains(sha) => {
                Reply::refused(422, &format!("No commit found for SHA: {sha}"))
            }
            ["check-runs"] => list.checks(sha),
            ["status"] => list.statuses(sha),
            _ => Reply::not_found(),
        }
    }

    /// `…/collaborators/{login}/permission`, for those who may write themselves. A login without a role is read as
    /// everybody's right to read a public repository.
    fn permission(&self, login: &str) -> Reply {
        if !self.repo.is_writer(&self.call.login) {
            return Reply::refused(403, "Must have push access to view collaborator permission.");
        }
        if login == "ghost" {
            return Reply::refused(404, "ghost is not a user");
        }
        let role = self.repo.role(login);
        let permission = match role {
            "maintain" => "write",
            "triage" => "read",
            plain => plain,
        };
        Reply::ok(json!({"permission": permission, "user": self.show.user(login), "role_name": role}))
    }

    /// Hooks, for administrators alone; to others there are none.
    fn hooks(&self, list: &List<'_>, rest: &[&str]) -> Reply {
        if self.repo.role(&self.call.login) != "admin" {
            return Reply::not_found();
        }
        let hook = |hook: &super::state::Hook| deliveries::hook(self.repo, hook, &self.places.api);
        match rest {
            [] => page(self.call, &list.url, &self.repo.hooks, None, hook),
            [id, "deliveries"] => list.deliveries(id.parse().unwrap_or(0)),
            _ => Reply::not_found(),
        }
    }
}

/// `POST /graphql`: the linked issues of a pull request, the one question that is understood.
pub(super) fn graphql(world: &World, places: &Places, call: &Call) -> Reply {
    let query = call.body["query"].as_str().unwrap_or_default();
    if !query.contains("closingIssuesReferences") {
        return Reply::ok(json!({"errors": [{"message": "this fake understands closingIssuesReferences alone"}]}));
    }
    let variables = &call.body["variables"];
    let text = |key: &str| variables[key].as_str().unwrap_or_default();
    let full_name = format!("{}/{}", text("owner"), text("name"));
    // GraphQL finds renamed repositories under their former names, too.
    let Some(Named::Here(repo) | Named::Formerly(repo)) = world.named(&full_name) else {
        let message = format!("Could not resolve to a Repository with the name '{full_name}'.");
        return unresolved(json!({"repository": null}), json!(["repository"]), &message);
    };
    let number = variables["number"].as_u64().unwrap_or(0);
    if repo.tickets.get(&number).is_none_or(|ticket| ticket.pull.is_none()) {
        let message = format!("Could not resolve to a PullRequest with the number of {number}.");
        let data = json!({"repository": {"pullRequest": null}});
        return unresolved(data, json!(["repository", "pullRequest"]), &message);
    }
    let linked = repo.closes.get(&number).map_or(&[][..], Vec::as_slice);
    let nodes: Vec<Value> = linked.iter().map(|(id, number)| node(&world.repositories[id], *number, places)).collect();
    let references =
        json!({"totalCount": nodes.len(), "pageInfo": {"hasNextPage": false, "endCursor": null}, "nodes": nodes});
    Reply::ok(json!({"data": {"repository": {"pullRequest": {"closingIssuesReferences": references}}}}))
}

fn node(repo: &Repository, number: u64, places: &Places) -> Value {
    let ticket = repo.ticket(number);
    json!({"id": format!("I_kwDO{}", ticket.id), "databaseId": ticket.id, "number": number, "title": ticket.title,
        "state": if ticket.is_open() { "OPEN" } else { "CLOSED" },
        "url": format!("{}/{}/issues/{number}", places.web, repo.full_name),
        "repository": {"nameWithOwner": repo.full_name, "databaseId": repo.id}})
}

fn unresolved(data: Value, path: Value, message: &str) -> Reply {
    let error = json!({"type": "NOT_FOUND", "path": path, "locations": [{"line": 1, "column": 1}], "message": message});
    Reply::ok(json!({"data": data, "errors": [error]}))
}
