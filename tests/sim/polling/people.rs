//! What people and machines do on GitHub, at random, and what the oracle makes of it.

use the_loop::domain::event::marker::MARKER;

use crate::fake_github::FakeGitHub;
use crate::oracle::{HEADS, Issue, Kind, Place, Pull, State, Who};
use crate::world::{LABEL, World};

/// The repositories and how many issues each has.
pub const REPOSITORIES: [(&str, u64, u64); 2] = [("octo/hello", 501, 4), ("octo/world", 502, 2)];

/// The happenings at the beginning, when most is started.
const BEGINNINGS: u64 = 60;

/// The text by which something said is recognised in a pane.
pub fn mark(number: u64) -> String {
    format!("say-{number}-end")
}

impl World {
    /// Issues, what was said on them before anybody listened, and who may do what.
    pub fn found(&mut self) {
        let fake = std::sync::Arc::clone(&self.fake);
        let mut fake = fake.lock().unwrap();
        for (repo, id, issues) in REPOSITORIES {
            fake.add_repository(repo, id);
            fake.allow(repo, "petra", "write");
            fake.allow(repo, "mona", "admin");
            for number in 1..=issues {
                fake.open_issue(repo, "mona", &format!("Ticket {number}"), "please");
                let labelled = number != issues;
                if labelled {
                    fake.label(repo, number, "mona", LABEL);
                }
                let issue = Issue {
                    state: State::Off,
                    settled: true,
                    is_open: true,
                    labelled,
                    disarmed_at: 0,
                    started_at: 0,
                    refused_start: false,
                    lives_on: [false; 2],
                    resumes: false,
                    ends: false,
                };
                self.oracle.issues.insert((repo, number), issue);
            }
            self.old_words(&mut fake, repo);
        }
        fake.advance(60);
        fake.take_deliveries();
    }

    /// Of what was said before anybody listened only the newest word may act.
    fn old_words(&mut self, fake: &mut FakeGitHub, repo: &'static str) {
        for (number, words) in [(1, ["stop", "start"].as_slice()), (2, &["start", "stop"])] {
            for word in words {
                let old = self.next_mark();
                fake.advance(5);
                fake.comment(repo, number, "mona", &mark(old));
                self.oracle.said(old, Who::Nobody, (repo, number), Kind::Comment, fake.now());
                fake.advance(5);
                fake.comment(repo, number, "mona", &format!("the-loop {word}"));
                let place = (repo, number);
                self.oracle.word(old + 1_000_000, place, word, fake.now(), &Default::default());
                self.oracle.messages.remove(&(old + 1_000_000));
            }
        }
    }

    fn next_mark(&mut self) -> u64 {
        self.marks += 1;
        self.marks
    }

    /// Somebody does something; one line about it. Most is said where something runs; what ends it is rare.
    pub fn something(&mut self) -> String {
        let shared = std::sync::Arc::clone(&self.fake);
        let mut fake = shared.lock().unwrap();
        let haste = if self.happenings < BEGINNINGS { 25 } else { 4 };
        if let Some(place) = self.some_idle().filter(|_| self.rng.chance(haste)) {
            return self.set_going(&mut fake, place);
        }
        let issue = self.some_issue();
        let pull = self.some_pull();
        match (self.rng.below(1000), pull) {
            (0..=239, Some(pull)) => self.speak(&mut fake, pull),
            (240..=349, Some(pull)) => self.review(&mut fake, pull),
            (350..=459, Some(pull)) => self.check(&mut fake, pull),
            (460..=509, _) => self.open_pull(&mut fake, issue),
            (510..=544, _) => self.change(&mut fake),
            (545..=552, Some(pull)) => self.turn_pull(&mut fake, pull),
            (553..=622, _) => self.facts(&mut fake, issue, pull),
            (623..=630, _) => self.word(&mut fake, issue),
            (631..=633, _) => self.turn_issue(&mut fake, issue),
            _ => self.speak(&mut fake, issue),
        }
    }

    /// An issue that waits for a word.
    fn some_idle(&mut self) -> Option<Place> {
        let idle = self.oracle.issues.iter().filter(|(_, issue)| issue.state != State::Live);
        let idle: Vec<Place> = idle.map(|(place, _)| *place).collect();
        (!idle.is_empty()).then(|| *self.rng.pick(&idle))
    }

    /// What runs and is settled is spoken on most: elsewhere the rules leave much open, or there is nobody to hear it.
    fn some_issue(&mut self) -> Place {
        let fit = self.rng.below(100);
        let is_fit = |issue: &Issue| match fit {
            0..=4 => true,
            5..=19 => issue.settled && issue.state != State::Unsure,
            _ => issue.settled && issue.state == State::Live,
        };
        let fit: Vec<Place> = self.oracle.issues.iter().filter(|(_, i)| is_fit(i)).map(|(place, _)| *place).collect();
        let all: Vec<Place> = self.oracle.issues.keys().copied().collect();
        *self.rng.pick(if fit.is_empty() { &all } else { &fit })
    }

