//! `POST`: comments, reactions, redeliveries.

use super::FakeGitHub;
use super::pages::{Call, Reply};
use super::reads::{Found, find};
use super::state::{Place, Reaction, Thing};

/// Longest comment, in characters.
const LONGEST: usize = 65_536;

impl FakeGitHub {
    /// Answers `POST`, and does it.
    pub(super) fn write(&mut self, call: &Call) -> Reply {
        let (repo, rest) = match find(&self.world, &self.places, call) {
            Found::In(repo, rest) => (repo.full_name.clone(), rest),
            Found::Moved(to) => return Reply::moved(call, to),
            Found::Nothing => return Reply::not_found(),
        };
        let id = |text: &str| text.parse().unwrap_or(0);
        match rest.as_slice() {
            ["issues", number, "comments"] => self.post_comment(call, &repo, id(number)),
            ["issues", "comments", comment, "reactions"] => self.react(call, &repo, Thing::Comment(id(comment))),
            ["pulls", "comments", comment, "reactions"] => self.react(call, &repo, Thing::ReviewComment(id(comment))),
            ["issues", number, "reactions"] => self.react(call, &repo, Thing::Ticket(id(number))),
            ["hooks", hook, "deliveries", delivery, "attempts"] => {
                let may = self.repo(&repo).role(&call.login) == "admin";
                match may && self.redeliver(&repo, id(hook), id(delivery)) {
                    true => Reply::new(202, serde_json::json!({})),
                    false => Reply::not_found(),
                }
            }
            _ => Reply::not_found(),
        }
    }

    fn post_comment(&mut self, call: &Call, repo: &str, number: u64) -> Reply {
        let here = self.repo(repo);
        let is_locked = match here.tickets.get(&number) {
            Some(ticket) if ticket.place == Place::Here => ticket.locked,
            Some(ticket) if ticket.place == Place::Gone => return Reply::refused(410, "This issue was deleted"),
            _ => return Reply::not_found(),
        };
        if is_locked && !here.is_writer(&call.login) {
            return Reply::refused(403, "Unable to create comment because issue is locked.");
        }
        let text = call.body["body"].as_str().unwrap_or_default();
        if text.trim().is_empty() || text.chars().count() > LONGEST {
            return Reply::invalid("IssueComment", "body");
        }
        let id = self.comment(repo, number, &call.login, text);
        let here = self.repo(repo);
        let body = self.show(here).comment(&here.comments[&id]);
        Reply { location: body["url"].as_str().map(str::to_owned), ..Reply::new(201, body) }
    }

    fn react(&mut self, call: &Call, repo: &str, on: Thing) -> Reply {
        let here = self.repo(repo);
        let is_there = match on {
            Thing::Ticket(number) => here.tickets.get(&number).is_some_and(|ticket| ticket.place == Place::Here),
            Thing::Comment(id) => here.comments.contains_key(&id),
            Thing::ReviewComment(id) => here.review_comments.contains_key(&id),
        };
        let content = call.body["content"].as_str().unwrap_or_default();
        if !is_there {
            return Reply::not_found();
        }
        if !super::REACTIONS.contains(&content) {
            return Reply::invalid("Reaction", "content");
        }
        let is_same = |there: &&Reaction| there.on == on && there.login == call.login && there.content == content;
        if let Some(there) = here.reactions.iter().find(is_same) {
            return Reply::ok(self.show(here).reaction(there));
        }
        let (content, login) = (content.to_owned(), call.login.clone());
        let reaction = Reaction { id: self.fresh_id(), on, login, content, created_at: self.now() };
        let body = self.show(self.repo(repo)).reaction(&reaction);
        self.repo_mut(repo).reactions.push(reaction);
        self.changed();
        Reply::new(201, body)
    }
}
