//! What a GitHub holds: repositories, tickets, what was said about them, checks, hooks. Plain data.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Seconds since 1970, GitHub's clock.
pub type Seconds = i64;

/// `2026-01-02T03:04:05Z`.
pub fn stamp(at: Seconds) -> String {
    jiff::Timestamp::from_second(at).expect("a time of our era").to_string()
}

/// Everything; cheap to copy, so that an answer can come from what was true some seconds ago.
#[derive(Debug, Clone, Default)]
pub struct World {
    /// By id.
    pub repositories: BTreeMap<u64, Arc<Repository>>,
}

/// Where a name leads.
pub enum Named<'w> {
    /// It is the name of this one.
    Here(&'w Repository),
    /// It was the name of this one.
    Formerly(&'w Repository),
}

impl World {
    /// The repository that has this `owner/name` or had it; names are compared without case.
    pub fn named(&self, full_name: &str) -> Option<Named<'_>> {
        let is = |name: &String| name.eq_ignore_ascii_case(full_name);
        let here = self.repositories.values().find(|repo| is(&repo.full_name));
        let before = || self.repositories.values().find(|repo| repo.former.iter().any(is));
        here.map(|repo| Named::Here(repo)).or_else(|| before().map(|repo| Named::Formerly(repo)))
    }
}

/// One repository.
#[derive(Debug, Clone, Default)]
pub struct Repository {
    /// Numeric id.
    pub id: u64,
    /// `owner/name`.
    pub full_name: String,
    /// Names it had.
    pub former: Vec<String>,
    /// Number of the newest ticket.
    pub last_number: u64,
    /// Issues and pull requests, by number.
    pub tickets: BTreeMap<u64, Ticket>,
    /// Comments in conversations, by id.
    pub comments: BTreeMap<u64, Comment>,
    /// Comments on diffs, by id.
    pub review_comments: BTreeMap<u64, Comment>,
    /// Reviews, by id.
    pub reviews: BTreeMap<u64, Review>,
    /// Commits that exist.
    pub commits: BTreeSet<String>,
    /// Check runs, oldest first.
    pub checks: Vec<Check>,
    /// Commit statuses, oldest first.
    pub statuses: Vec<Status>,
    /// Reactions, oldest first.
    pub reactions: Vec<Reaction>,
    /// What people may do, by login in lower case.
    pub roles: BTreeMap<String, String>,
    /// By pull request: the issues it closes, as repository id and number.
    pub closes: BTreeMap<u64, Vec<(u64, u64)>>,
    /// Webhooks.
    pub hooks: Vec<Hook>,
}

/// An issue or a pull request.
#[derive(Debug, Clone)]
pub struct Ticket {
    /// Number in its repository.
    pub number: u64,
    /// Id of the issue object; that of the pull request is the next.
    pub id: u64,
    /// Set for pull requests.
    pub pull: Option<Pull>,
    /// Title.
    pub title: String,
    /// Description.
    pub body: String,
    /// Who opened it.
    pub login: String,
    /// Label names.
    pub labels: Vec<String>,
    /// Nobody but collaborators may comment.
    pub locked: bool,
    /// Absent while it is open.
    pub closed_at: Option<Seconds>,
    /// When it was opened.
    pub created_at: Seconds,
    /// When it last changed.
    pub updated_at: Seconds,
    /// Where it is.
    pub place: Place,
}

/// Whether a ticket is still there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Yes.
    Here,
    /// Transferred: repository id and number.
    Moved(u64, u64),
    /// Deleted.
    Gone,
}

/// What a pull request has beside an issue.
#[derive(Debug, Clone)]
pub struct Pull {
    /// Head branch, in the repository itself.
    pub branch: String,
    /// Head commit.
    pub sha: String,
    /// When it was merged.
    pub merged_at: Option<Seconds>,
}

