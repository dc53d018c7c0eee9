//! Things that go elsewhere: renamed repositories, transferred and deleted issues.

use serde_json::json;

use super::FakeGitHub;
use super::state::Place;

impl FakeGitHub {
    /// Gives the repository another name under the same owner; the old one redirects.
    pub fn rename(&mut self, repo: &str, name: &str, login: &str) {
        let here = self.repo_mut(repo);
        let (owner, from) = here.full_name.split_once('/').map(|(o, n)| (o.to_owned(), n.to_owned())).expect("a slash");
        let to = format!("{owner}/{name}");
        let before = std::mem::replace(&mut here.full_name, to.clone());
        here.former.push(before);
        let changes = json!({"repository": {"name": {"from": from}}});
        self.tell(&to, "repository", "renamed", login, vec![("changes", changes)]);
    }

    /// Moves an issue with its comments to another repository, where it gets a new number and id; says the number. The
    /// old address redirects.
    pub fn transfer(&mut self, repo: &str, number: u64, to: &str, login: &str) -> u64 {
        let (now, id) = (self.now(), self.fresh_id());
        self.last_id += 1;
        let (from_id, to_id) = (self.repo(repo).id, self.repo(to).id);
        let old = self.repo_mut(repo).touch(number, now).clone();
        assert!(old.pull.is_none(), "pull requests are not transferred");
        let there = self.repo_mut(to);
        there.last_number += 1;
        let new = there.last_number;
        let moved = super::state::Ticket { number: new, id, ..old.clone() };
        there.tickets.insert(new, moved);
        let comments: Vec<_> = self.repo(repo).comments.values().filter(|c| c.number == number).cloned().collect();
        for mut comment in comments {
            comment.number = new;
            self.repo_mut(to).comments.insert(comment.id, comment);
        }
        let shown = |fake: &Self, name: &str, number| {
            let here = fake.repo(name);
            (fake.show(here).issue(here.ticket(number)), fake.show(here).repository())
        };
        let ((was, was_in), (is, is_in)) = (shown(self, repo, number), shown(self, to, new));
        let changes = json!({"new_issue": is, "new_repository": is_in});
        self.tell_issue(repo, number, "transferred", login, vec![("changes", changes)]);
        let changes = json!({"old_issue": was, "old_repository": was_in});
        self.tell_issue(to, new, "opened", login, vec![("changes", changes)]);
        self.leave(from_id, number, Place::Moved(to_id, new));
        new
    }

    /// Deletes an issue and what was said on it.
    pub fn delete_issue(&mut self, repo: &str, number: u64, login: &str) {
        let now = self.now();
        self.repo_mut(repo).touch(number, now);
        self.tell_issue(repo, number, "deleted", login, Vec::new());
        self.leave(self.repo(repo).id, number, Place::Gone);
    }

    fn leave(&mut self, repo: u64, number: u64, place: Place) {
        let name = self.world.repositories[&repo].full_name.clone();
        let here = self.repo_mut(&name);
        here.comments.retain(|_, comment| comment.number != number);
        here.tickets.get_mut(&number).expect("it was there").place = place;
        self.changed();
    }
}