    fn some_pull(&mut self) -> Option<Place> {
        let is_sure = |place: &Place, pull: &Pull| match pull.owner {
            Some(owner) => pull.linked && self.oracle.issues[&(place.0, owner)].settled,
            None => true,
        };
        let sure = self.oracle.pulls.iter().filter(|(place, pull)| is_sure(place, pull));
        let sure: Vec<Place> = sure.map(|(place, _)| *place).collect();
        let all: Vec<Place> = self.oracle.pulls.keys().copied().collect();
        let places = if sure.is_empty() || self.rng.chance(5) { all } else { sure };
        (!places.is_empty()).then(|| *self.rng.pick(&places))
    }

    fn speak(&mut self, fake: &mut FakeGitHub, place: Place) -> String {
        let number = self.next_mark();
        let (login, text, who) = match self.rng.below(20) {
            0 | 1 => ("eve", mark(number), Who::Nobody),
            2 => ("dependabot[bot]", mark(number), Who::Nobody),
            3 => ("eve", format!("the-loop stop\n{}", mark(number)), Who::Nobody),
            4 | 5 => ("mona", format!("{}\n{MARKER}", mark(number)), Who::Nobody),
            6..=8 => ("petra", mark(number), Who::Admitted),
            _ => ("mona", mark(number), Who::Admitted),
        };
        let on_line = self.oracle.pulls.contains_key(&place) && self.rng.chance(30);
        let (kind, id) = match on_line {
            true => (Kind::Line, fake.review_comment(place.0, place.1, login, ("src/a.rs", 3), &text)),
            false => (Kind::Comment, fake.comment(place.0, place.1, login, &text)),
        };
        self.oracle.said(number, who, place, kind, fake.now());
        self.ids.push((number, place.0, kind, id));
        format!("{login} says {number} on {place:?}")
    }

    fn review(&mut self, fake: &mut FakeGitHub, place: Place) -> String {
        let number = self.next_mark();
        let state = *self.rng.pick(&["approved", "changes_requested", "commented"]);
        if state == "commented" && self.rng.chance(30) {
            fake.review(place.0, place.1, "mona", state, "");
            return format!("an empty review on {place:?}");
        }
        let (login, who) = if self.rng.chance(15) { ("eve", Who::Nobody) } else { ("mona", Who::Admitted) };
        let id = fake.review(place.0, place.1, login, state, &mark(number));
        self.oracle.said(number, who, place, Kind::Review, fake.now());
        self.ids.push((number, place.0, Kind::Review, id));
        format!("{login} reviews {number} on {place:?}")
    }

    fn check(&mut self, fake: &mut FakeGitHub, place: Place) -> String {
        let number = self.next_mark();
        let sha = fake.repo(place.0).head(place.1).to_owned();
        let fails = self.rng.chance(75);
        let who = if fails { Who::Admitted } else { Who::Nobody };
        match self.rng.chance(30) {
            true => {
                let state = if fails { "failure" } else { "success" };
                fake.set_status(place.0, &sha, "mona", &mark(number), state);
            }
            false => {
                let conclusion = if fails { "failure" } else { "success" };
                fake.check(place.0, &sha, &mark(number), conclusion);
            }
        }
        self.oracle.said(number, who, place, Kind::Check, fake.now());
        format!("a check {number} of {place:?} ends, fails {fails}")
    }

    fn open_pull(&mut self, fake: &mut FakeGitHub, issue: Place) -> String {
        if self.oracle.pulls.len() >= 7 {
            return self.speak(fake, issue);
        }
        let (repo, number) = issue;
        let way = self.rng.below(5);
        let (login, branch, text, owner) = match way {
            0 | 1 => ("mona", "work".to_owned(), format!("Closes #{number}"), Some(number)),
            2 => ("mona", format!("issue-{number}"), String::new(), Some(number)),
            3 => ("eve", "theirs".to_owned(), "by the sidebar".to_owned(), Some(number)),
            _ => ("eve", "theirs".to_owned(), format!("Closes #{number}"), None),
        };
        let pull = fake.open_pull(repo, login, &branch, "A change", &text);
        if way == 3 {
            fake.link(repo, pull, repo, number);
        }
        let known = Pull { owner, linked: false, head_known: false, is_open: true, was_closed: false };
        self.oracle.pulls.insert((repo, pull), known);
        format!("{login} opens {pull} for {issue:?} in way {way}")
    }

