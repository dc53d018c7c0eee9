//! A GitHub of a few issues and pull requests, and what people do there.

use std::collections::BTreeMap;

use the_loop::app::ingest::Arrival;
use the_loop::domain::event::{
    Check, Content, Event, Fact, Form, Head, Identity, ItemFact, Repository, RepositoryFact, Speech, Subject,
    SubjectKind,
};
use the_loop::domain::ids::{DeliveryId, Login};
use the_loop::domain::reference::{RepoRef, WorkItemRef};
use the_loop::domain::time::Time;

use crate::rng::Rng;

/// One issue, and the pull requests that deliver it (number + 100, number + 200 and so on).
struct Ticket {
    number: u64,
    open: bool,
    pulls: Vec<Pull>,
    started: bool,
    /// The last word or close in GitHub's time that counts for it, and whether it disarms.
    last_word: Option<(Time, bool)>,
    /// Another machine disarmed it: somebody will start it again.
    disarmed_elsewhere: bool,
}

/// One pull request.
#[derive(Clone, Default)]
struct Pull {
    /// Absent until it is opened.
    open: Option<bool>,
    ever_closed: bool,
    /// When it was last closed or reopened, and whether it was closed. At a tie closed wins.
    last: Option<(Time, bool)>,
}

pub struct GitHub {
    repo: RepoRef,
    tickets: Vec<Ticket>,
    endings: bool,
    /// Chance that the repository gets another name instead, percent.
    renames: u64,
    names: u64,
    next_delivery: u64,
    second: i64,
    /// Which issue or pull request each delivery is about.
    pub about: BTreeMap<String, u64>,
}

impl GitHub {
    pub fn new(items: u64, pulls: usize, endings: bool, renames: u64) -> Self {
        let tickets = (1..=items)
            .map(|number| Ticket {
                number,
                open: true,
                pulls: vec![Pull::default(); pulls],
                started: false,
                last_word: None,
                disarmed_elsewhere: false,
            })
            .collect();
        let repo = RepoRef::parse("octo/hello").expect("a repository");
        Self { repo, tickets, endings, renames, names: 0, next_delivery: 0, second: 0, about: BTreeMap::new() }
    }

    /// Issues whose newest word or close disarms them: they must not be live in the end.
    pub fn disarmed(&self) -> Vec<WorkItemRef> {
        let disarmed = self.tickets.iter().filter(|ticket| ticket.last_word.is_some_and(|(_, disarms)| disarms));
        disarmed.map(|ticket| self.repo.item(ticket.number).expect("a number")).collect()
    }

    /// The issue a pull request of this repository delivers.
    pub fn owner_of(reference: &WorkItemRef) -> WorkItemRef {
        let number = reference.number();
        reference.repo().item(number % 100).expect("a number")
    }

    /// Whether a pull request was closed at some time.
    pub fn was_closed(&self, number: u64) -> bool {
        let ticket = self.tickets.iter().find(|ticket| ticket.number == number % 100);
        let pull = ticket.and_then(|ticket| ticket.pulls.get((number / 100).checked_sub(1)? as usize));
        pull.is_some_and(|pull| pull.ever_closed)
    }

    /// Pull requests that were closed last: nothing of their own may live in the end.
    pub fn closed_pulls(&self) -> Vec<u64> {
        let pulls = self.tickets.iter().flat_map(|ticket| {
            let numbered = ticket.pulls.iter().zip(1..);
            numbered.map(|(pull, nth)| (ticket.number + 100 * nth, pull.last))
        });
        pulls.filter(|(_, last)| last.is_some_and(|(_, closed)| closed)).map(|(number, _)| number).collect()
    }

    /// Somebody does something.
    pub fn something(&mut self, rng: &mut Rng, now: Time) -> Arrival {
        // GitHub's times have one-second steps, and its clock is its own.
        self.second += i64::from(rng.chance(70));
        let at = self.time();
        let _ = now;
        if self.renames > 0 && rng.chance(self.renames) {
            return self.rename();
        }
        let index = rng.below(self.tickets.len() as u64) as usize;
        let (number, started) = (self.tickets[index].number, self.tickets[index].started);
        if !started {
            self.tickets[index].started = true;
            self.word(index, at, false);
            return self.comment(number, SubjectKind::Issue, at, "the-loop start\nplease begin", "mona");
        }
        // What is over is soon begun again, or the run would be silence.
        if !self.tickets[index].open && rng.chance(60) {
            return self.close(index, at);
        }
        if self.tickets[index].last_word.is_some_and(|(_, disarms)| disarms) && rng.chance(50) {
            return self.said(index, at, "the-loop start", false);
        }
        if self.tickets[index].disarmed_elsewhere && rng.chance(50) {
            self.tickets[index].disarmed_elsewhere = false;
            self.second += 1;
            return self.said(index, self.time(), "the-loop start", false);
        }
        match rng.below(if self.endings { 16 } else { 9 }) {
            0..=4 => self.comment(number, SubjectKind::Issue, at, "", "mona"),
            5 => self.comment(number, SubjectKind::Issue, at, "", "stranger"),
            6 | 7 => self.pull_request(rng, index, at),
            8 => self.check(number + 100, at),
            9 => self.said(index, at, "the-loop stop", true),
            10 => self.said(index, at, "the-loop pause", true),
            11 => self.said(index, at, "the-loop resume", false),
            12 | 13 => self.said(index, at, "the-loop start", false),
            14 => self.close(index, at),
            _ => self.close_pull_request(rng, index, at),
        }
    }

