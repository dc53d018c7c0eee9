//! What people and machines say: comments, reviews, checks, statuses.

use serde_json::{Value, json};

use super::FakeGitHub;
use super::state::{Check, Comment, Review, Status, stamp};

impl FakeGitHub {
    /// Comments on an issue or in the conversation of a pull request; says the id.
    pub fn comment(&mut self, repo: &str, number: u64, login: &str, text: &str) -> u64 {
        let (now, id) = (self.now(), self.fresh_id());
        let here = self.repo_mut(repo);
        here.touch(number, now);
        here.comments.insert(id, said(id, number, login, text, now));
        self.tell_comment(repo, id, "created", login, Vec::new());
        id
    }

    /// Comments on a line of a pull request's diff; says the id.
    pub fn review_comment(
        &mut self,
        repo: &str,
        number: u64,
        login: &str,
        (path, line): (&str, u64),
        text: &str,
    ) -> u64 {
        let (now, id) = (self.now(), self.fresh_id());
        let here = self.repo_mut(repo);
        here.touch(number, now);
        let on = Some((path.to_owned(), line, here.head(number).to_owned()));
        here.review_comments.insert(id, Comment { on, ..said(id, number, login, text, now) });
        self.tell_comment(repo, id, "created", login, Vec::new());
        id
    }

    /// Changes the words of a comment of either kind.
    pub fn edit_comment(&mut self, repo: &str, id: u64, login: &str, text: &str) {
        let now = self.now();
        let here = self.repo_mut(repo);
        let comment = match here.comments.get_mut(&id) {
            Some(comment) => comment,
            None => here.review_comments.get_mut(&id).expect("a comment with this id"),
        };
        let from = std::mem::replace(&mut comment.text, text.to_owned());
        comment.updated_at = now;
        let number = comment.number;
        here.touch(number, now);
        self.tell_comment(repo, id, "edited", login, vec![("changes", json!({"body": {"from": from}}))]);
    }

    /// Takes a comment of either kind back.
    pub fn delete_comment(&mut self, repo: &str, id: u64, login: &str) {
        let now = self.now();
        let number = self.comment_of(repo, id).number;
        self.repo_mut(repo).touch(number, now);
        let (event, parts) = self.comment_parts(repo, id);
        let here = self.repo_mut(repo);
        here.comments.remove(&id);
        here.review_comments.remove(&id);
        self.tell(repo, event, "deleted", login, parts);
    }

    /// Reviews a pull request: `approved`, `changes_requested` or `commented`; says the id.
    pub fn review(&mut self, repo: &str, number: u64, login: &str, state: &str, text: &str) -> u64 {
        let (now, id) = (self.now(), self.fresh_id());
        let here = self.repo_mut(repo);
        here.touch(number, now);
        let review = Review {
            id,
            number,
            login: login.to_owned(),
            state: state.to_owned(),
            text: text.to_owned(),
            sha: here.head(number).to_owned(),
            submitted_at: now,
        };
        here.reviews.insert(id, review);
        self.tell_review(repo, id, "submitted", login);
        id
    }

    /// Takes the weight off a review.
    pub fn dismiss(&mut self, repo: &str, id: u64, login: &str) {
        let now = self.now();
        let here = self.repo_mut(repo);
        let review = here.reviews.get_mut(&id).expect("a review with this id");
        review.state = "dismissed".to_owned();
        let number = review.number;
        here.touch(number, now);
        self.tell_review(repo, id, "dismissed", login);
    }

    /// A check run on a commit completes; says the id. Nothing about the pull request changes.
    pub fn check(&mut self, repo: &str, sha: &str, name: &str, conclusion: &str) -> u64 {
        let (now, id) = (self.now(), self.fresh_id());
        let check = Check {
            id,
            sha: sha.to_owned(),
            name: name.to_owned(),
            conclusion: conclusion.to_owned(),
            completed_at: now,
        };
        let here = self.repo_mut(repo);
        here.commits.insert(sha.to_owned());
        here.checks.push(check.clone());
        let object = self.show(self.repo(repo)).check(&check);
        self.tell(repo, "check_run", "completed", "github-actions[bot]", vec![("check_run", object)]);
        id
    }

    /// A commit status is set: `error`, `failure`, `pending` or `success`; says the id.
    pub fn set_status(&mut self, repo: &str, sha: &str, login: &str, context: &str, state: &str) -> u64 {
        let (now, id) = (self.now(), self.fresh_id());
        let status =
            Status { id, sha: sha.to_owned(), context: context.to_owned(), state: state.to_owned(), created_at: now };
        let here = self.repo_mut(repo);
        here.commits.insert(sha.to_owned());
        here.statuses.push(status);
        let name = here.full_name.clone();
        let at = stamp(now);
        // This event carries its own keys at the top and has no action.
        let parts = vec![
            ("id", json!(id)),
            ("sha", json!(sha)),
            ("name", json!(name)),
            ("target_url", Value::Null),
            ("context", json!(context)),
            ("description", json!(format!("{context} ended"))),
            ("state", json!(state)),
            ("commit", json!({"sha": sha, "html_url": format!("{}/{name}/commit/{sha}", self.places.web)})),
            ("branches", json!([])),
            ("created_at", json!(at)),
            ("updated_at", json!(at)),
        ];
        self.tell(repo, "status", "", login, parts);
        id
    }

    fn tell_comment(&mut self, repo: &str, id: u64, action: &str, login: &str, more: Vec<(&'static str, Value)>) {
        let (event, mut parts) = self.comment_parts(repo, id);
        parts.extend(more);
        self.tell(repo, event, action, login, parts);
    }

    /// The event a comment makes and what it shows.
    fn comment_parts(&self, repo: &str, id: u64) -> (&'static str, Vec<(&'static str, Value)>) {
        let (here, comment) = (self.repo(repo), self.comment_of(repo, id));
        let (show, ticket) = (self.show(here), here.ticket(comment.number));
        let (event, on) = match comment.on {
            Some(_) => ("pull_request_review_comment", ("pull_request", show.pull(ticket))),
            None => ("issue_comment", ("issue", show.issue(ticket))),
        };
        (event, vec![on, ("comment", show.comment(comment))])
    }

    fn comment_of(&self, repo: &str, id: u64) -> &Comment {
        let here = self.repo(repo);
        here.comments.get(&id).or_else(|| here.review_comments.get(&id)).expect("a comment with this id")
    }

    fn tell_review(&mut self, repo: &str, id: u64, action: &str, login: &str) {
        let here = self.repo(repo);
        let review = &here.reviews[&id];
        let show = self.show(here);
        let parts =
            vec![("review", show.review(review, false)), ("pull_request", show.pull(here.ticket(review.number)))];
        self.tell(repo, "pull_request_review", action, login, parts);
    }
}

fn said(id: u64, number: u64, login: &str, text: &str, now: i64) -> Comment {
    let (login, text) = (login.to_owned(), text.to_owned());
    Comment { id, number, login, text, created_at: now, updated_at: now, on: None }
}
