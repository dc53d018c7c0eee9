//! Lists: which things, in which order.

use std::cmp::Reverse;

use serde_json::{Value, json};

use super::pages::{Call, Reply, page};
use super::shapes::Show;
use super::state::{Check, Comment, Place, Repository, Review, Seconds, Status, Thing, Ticket};

/// A list of one repository and who asks for it.
pub(super) struct List<'a> {
    /// The request.
    pub call: &'a Call,
    /// Where it is, without the query.
    pub url: String,
    /// The repository.
    pub repo: &'a Repository,
    /// Its shapes.
    pub show: &'a Show<'a>,
}

impl List<'_> {
    /// `…/issues`: pull requests too, newest first unless asked otherwise.
    pub fn issues(&self) -> Reply {
        let labels: Vec<&str> =
            self.call.parameter("labels").unwrap_or("").split(',').filter(|l| !l.is_empty()).collect();
        let mut tickets = self.tickets("created", |ticket| {
            let has = |label: &&str| ticket.labels.iter().any(|there| there.eq_ignore_ascii_case(label));
            labels.iter().all(has)
        });
        if self.call.parameter("sort") == Some("comments") {
            let count = |ticket: &&Ticket| self.repo.comments.values().filter(|c| c.number == ticket.number).count();
            tickets.sort_by_key(count);
            self.turn(&mut tickets, "desc");
        }
        page(self.call, &self.url, &tickets, None, |ticket| self.show.issue(ticket))
    }

    /// `…/pulls`: by state and by head, `owner:branch`.
    pub fn pulls(&self) -> Reply {
        let owner = self.repo.full_name.split('/').next().unwrap_or_default();
        let head = self.call.parameter("head");
        let tickets = self.tickets("created", |ticket| {
            let is = |branch: &str| head.is_none_or(|head| head == format!("{owner}:{branch}"));
            ticket.pull.as_ref().is_some_and(|pull| is(&pull.branch))
        });
        page(self.call, &self.url, &tickets, None, |ticket| self.show.pull_in_list(ticket))
    }

    fn tickets(&self, sort: &str, is_such: impl Fn(&Ticket) -> bool) -> Vec<&Ticket> {
        let state = self.call.parameter("state").unwrap_or("open");
        let since = self.since();
        let mut tickets: Vec<&Ticket> = self.repo.tickets.values().collect();
        tickets.retain(|ticket| ticket.place == Place::Here && ticket.updated_at >= since && is_such(ticket));
        tickets.retain(|ticket| state == "all" || ticket.is_open() == (state == "open"));
        match self.call.parameter("sort").unwrap_or(sort) {
            "updated" => tickets.sort_by_key(|ticket| (ticket.updated_at, ticket.number)),
            _ => tickets.sort_by_key(|ticket| (ticket.created_at, ticket.number)),
        }
        self.turn(&mut tickets, "desc");
        tickets
    }

    /// `…/issues/comments` and `…/pulls/comments`, or those of one ticket, by id unless asked otherwise; GitHub looks
    /// at the direction only together with an order.
    pub fn comments<'c>(&self, comments: impl Iterator<Item = &'c Comment>) -> Reply {
        let since = self.since();
        let mut comments: Vec<&Comment> = comments.filter(|comment| comment.updated_at >= since).collect();
        match self.call.parameter("sort") {
            Some("updated") => comments.sort_by_key(|comment| (comment.updated_at, comment.id)),
            _ => comments.sort_by_key(|comment| comment.id),
        }
        if self.call.parameter("sort").is_some() {
            self.turn(&mut comments, "asc");
        }
        page(self.call, &self.url, &comments, None, |comment| self.show.comment(comment))
    }

    /// `…/pulls/{n}/reviews`, oldest first.
    pub fn reviews(&self, number: u64) -> Reply {
        let reviews: Vec<&Review> = self.repo.reviews.values().filter(|review| review.number == number).collect();
        page(self.call, &self.url, &reviews, None, |review| self.show.review(review, true))
    }

    /// Reactions on something, oldest first.
    pub fn reactions(&self, on: Thing) -> Reply {
        let mut reactions: Vec<_> = self.repo.reactions.iter().filter(|reaction| reaction.on == on).collect();
        reactions.retain(|reaction| self.call.parameter("content").is_none_or(|only| only == reaction.content));
        page(self.call, &self.url, &reactions, None, |reaction| self.show.reaction(reaction))
    }

    /// `…/commits/{sha}/check-runs`: the newest of each name, unless `filter=all`.
    pub fn checks(&self, sha: &str) -> Reply {
        let mut checks: Vec<&Check> = self.repo.checks.iter().filter(|check| check.sha == sha).collect();
        checks.retain(|check| self.call.parameter("check_name").is_none_or(|only| only == check.name));
        checks.sort_by_key(|check| Reverse(check.id));
        if self.call.parameter("filter") != Some("all") {
            let mut names = std::collections::BTreeSet::new();
            checks.retain(|check| names.insert(&check.name));
        }
        page(self.call, &self.url, &checks, Some("check_runs"), |check| self.show.check(check))
    }

    /// `…/commits/{sha}/status`: the newest of each context, and what they come to.
    pub fn statuses(&self, sha: &str) -> Reply {
        let mut statuses: Vec<&Status> = self.repo.statuses.iter().filter(|status| status.sha == sha).collect();
        statuses.reverse();
        let mut contexts = std::collections::BTreeSet::new();
        statuses.retain(|status| contexts.insert(&status.context));
        let any = |state: &str| statuses.iter().any(|status| status.state == state);
        let state = match () {
            () if any("failure") || any("error") => "failure",
            () if any("pending") || statuses.is_empty() => "pending",
            () => "success",
        };
        let mut reply = page(self.call, &self.url, &statuses, Some("statuses"), |status| self.show.status(status));
        let extra = [("state", json!(state)), ("sha", json!(sha)), ("repository", self.show.repository())];
        for (key, value) in extra {
            reply.body[key] = value;
        }
        reply
    }

    /// `…/hooks/{id}/deliveries`: newest first, with a cursor.
    pub fn deliveries(&self, hook: u64) -> Reply {
        let Some(hook) = self.repo.hooks.iter().find(|there| there.id == hook) else { return Reply::not_found() };
        let cursor = self.call.parameter("cursor").and_then(|cursor| cursor.strip_prefix("v1_")?.parse().ok());
        let mut past: Vec<_> = hook.past.iter().filter(|(past, _)| cursor.is_none_or(|end| past.id < end)).collect();
        past.sort_by_key(|(past, _)| Reverse(past.id));
        let here = &past[..past.len().min(self.call.per_page())];
        let body = Value::Array(here.iter().map(|past| super::deliveries::listed(past)).collect());
        let next = here.last().filter(|_| here.len() < past.len()).map(|(last, _)| {
            let query = self.call.query_with(&[("cursor", format!("v1_{}", last.id))]);
            format!("<{}?{query}>; rel=\"next\"", self.url)
        });
        Reply { link: next, ..Reply::ok(body) }
    }

    /// `since`, which includes its own second.
    fn since(&self) -> Seconds {
        let since = self.call.parameter("since").and_then(|text| text.parse::<jiff::Timestamp>().ok());
        since.map_or(Seconds::MIN, |since| since.as_second())
    }

    /// Turns an ascending list as `direction` says.
    fn turn<T>(&self, items: &mut [T], otherwise: &str) {
        if self.call.parameter("direction").unwrap_or(otherwise) == "desc" {
            items.reverse();
        }
    }
}
