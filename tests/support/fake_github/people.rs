//! What people do with issues and pull requests. A name of somebody or something unknown is a mistake of the test, which
//! panics.

use serde_json::{Value, json};

use super::FakeGitHub;
use super::state::{Place, Pull, Ticket};

impl FakeGitHub {
    /// The next ticket of the repository gets this number.
    pub fn number_next(&mut self, repo: &str, number: u64) {
        self.repo_mut(repo).last_number = number - 1;
    }

    /// Opens an issue; says its number.
    pub fn open_issue(&mut self, repo: &str, login: &str, title: &str, body: &str) -> u64 {
        let number = self.open(repo, login, title, body, None);
        self.tell_issue(repo, number, "opened", login, Vec::new());
        number
    }

    /// Opens a pull request from `branch` of the repository itself; says its number.
    pub fn open_pull(&mut self, repo: &str, login: &str, branch: &str, title: &str, body: &str) -> u64 {
        let sha = self.fresh_commit(repo);
        let pull = Pull { branch: branch.to_owned(), sha, merged_at: None };
        let number = self.open(repo, login, title, body, Some(pull));
        self.tell_pull(repo, number, "opened", login, Vec::new());
        number
    }

    fn open(&mut self, repo: &str, login: &str, title: &str, body: &str, pull: Option<Pull>) -> u64 {
        let (now, id) = (self.now(), self.fresh_id());
        self.last_id += 1;
        let repo = self.repo_mut(repo);
        repo.last_number += 1;
        let ticket = Ticket {
            number: repo.last_number,
            id,
            pull,
            title: title.to_owned(),
            body: body.to_owned(),
            login: login.to_owned(),
            labels: Vec::new(),
            locked: false,
            closed_at: None,
            created_at: now,
            updated_at: now,
            place: Place::Here,
        };
        repo.tickets.insert(ticket.number, ticket);
        repo.last_number
    }

    /// Puts a label on.
    pub fn label(&mut self, repo: &str, number: u64, login: &str, label: &str) {
        let now = self.now();
        let labels = &mut self.repo_mut(repo).touch(number, now).labels;
        if !labels.iter().any(|there| there == label) {
            labels.push(label.to_owned());
        }
        let object = self.show(self.repo(repo)).label(label);
        self.tell_ticket(repo, number, "labeled", login, vec![("label", object)]);
    }

    /// Takes a label off.
    pub fn unlabel(&mut self, repo: &str, number: u64, login: &str, label: &str) {
        let now = self.now();
        self.repo_mut(repo).touch(number, now).labels.retain(|there| there != label);
        let object = self.show(self.repo(repo)).label(label);
        self.tell_ticket(repo, number, "unlabeled", login, vec![("label", object)]);
    }

    /// Closes an issue, or a pull request without merging it.
    pub fn close(&mut self, repo: &str, number: u64, login: &str) {
        let now = self.now();
        self.repo_mut(repo).touch(number, now).closed_at = Some(now);
        self.tell_ticket(repo, number, "closed", login, Vec::new());
    }

    /// Opens it again.
    pub fn reopen(&mut self, repo: &str, number: u64, login: &str) {
        let now = self.now();
        self.repo_mut(repo).touch(number, now).closed_at = None;
        self.tell_ticket(repo, number, "reopened", login, Vec::new());
    }

    /// Merges a pull request.
    pub fn merge(&mut self, repo: &str, number: u64, login: &str) {
        let now = self.now();
        let ticket = self.repo_mut(repo).touch(number, now);
        ticket.closed_at = Some(now);
        ticket.pull.as_mut().expect("only pull requests are merged").merged_at = Some(now);
        self.tell_ticket(repo, number, "closed", login, Vec::new());
    }

    /// Gives it another title.
    pub fn edit_title(&mut self, repo: &str, number: u64, login: &str, title: &str) {
        let now = self.now();
        let from = std::mem::replace(&mut self.repo_mut(repo).touch(number, now).title, title.to_owned());
        let changes = json!({"title": {"from": from}});
        self.tell_ticket(repo, number, "edited", login, vec![("changes", changes)]);
    }

    /// Gives it another description.
    pub fn edit_body(&mut self, repo: &str, number: u64, login: &str, body: &str) {
        let now = self.now();
        let from = std::mem::replace(&mut self.repo_mut(repo).touch(number, now).body, body.to_owned());
        let changes = json!({"body": {"from": from}});
        self.tell_ticket(repo, number, "edited", login, vec![("changes", changes)]);
    }

    /// Lets only collaborators comment.
    pub fn lock(&mut self, repo: &str, number: u64, login: &str) {
        let now = self.now();
        self.repo_mut(repo).touch(number, now).locked = true;
        self.tell_ticket(repo, number, "locked", login, Vec::new());
    }

    /// Pushes a new head to a pull request; says the commit.
    pub fn push(&mut self, repo: &str, number: u64, login: &str) -> String {
        let (now, sha) = (self.now(), self.fresh_commit(repo));
        let ticket = self.repo_mut(repo).touch(number, now);
        let pull = ticket.pull.as_mut().expect("only pull requests have a head");
        let before = std::mem::replace(&mut pull.sha, sha.clone());
        let parts = vec![("before", json!(before)), ("after", json!(sha))];
        self.tell_pull(repo, number, "synchronize", login, parts);
        sha
    }

    /// Links a pull request to an issue it closes, as the sidebar of GitHub does; `issue_repo` may be another.
    pub fn link(&mut self, repo: &str, pull: u64, issue_repo: &str, issue: u64) {
        let id = self.repo(issue_repo).id;
        self.repo_mut(repo).closes.entry(pull).or_default().push((id, issue));
        self.changed();
    }

    /// A commit nobody has seen yet.
    pub fn fresh_commit(&mut self, repo: &str) -> String {
        let id = u128::from(self.fresh_id());
        // Spread over the digits, so that abbreviated commits differ.
        let sha = format!("{:08x}{:032x}", id.wrapping_mul(0x9E37_79B1) % (1 << 32), id);
        self.repo_mut(repo).commits.insert(sha.clone());
        sha
    }

    /// Tells hooks of an action on an issue or a pull request, by what it is.
    pub(super) fn tell_ticket(
        &mut self,
        repo: &str,
        number: u64,
        action: &str,
        login: &str,
        more: Vec<(&'static str, Value)>,
    ) {
        match self.repo(repo).ticket(number).pull {
            Some(_) => self.tell_pull(repo, number, action, login, more),
            None => self.tell_issue(repo, number, action, login, more),
        }
    }

    pub(super) fn tell_issue(
        &mut self,
        repo: &str,
        number: u64,
        action: &str,
        login: &str,
        more: Vec<(&'static str, Value)>,
    ) {
        let here = self.repo(repo);
        let mut parts = vec![("issue", self.show(here).issue(here.ticket(number)))];
        parts.extend(more);
        self.tell(repo, "issues", action, login, parts);
    }

    fn tell_pull(&mut self, repo: &str, number: u64, action: &str, login: &str, more: Vec<(&'static str, Value)>) {
        let here = self.repo(repo);
        let pull = self.show(here).pull(here.ticket(number));
        let mut parts = vec![("number", json!(number)), ("pull_request", pull)];
        parts.extend(more);
        self.tell(repo, "pull_request", action, login, parts);
    }
}