    /// GitHub's clock.
    fn time(&self) -> Time {
        Time::from_millis(1_780_000_000_000).plus_seconds(self.second)
    }

    /// A second later, by its clock.
    pub fn later(&mut self) -> Time {
        self.second += 1;
        self.time()
    }

    /// One of the issues, and the time.
    pub fn some_item(&self, rng: &mut Rng) -> (WorkItemRef, Time) {
        let number = rng.pick(&self.tickets).number;
        (self.repo.item(number).expect("a number"), self.time())
    }

    /// Another machine commanded something by a portable file.
    pub fn commanded(&mut self, item: &WorkItemRef, at: Time, disarms: bool) {
        let Some(index) = self.tickets.iter().position(|ticket| ticket.number == item.number()) else { return };
        match disarms {
            // It only holds; whether the session ends is GitHub's affair.
            true => self.tickets[index].disarmed_elsewhere = true,
            false => self.word(index, at, false),
        }
    }

    /// The repository goes by another name; everything said from now on names that.
    fn rename(&mut self) -> Arrival {
        self.names += 1;
        let to = RepoRef::parse(&format!("octo/hello{}", self.names)).expect("a repository");
        let from = std::mem::replace(&mut self.repo, to);
        let change = Fact::Repository(RepositoryFact::Renamed { from });
        let delivery = self.delivery();
        self.arrival("repository", delivery, Login::parse("mona"), Content::Fact(Box::new(change)))
    }

    fn word(&mut self, index: usize, at: Time, disarms: bool) {
        let ticket = &mut self.tickets[index];
        // At a tie the disarming word wins, as in the join.
        if ticket.last_word.is_none_or(|(earlier, was)| (earlier, was) <= (at, disarms)) {
            ticket.last_word = Some((at, disarms));
        }
    }

    fn said(&mut self, index: usize, at: Time, word: &str, disarms: bool) -> Arrival {
        if word != "the-loop resume" {
            self.word(index, at, disarms && word == "the-loop stop");
        } else if self.tickets[index].open {
            // It only acts on a paused session, so it is no word to count on; but heard before an older stop it wins.
            self.tickets[index].last_word = self.tickets[index].last_word.map(|(earlier, _)| (earlier.max(at), false));
        }
        let number = self.tickets[index].number;
        self.comment(number, SubjectKind::Issue, at, word, "mona")
    }

    fn close(&mut self, index: usize, at: Time) -> Arrival {
        self.tickets[index].open = !self.tickets[index].open;
        let (number, open) = (self.tickets[index].number, self.tickets[index].open);
        if !open {
            self.word(index, at, true);
        }
        let mut subject = self.subject(number, SubjectKind::Issue, at);
        subject.open = Some(open);
        subject.closed_at = (!open).then_some(at);
        let change = if open { ItemFact::Reopened } else { ItemFact::Closed { merged: false } };
        self.fact("issues", subject, change)
    }

    /// One of an item's pull requests: its place and its number.
    fn some_pull(&self, rng: &mut Rng, index: usize) -> (usize, u64) {
        let nth = rng.below(self.tickets[index].pulls.len() as u64);
        (nth as usize, self.tickets[index].number + 100 * (nth + 1))
    }

    fn pull_request(&mut self, rng: &mut Rng, index: usize, at: Time) -> Arrival {
        let (nth, number) = self.some_pull(rng, index);
        let pull = &mut self.tickets[index].pulls[nth];
        if pull.open.is_none() {
            pull.open = Some(true);
            let subject = self.subject(number, SubjectKind::PullRequest, at);
            return self.fact("pull_request", subject, ItemFact::Opened { transferred_from: None });
        }
        self.comment(number, SubjectKind::PullRequest, at, "", "mona")
    }

    fn close_pull_request(&mut self, rng: &mut Rng, index: usize, at: Time) -> Arrival {
        let (nth, number) = self.some_pull(rng, index);
        let pull = &mut self.tickets[index].pulls[nth];
        let open = pull.open != Some(true);
        pull.open = Some(open);
        pull.ever_closed |= !open;
        pull.last = pull.last.max(Some((at, !open)));
        let mut subject = self.subject(number, SubjectKind::PullRequest, at);
        subject.open = Some(open);
        subject.closed_at = (!open).then_some(at);
        let change = if open { ItemFact::Reopened } else { ItemFact::Closed { merged: true } };
        self.fact("pull_request", subject, change)
    }