    /// Something said is edited, taken back or dismissed.
    fn change(&mut self, fake: &mut FakeGitHub) -> String {
        let recent: Vec<_> = self.ids.iter().rev().take(12).copied().collect();
        if recent.is_empty() {
            return String::new();
        }
        let (number, repo, kind, id) = *self.rng.pick(&recent);
        self.ids.retain(|known| known.0 != number);
        let typed = self.typed();
        self.oracle.changed(number, &typed);
        // What is edited in its own second looks as if it had been said so.
        fake.advance(1);
        let edit = self.next_mark();
        match (kind, self.rng.chance(70)) {
            (Kind::Review, _) => fake.dismiss(repo, id, "mona"),
            (_, true) => {
                self.oracle.edits.insert(edit);
                fake.edit_comment(repo, id, "mona", &format!("the-loop stop\n{}", mark(edit)));
            }
            (_, false) => fake.delete_comment(repo, id, "mona"),
        }
        format!("{number} is edited to {edit}, or taken back")
    }

    fn turn_pull(&mut self, fake: &mut FakeGitHub, place: Place) -> String {
        let typed = self.typed();
        let pull = self.oracle.pull(place);
        pull.is_open = !pull.is_open;
        pull.was_closed = true;
        (pull.linked, pull.head_known) = (false, false);
        let is_open = pull.is_open;
        self.oracle.leave_open(&typed, HEADS, |message| message.place == place && message.kind == Kind::Check);
        match is_open {
            true => fake.reopen(place.0, place.1, "mona"),
            false => fake.close(place.0, place.1, "mona"),
        }
        format!("{place:?} is open {is_open}")
    }

    fn turn_issue(&mut self, fake: &mut FakeGitHub, place: Place) -> String {
        let typed = self.typed();
        let is_open = !self.oracle.issues[&place].is_open;
        match is_open {
            true => fake.reopen(place.0, place.1, "mona"),
            false => fake.close(place.0, place.1, "mona"),
        }
        self.oracle.closed(place, is_open, fake.now(), &typed);
        format!("{place:?} is open {is_open}")
    }

    fn facts(&mut self, fake: &mut FakeGitHub, issue: Place, pull: Option<Place>) -> String {
        let (state, labelled) = (self.oracle.issues[&issue].state, self.oracle.issues[&issue].labelled);
        match (self.rng.below(8), pull) {
            (0, _) => fake.edit_title(issue.0, issue.1, "mona", "Another title"),
            (1, _) => fake.label(issue.0, issue.1, "eve", "bug"),
            (2, Some(pull)) => {
                let typed = self.typed();
                fake.push(pull.0, pull.1, "mona");
                self.oracle.pull(pull).head_known = false;
                self.oracle.leave_open(&typed, HEADS, |message| message.place == pull && message.kind == Kind::Check);
            }
            // The label decides who may begin; of what runs it decides nothing, here.
            (_, _) if state == State::Off => {
                match labelled {
                    true => fake.unlabel(issue.0, issue.1, "mona", LABEL),
                    false => fake.label(issue.0, issue.1, "mona", LABEL),
                }
                self.oracle.relabelled(issue);
            }
            _ => fake.edit_body(issue.0, issue.1, "mona", "please, now"),
        }
        format!("a fact about {issue:?} or {pull:?}")
    }

    /// A word where something runs, or anywhere.
    fn word(&mut self, fake: &mut FakeGitHub, place: Place) -> String {
        let word = match self.rng.below(10) {
            0..=3 => "pause",
            4..=6 => "stop",
            7 | 8 => "start",
            _ => "resume",
        };
        self.say(fake, place, word)
    }

    /// What does not run is to: it is opened, labelled, and started.
    fn set_going(&mut self, fake: &mut FakeGitHub, place: Place) -> String {
        let known = self.oracle.issues[&place].clone();
        if !known.is_open {
            return self.turn_issue(fake, place);
        }
        if !known.labelled && self.rng.chance(60) {
            fake.label(place.0, place.1, "mona", LABEL);
            self.oracle.relabelled(place);
            return format!("{place:?} is labelled");
        }
        let word = if known.state == State::Paused && self.rng.chance(70) { "resume" } else { "start" };
        self.say(fake, place, word)
    }

    fn say(&mut self, fake: &mut FakeGitHub, place: Place, word: &'static str) -> String {
        let number = self.next_mark();
        fake.comment(place.0, place.1, "mona", &format!("the-loop {word}\n{}", mark(number)));
        let typed = self.typed();
        self.oracle.word(number, place, word, fake.now(), &typed);
        format!("mona says {word} with {number} on {place:?}")
    }

    /// Whatever is held goes on, so that it can arrive.
    pub fn release(&mut self) {
        let held = self.oracle.issues.iter().filter(|(_, issue)| matches!(issue.state, State::Paused | State::Unsure));
        let held: Vec<Place> = held.map(|(place, _)| *place).collect();
        let shared = std::sync::Arc::clone(&self.fake);
        let mut fake = shared.lock().unwrap();
        for place in held {
            self.say(&mut fake, place, "start");
        }
    }
}
