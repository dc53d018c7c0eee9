//! Which records an event belongs to (events rules, section 4).

use super::view::View;
use super::{MissingFact, Told};
use crate::domain::effect::EndpointRef;
use crate::domain::event::linkage::{self, Evidence};
use crate::domain::event::{Check, Content, Event, Fact, Subject, SubjectKind};
use crate::domain::policy::Policy;
use crate::domain::reference::WorkItemRef;

/// A work item that an event names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Which.
    pub reference: WorkItemRef,
    /// How it is named.
    pub by: By,
}

/// How an event names a work item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// It happened on it.
    Itself,
    /// By GitHub's own linkage.
    Linked,
    /// A closing keyword in the pull request's text.
    Keyword,
    /// The head branch's name: only a hint, counts when the issue is known.
    Branch,
}

/// A live record that gets the event, and where in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// The record.
    pub owner: WorkItemRef,
    /// Which of its conversations; lazily spawned, falling back to the record's own.
    pub endpoint: EndpointRef,
    /// The pull request to record on it, when the event names its linkage.
    pub link: Option<WorkItemRef>,
}

/// The subject of an event, when it has one.
pub fn subject(event: &Event) -> Option<&Subject> {
    match &event.content {
        Content::Speech(speech) => speech.subject.as_ref(),
        Content::Fact(fact) => match fact.as_ref() {
            Fact::Item { subject, .. } | Fact::Withdrawn { subject } => Some(subject),
            Fact::Repository(_) => None,
        },
        Content::Ignored(_) => None,
    }
}

/// The work items an event names by its own text, in order: linked issues, then the item itself.
///
/// A pull request whose author is not admitted is linked by nothing it says itself, only by GitHub.
pub fn named(event: &Event, policy: &Policy, told: &Told) -> Vec<Named> {
    let Some(subject) = subject(event) else { return Vec::new() };
    let linked = told.linked(&subject.reference);
    let mut named: Vec<Named> = linked.map(|issue| Named { reference: issue.clone(), by: By::Linked }).collect();
    if subject.kind == SubjectKind::PullRequest && policy.admits(subject.author.as_ref()) {
        let branch = subject.head.as_ref().filter(|head| head.in_base_repository).map(|head| head.branch.as_str());
        for link in linkage::linked_issues(&subject.reference, branch, &subject.body) {
            let by = match link.evidence {
                Evidence::Keyword => By::Keyword,
                Evidence::Branch => By::Branch,
            };
            if !named.iter().any(|earlier| earlier.reference.key() == link.issue.key()) {
                named.push(Named { reference: link.issue, by });
            }
        }
    }
    named.push(Named { reference: subject.reference.clone(), by: By::Itself });
    named
}

/// The references that count: a branch hint only when its issue has a row of its own or is known upstream.
pub fn counted(named: Vec<Named>, view: &View) -> Vec<Named> {
    let is_known = |issue: &WorkItemRef| view.item(issue).is_some() || view.told.exists(issue);
    named.into_iter().filter(|named| named.by != By::Branch || is_known(&named.reference)).collect()
}

/// Whether a pull request may be recorded on `owner`: its author is admitted, or GitHub links the two.
pub fn may_link(subject: &Subject, owner: &WorkItemRef, policy: &Policy, told: &Told) -> bool {
    let key = owner.key();
    policy.admits(subject.author.as_ref()) || told.linked(&subject.reference).any(|issue| issue.key() == key)
}

/// The fact about a pull request that would decide where its event goes, unless nobody can be asked for it.
pub fn missing(subject: &Subject, named: &[Named], view: &View) -> Option<MissingFact> {
    if subject.kind == SubjectKind::Issue || view.is_live(&subject.reference) {
        return None;
    }
    let hinted = named.iter().filter(|named| named.by == By::Branch && view.item(&named.reference).is_none());
    let facts = hinted.map(|named| MissingFact::IssueExists(named.reference.clone()));
    let unowned = view.live_owners(&subject.reference).is_empty();
    let linkage = unowned.then(|| MissingFact::Linkage(subject.reference.clone()));
    facts.chain(linkage).find(|fact| !view.told.settles(fact))
}

/// The live records that get an event about `subject`.
pub fn matches(subject: &Subject, counted: &[Named], view: &View, policy: &Policy) -> Vec<Match> {
    if subject.kind == SubjectKind::Issue {
        return own(&subject.reference, view).into_iter().collect();
    }
    let linked = counted.iter().filter(|named| named.by != By::Itself && view.is_live(&named.reference));
    let linked: Vec<WorkItemRef> = linked.map(|named| named.reference.clone()).collect();
    if let Some(own) = own(&subject.reference, view) {
        let others = linked.into_iter().map(|owner| Match { owner, endpoint: EndpointRef::Item, link: None });
        return std::iter::once(own).chain(others).collect();
    }
    let mut matches: Vec<Match> = Vec::new();
    for owner in linked.into_iter().chain(view.live_owners(&subject.reference)) {
        if matches.iter().any(|earlier| earlier.owner.key() == owner.key()) {
            continue;
        }
        let endpoint = endpoint_for(&subject.reference, policy);
        let link = may_link(subject, &owner, policy, &view.told).then(|| subject.reference.clone());
        matches.push(Match { owner, endpoint, link });
    }
    matches
}

/// The live records that get a failed check, each with what it is about there: only through pull requests that are
/// already ours.
pub fn matches_of_check(check: &Check, event: &Event, view: &View, policy: &Policy) -> Vec<(Match, WorkItemRef)> {
    let mut matches: Vec<(Match, WorkItemRef)> = Vec::new();
    for pull_request in check_pull_requests(check, event, view) {
        let owners = match own(&pull_request, view) {
            Some(own) => vec![own],
            None => view
                .live_owners(&pull_request)
                .into_iter()
                .map(|owner| Match { owner, endpoint: endpoint_for(&pull_request, policy), link: None })
                .collect(),
        };
        matches.extend(owners.into_iter().map(|owner| (owner, pull_request.clone())));
    }
    for reference in branch_items(check, event) {
        matches.extend(own(&reference, view).map(|own| (own, reference)));
    }
    let mut seen = std::collections::HashSet::new();
    matches.retain(|(matched, _)| seen.insert(matched.owner.key()));
    matches
}

/// The pull requests a check names, and the one whose recorded head is its commit.
pub fn check_pull_requests(check: &Check, event: &Event, view: &View) -> Vec<WorkItemRef> {
    let named = named_pull_requests(check, event).into_iter();
    named.chain(view.head_owner.clone()).collect()
}

/// The pull requests a check names by number.
pub fn named_pull_requests(check: &Check, event: &Event) -> Vec<WorkItemRef> {
    let Some(repository) = &event.repository else { return Vec::new() };
    check.pull_requests.iter().filter_map(|number| repository.reference.item(*number).ok()).collect()
}

/// The items a workflow run's branch in this repository may stand for.
pub fn branch_items(check: &Check, event: &Event) -> Vec<WorkItemRef> {
    let (Some(branch), Some(repository)) = (&check.own_branch, &event.repository) else { return Vec::new() };
    linkage::branch_items(&repository.reference, branch)
}

fn own(reference: &WorkItemRef, view: &View) -> Option<Match> {
    view.is_live(reference).then(|| Match { owner: reference.clone(), endpoint: EndpointRef::Item, link: None })
}

fn endpoint_for(pull_request: &WorkItemRef, policy: &Policy) -> EndpointRef {
    match policy.session_per_pr {
        true => EndpointRef::PullRequest(pull_request.clone()),
        false => EndpointRef::Item,
    }
}