    fn check(&mut self, number: u64, at: Time) -> Arrival {
        let id = self.next_delivery + 1;
        let check = Check {
            name: "ci".into(),
            conclusion: "failure".into(),
            head_sha: format!("{number:040x}"),
            pull_requests: vec![number],
            own_branch: None,
            is_workflow_run: false,
        };
        let identity = Identity::new("github.com", 101, "check", &id.to_string());
        let arrival = self.speech("check_run", Form::Check(check), identity, None, at, None);
        self.about.insert(arrival.event.delivery.as_str().to_owned(), number);
        arrival
    }

    pub fn comment(&mut self, number: u64, kind: SubjectKind, at: Time, text: &str, login: &str) -> Arrival {
        let id = self.next_delivery + 1;
        let identity = Identity::new("github.com", 101, "comment", &id.to_string());
        let mut subject = self.subject(number, kind, at);
        subject.open = Some(self.is_open(number));
        let mut arrival = self.speech("issue_comment", Form::Comment, identity, Some(subject), at, Login::parse(login));
        if let Content::Speech(speech) = &mut arrival.event.content {
            speech.text = format!("{text}\n{}", speech.text);
        }
        self.about.insert(arrival.event.delivery.as_str().to_owned(), number);
        arrival
    }

    fn is_open(&self, number: u64) -> bool {
        let Some(ticket) = self.tickets.iter().find(|ticket| ticket.number == number % 100) else { return true };
        match (number / 100) as usize {
            0 => ticket.open,
            nth => ticket.pulls.get(nth - 1).is_none_or(|pull| pull.open != Some(false)),
        }
    }

    fn speech(
        &mut self,
        name: &str,
        form: Form,
        identity: Identity,
        subject: Option<Subject>,
        at: Time,
        author: Option<Login>,
    ) -> Arrival {
        let delivery = self.delivery();
        let speech = Speech {
            identity,
            node_id: Some(format!("IC_{}", delivery.as_str())),
            author: author.clone(),
            text: marker(&delivery),
            created_at: Some(at),
            link: Some(format!("https://github.com/octo/hello/issues/1#issuecomment-{}", self.next_delivery)),
            form,
            subject,
        };
        self.arrival(name, delivery, author, Content::Speech(Box::new(speech)))
    }

    pub fn fact(&mut self, name: &str, subject: Subject, change: ItemFact) -> Arrival {
        let delivery = self.delivery();
        self.arrival(name, delivery, Login::parse("mona"), Content::Fact(Box::new(Fact::Item { subject, change })))
    }

    fn arrival(&self, name: &str, delivery: DeliveryId, sender: Option<Login>, content: Content) -> Arrival {
        let repository = Some(Repository { reference: self.repo.clone(), id: 101 });
        let event = Event { name: name.into(), action: None, delivery, repository, sender, content };
        Arrival::delivered(event, bytes::Bytes::new())
    }

    fn delivery(&mut self) -> DeliveryId {
        self.next_delivery += 1;
        DeliveryId::parse(&format!("d{}", self.next_delivery)).expect("a delivery id")
    }

    pub fn subject(&self, number: u64, kind: SubjectKind, at: Time) -> Subject {
        let pull_request = kind == SubjectKind::PullRequest;
        Subject {
            reference: self.repo.item(number).expect("a number"),
            kind,
            id: number,
            title: format!("Ticket {number}"),
            body: if pull_request { format!("Closes #{}", number % 100) } else { String::new() },
            author: Login::parse("mona"),
            labels: vec!["the-loop: auto-execute".into()],
            open: Some(true),
            updated_at: Some(at),
            created_at: None,
            closed_at: None,
            link: None,
            head: pull_request.then(|| Head {
                branch: format!("fix-{number}"),
                sha: format!("{number:040x}"),
                in_base_repository: true,
            }),
        }
    }
}

/// The text by which a delivery is recognised in a pane.
pub fn marker(delivery: &DeliveryId) -> String {
    format!("say-{}-end", delivery.as_str())
}

/// One line about an event, for a trace.
pub fn describe(event: &Event) -> String {
    let what = match &event.content {
        Content::Speech(speech) => {
            let about = speech
                .subject
                .as_ref()
                .map_or_else(|| "check".to_owned(), |s| format!("#{} open {:?}", s.reference.number(), s.open));
            format!("{about} at {:?}: {:?}", speech.created_at.map(|at| at.to_string()), speech.text)
        }
        Content::Fact(fact) => match fact.as_ref() {
            Fact::Item { subject, change } => {
                format!(
                    "#{} at {:?}: {change:?}",
                    subject.reference.number(),
                    subject.updated_at.map(|at| at.to_string())
                )
            }
            other => format!("{other:?}"),
        },
        Content::Ignored(why) => format!("{why:?}"),
    };
    format!("{} {what}", event.delivery.as_str())
}