/// A comment in a conversation or on a diff.
#[derive(Debug, Clone)]
pub struct Comment {
    /// Numeric id.
    pub id: u64,
    /// On which ticket.
    pub number: u64,
    /// Who wrote it.
    pub login: String,
    /// The text.
    pub text: String,
    /// When.
    pub created_at: Seconds,
    /// When it was last edited.
    pub updated_at: Seconds,
    /// Of a comment on a diff: the file, the line and the commit.
    pub on: Option<(String, u64, String)>,
}

/// A submitted review.
#[derive(Debug, Clone)]
pub struct Review {
    /// Numeric id.
    pub id: u64,
    /// Of which pull request.
    pub number: u64,
    /// Who wrote it.
    pub login: String,
    /// `approved`, `changes_requested`, `commented`, `dismissed`.
    pub state: String,
    /// The text.
    pub text: String,
    /// Of which commit.
    pub sha: String,
    /// When.
    pub submitted_at: Seconds,
}

/// A check run that has completed.
#[derive(Debug, Clone)]
pub struct Check {
    /// Numeric id.
    pub id: u64,
    /// On which commit.
    pub sha: String,
    /// `test`.
    pub name: String,
    /// `success`, `failure`, …
    pub conclusion: String,
    /// When.
    pub completed_at: Seconds,
}

/// A commit status.
#[derive(Debug, Clone)]
pub struct Status {
    /// Numeric id.
    pub id: u64,
    /// On which commit.
    pub sha: String,
    /// `ci/build`.
    pub context: String,
    /// `error`, `failure`, `pending`, `success`.
    pub state: String,
    /// When.
    pub created_at: Seconds,
}

/// What a reaction is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thing {
    /// A ticket, by number.
    Ticket(u64),
    /// A comment in a conversation, by id.
    Comment(u64),
    /// A comment on a diff, by id.
    ReviewComment(u64),
}

/// A reaction.
#[derive(Debug, Clone)]
pub struct Reaction {
    /// Numeric id.
    pub id: u64,
    /// On what.
    pub on: Thing,
    /// Whose.
    pub login: String,
    /// `eyes`.
    pub content: String,
    /// When.
    pub created_at: Seconds,
}

/// A webhook and what became of its deliveries.
#[derive(Debug, Clone)]
pub struct Hook {
    /// Numeric id.
    pub id: u64,
    /// Deliveries whose outcome is known, oldest first.
    pub past: Vec<(super::Delivery, u16)>,
}

impl Ticket {
    /// Whether it is open.
    pub fn is_open(&self) -> bool {
        self.closed_at.is_none()
    }
}

impl Repository {
    /// The ticket `number`, which exists and is here.
    pub fn ticket(&self, number: u64) -> &Ticket {
        let ticket = self.tickets.get(&number).filter(|ticket| ticket.place == Place::Here);
        ticket.unwrap_or_else(|| panic!("{}#{number} does not exist", self.full_name))
    }

    /// The ticket `number`, changed at `now`.
    pub fn touch(&mut self, number: u64, now: Seconds) -> &mut Ticket {
        self.ticket(number);
        let ticket = self.tickets.get_mut(&number).expect("it was looked up");
        ticket.updated_at = now;
        ticket
    }

    /// Head commit of the pull request `number`.
    pub fn head(&self, number: u64) -> &str {
        let pull = self.ticket(number).pull.as_ref();
        &pull.unwrap_or_else(|| panic!("{}#{number} is no pull request", self.full_name)).sha
    }

    /// Open pull requests whose head is `sha`.
    pub fn pulls_of(&self, sha: &str) -> Vec<u64> {
        let has = |ticket: &&Ticket| ticket.is_open() && ticket.pull.as_ref().is_some_and(|pull| pull.sha == sha);
        self.tickets.values().filter(has).map(|ticket| ticket.number).collect()
    }

    /// What `login` may do; people without a role may read.
    pub fn role(&self, login: &str) -> &str {
        self.roles.get(&login.to_ascii_lowercase()).map_or("read", String::as_str)
    }

    /// Whether `login` may write.
    pub fn is_writer(&self, login: &str) -> bool {
        matches!(self.role(login), "write" | "maintain" | "admin")
    }
}
