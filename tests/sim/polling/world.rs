//! The simulated world: GitHub and the people on it, webhooks under way, two machines of which one is on, and chance.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use the_loop::app::{App, Settings};
use the_loop::domain::decide::Urgency;
use the_loop::domain::github::{GitHub, Permission};
use the_loop::domain::policy::Policy;
use the_loop::domain::polling::{Polling, Source};
use the_loop::domain::portable::{Record, join, parse, render};
use the_loop::domain::ports::PortableFiles;
use the_loop::domain::reference::RepoRef;

use crate::computer::Computer;
use crate::fake_github::port::Hosts;
use crate::fake_github::{Asked, FakeGitHub, Fault};
use crate::folder::Folder;
use crate::invariants;
use crate::mail::{self, Habits, Mail};
use crate::oracle::{Figures, Kind, Oracle};
use crate::parts;
use crate::people::REPOSITORIES;
use crate::rng::Rng;
use crate::terminal::Temper;
use crate::wire::{Bug, Wire};

/// The label that makes an item watched.
pub const LABEL: &str = "the-loop: auto-execute";
/// Seconds since 1970 at which everything begins.
const BEGINNING: i64 = 1_780_000_000;

/// What a run is made of.
#[derive(Clone)]
pub struct Plan {
    /// What people do.
    pub happenings: u64,
    pub temper: Temper,
    pub habits: Habits,
    /// Whether GitHub's answers fail, are lost and lag.
    pub faults: bool,
    /// Chance of a power cut per step, percent.
    pub crash: u64,
    /// Most times that the other machine goes on while things happen; at least once.
    pub hand_overs: u64,
    /// A planted bug on the way to GitHub.
    pub bug: Bug,
    /// A folder with a planted bug, around the real one.
    pub wrap_folder: fn(Folder) -> Arc<dyn PortableFiles>,
}

impl Plan {
    pub fn both() -> Self {
        let temper = Temper {
            silent: 4,
            lost_reply: 3,
            cut_after_paste: 3,
            failed_spawn: 0,
            slow_spawn: 0,
            dying_pane: 1,
            busy: 3,
            power_cut: 1,
        };
        Self {
            happenings: 500,
            temper,
            habits: Habits { lost: 25, late: 4, again: 20, window: 4 },
            faults: true,
            crash: 1,
            hand_overs: 3,
            bug: Bug::None,
            wrap_folder: |folder| Arc::new(folder),
        }
    }
}

pub struct World {
    pub plan: Plan,
    pub rng: Rng,
    pub fake: Arc<Mutex<FakeGitHub>>,
    pub oracle: Oracle,
    pub computers: [Computer; 2],
    /// Which of them is on.
    pub on: usize,
    /// Marks given so far.
    pub marks: u64,
    /// What can be edited: its mark, where, what it is, its number.
    pub ids: Vec<(u64, &'static str, Kind, u64)>,
    /// After how many happenings the other machine goes on, the next at the end.
    hand_overs: Vec<u64>,
    wire: Arc<Wire>,
    mail: Mail,
    /// Milliseconds since 1970, of GitHub's clock.
    now: i64,
    pub happenings: u64,
    takeovers: u64,
    trace: bool,
}

impl World {
    /// Runs `plan` under `seed`; the violations it found, if any.
    pub fn run(plan: &Plan, seed: u64) -> Result<Figures, Vec<String>> {
        let mut world = Self::new(plan.clone(), seed);
        world.found();
        world.boot();
        world.calm(3);
        world.weather();
        while world.happenings < plan.happenings {
            world.step();
        }
        world.end();
        world.note(|| invariants::trail(&world));
        let violations = invariants::check(&world);
        if violations.is_empty() { Ok(invariants::figures(&world)) } else { Err(violations) }
    }

    fn new(plan: Plan, seed: u64) -> Self {
        let mut fake = FakeGitHub::new(BEGINNING);
        fake.add_token("t", "mona", Some("repo"));
        fake.remember(120);
        let fake = Arc::new(Mutex::new(fake));
        let hosts = Hosts::default().with("github.com", &fake, Some("t"));
        let computer = |name, seed, offset| Computer::new(name, seed, plan.temper, offset, plan.wrap_folder);
        let mut rng = Rng::new(seed);
        let mut offset = || rng.below(120_000) as i64 - 60_000;
        let computers = [computer("a", seed, offset()), computer("b", seed ^ 0xB0B, offset())];
        let hand_overs = hand_overs(&plan, &mut rng);
        Self {
            fake,
            hand_overs,
            oracle: Oracle::default(),
            computers,
            on: 0,
            marks: 0,
            ids: Vec::new(),
            wire: Arc::new(Wire::new(hosts, plan.bug)),
            mail: Mail::default(),
            now: BEGINNING * 1000,
            happenings: 0,
            takeovers: 0,
            trace: std::env::var("SIM_SEED").is_ok(),
            rng,
            plan,
        }
    }

    pub fn note(&self, text: impl FnOnce() -> String) {
        if self.trace {
            println!("{} {} {}", self.now / 1000 - BEGINNING, self.here().name, text());
        }
    }

    pub fn here(&self) -> &Computer {
        &self.computers[self.on]
    }

    fn app(&self) -> &App {
        self.here().app.as_ref().expect("the machine is on")
    }

    pub fn figures(&self) -> (u64, u64, u64) {
        (self.happenings, self.wire.sent.load(std::sync::atomic::Ordering::SeqCst), self.takeovers)
    }

    /// The marks of everything that was submitted to an agent until now.
    pub fn typed(&self) -> BTreeSet<u64> {
        let texts = self.computers.iter().flat_map(Computer::typed);
        texts.flat_map(|(_, text)| invariants::marks(&text)).collect()
    }

    fn boot(&mut self) {
        self.pass(0);
        let github = Arc::clone(&self.wire) as Arc<dyn GitHub>;
        self.computers[self.on].boot(&mut self.rng, &github);
    }

    /// Time passes, everywhere alike.
    fn pass(&mut self, milliseconds: i64) {
        let mut fake = self.fake.lock().unwrap();
        self.now = (self.now + milliseconds).max(fake.now() * 1000);
        let seconds = self.now / 1000 - fake.now();
        fake.advance(seconds);
        self.computers.iter().for_each(|computer| computer.turn(self.now));
    }

    /// What goes wrong with requests from now on.
    fn weather(&mut self) {
        if !self.plan.faults {
            return;
        }
        let mut fake = self.fake.lock().unwrap();
        // What is asked in vain three times is decided without; these are so rarely that it does not happen.
        let is_fact = |asked: &Asked| asked.path().contains("/collaborators/") || asked.path() == "/graphql";
        let is_read = move |asked: &Asked| asked.method == "GET" && !is_fact(asked);
        // What we told ourselves is looked up in the threads: with an old copy of one nobody could tell once.
        let is_thread = |asked: &Asked| {
            let path = asked.path();
            path.ends_with("/comments") && path.split('/').rev().nth(1).is_some_and(|part| part.parse::<u64>().is_ok())
        };
        let mut seed = || self.rng.next();
        fake.fail_sometimes(3, seed(), is_read, Fault::BadGateway);
        fake.fail_sometimes(1, seed(), is_read, Fault::SecondaryLimit(Some(40)));
        fake.fail_sometimes(3, seed(), is_read, Fault::Close);
        fake.fail_sometimes(1, seed(), is_fact, Fault::Close);
        fake.fail_sometimes(8, seed(), |asked| asked.method == "POST" && asked.path() != "/graphql", Fault::AnswerLost);
        fake.fail_sometimes(15, seed(), move |asked| is_read(asked) && !is_thread(asked), Fault::Stale(45));
    }

    fn step(&mut self) {
        let jump = if self.rng.chance(2) { self.rng.below(600_000) } else { 0 };
        let passed = self.rng.below(1500) + jump;
        self.pass(passed as i64);
        match self.rng.below(100) {
            0..=31 => self.people_act(),
            32..=55 => self.deliver_one(),
            56..=67 => self.poll_one(),
            68..=76 => _ = self.look(),
            77..=91 => self.advance_one(),
            92..=95 => _ = self.tell(),
            96 | 97 if self.oracle.is_restless() || self.rng.chance(30) => {
                self.calm(3);
                self.weather();
            }
            98 if self.plan.temper.dying_pane > 0 => {
                self.computers[self.on].terminal.kill_some_pane(&mut self.rng.clone());
            }
            _ => self.shift_a_page(),
        }
        if self.rng.chance(15) {
            let urgency = if self.rng.chance(50) { Urgency::Now } else { Urgency::Cycle };
            let _ = self.app().export_marked(urgency, &Default::default());
        }
        if self.here().is_off() || self.rng.chance(self.plan.crash) {
            self.note(|| "-- power cut".into());
            self.computers[self.on].shut_down(&mut self.rng, true);
            self.boot();
        }
        if self.hand_overs.pop_if(|at| self.happenings >= *at).is_some() {
            self.hand_over();
            self.boot();
        }
    }

    fn people_act(&mut self) {
        self.happenings += 1;
        let did = self.something();
        self.note(|| did);
        self.mail.collect(&mut self.fake.lock().unwrap(), self.plan.habits, &mut self.rng);
    }

    /// Right after the next list was read, an entry moves to its end.
    fn shift_a_page(&mut self) {
        let (repo, _, issues) = *self.rng.pick(&REPOSITORIES);
        let number = 1 + self.rng.below(issues);
        let is_list = |asked: &Asked| asked.path_and_query.contains("?since=");
        let moves = move |fake: &mut FakeGitHub| fake.edit_title(repo, number, "eve", "Moved");
        self.fake.lock().unwrap().after_next(is_list, moves);
    }

    fn deliver_one(&mut self) {
        let Some(delivery) = self.mail.next(self.plan.habits, &mut self.rng) else { return };
        let arrival = mail::arrival(&delivery);
        let _ = self.app().adopt_for(&arrival.event);
        let taken = self.app().ingest(&arrival);
        self.note(|| format!("webhook {} {:?}: {taken:?}", delivery.event, delivery.action));
        let status = if taken.is_ok() { 202 } else { 503 };
        self.fake.lock().unwrap().delivered(&delivery, status);
        if status != 202 || (self.mail.may_repeat(&delivery) && self.rng.chance(self.plan.habits.again)) {
            self.mail.give_back(delivery);
        }
    }

    fn poll_one(&mut self) {
        let sources = sources();
        let source = self.rng.pick(&sources).clone();
        self.poll(&source);
    }

    /// Whether the cycle read everything.
    fn poll(&self, source: &Source) -> bool {
        let cycle = self.app().poll(source, false);
        self.note(|| format!("poll {}: {cycle:?}", source.repository));
        cycle.is_ok_and(|cycle| cycle.paused.is_none() && cycle.trouble.is_none())
    }

    /// Whether nothing waits for a fact any more.
    fn look(&self) -> bool {
        let looked = self.app().look_at_waiting();
        self.note(|| format!("look {looked:?}"));
        looked.is_ok_and(|looked| !looked.moved && looked.next.is_none())
    }

    fn advance_one(&mut self) {
        let lanes = self.here().lanes();
        if lanes.is_empty() {
            return;
        }
        let (lane, rounds) = (self.rng.pick(&lanes).clone(), 1 + self.rng.below(3) as usize);
        let progress = self.app().advance(&lane, true, rounds);
        self.note(|| format!("advance {lane} {progress:?}"));
    }

    fn tell(&self) -> bool {
        let told = self.app().tell_next();
        self.note(|| format!("tell {told:?}"));
        !told.is_ok_and(|told| told == the_loop::app::telling::Told::Nothing(None))
    }

    /// Nothing goes wrong for a while: everything that can be heard is, and what follows is done.
    fn calm(&mut self, cycles: usize) {
        self.note(|| "-- calm".into());
        self.fake.lock().unwrap().heal();
        self.computers[self.on].behave(Temper::default());
        if self.here().is_off() {
            self.computers[self.on].shut_down(&mut self.rng, true);
            self.boot();
        }
        let _ = self.app().adopt_folder();
        for _ in 0..cycles {
            for source in sources() {
                for _ in 0..40 {
                    if self.poll(&source) {
                        break;
                    }
                    self.pass(120_000);
                }
            }
            self.drain();
            self.pass(1000);
        }
        self.oracle.settle(self.now / 1000);
        let temper = self.plan.temper;
        self.computers[self.on].behave(temper);
    }

    /// What waits is asked for, what is to be done is done, what is to be told is told.
    fn drain(&mut self) {
        for _ in 0..60 {
            let mut busy = false;
            while !self.look() {
                busy = true;
                self.pass(5_000);
            }
            for lane in self.here().lanes() {
                let progress = self.app().advance(&lane, true, 100).expect("a calm store works");
                self.note(|| format!("advance {lane} {progress:?}"));
                use the_loop::app::perform::Progress;
                busy |= progress != Progress::Idle && progress != Progress::Waiting(None);
            }
            for _ in 0..200 {
                if !self.tell() {
                    break;
                }
                self.pass(200);
            }
            if !busy {
                break;
            }
            self.pass(60_000);
        }
    }

    /// This machine stops as a daemon does that is told to, its folder goes to the other one, which goes on.
    fn hand_over(&mut self) {
        self.note(|| "-- hand-over".into());
        self.takeovers += 1;
        let typed = self.typed();
        if self.here().is_off() {
            self.computers[self.on].shut_down(&mut self.rng, true);
            self.boot();
        }
        self.computers[self.on].behave(Temper::default());
        let _ = self.app().adopt_folder();
        self.computers[self.on].export();
        let temper = self.plan.temper;
        self.computers[self.on].behave(temper);
        self.computers[self.on].shut_down(&mut self.rng, false);
        if self.rng.chance(40) {
            self.computers[self.on].terminal.0.lock().unwrap().panes.values_mut().for_each(|pane| pane.alive = false);
        }
        let to = 1 - self.on;
        pull(&self.computers[self.on].folder, &self.computers[to].folder);
        self.on = to;
        self.mail.taken_over();
        self.oracle.taken_over(to, &typed);
    }

    /// Everything arrives, everything behaves, what is held goes on; then the other machine has a look, and gives back.
    fn end(&mut self) {
        self.plan.temper = Temper::default();
        self.plan.habits = Habits { lost: 0, late: 0, again: 0, window: 1 };
        self.calm(3);
        self.release();
        self.mail.collect(&mut self.fake.lock().unwrap(), self.plan.habits, &mut self.rng);
        self.mail.hurry();
        self.pass(5000);
        self.deliver_all();
        self.calm(10);
        self.hand_over();
        self.boot();
        self.deliver_all();
        self.calm(4);
        self.hand_over();
        self.boot();
        self.drain();
        self.computers[self.on].export();
        pull(&self.computers[self.on].folder, &self.computers[1 - self.on].folder);
        // Both are looked at.
        self.on = 1 - self.on;
        self.boot();
    }

    fn deliver_all(&mut self) {
        self.mail.collect(&mut self.fake.lock().unwrap(), self.plan.habits, &mut self.rng);
        for _ in 0..10_000 {
            self.deliver_one();
        }
    }
}

fn hand_overs(plan: &Plan, rng: &mut Rng) -> Vec<u64> {
    let mut all: Vec<u64> = (0..=rng.below(plan.hand_overs)).map(|_| rng.below(plan.happenings)).collect();
    all.sort_by_key(|at| std::cmp::Reverse(*at));
    all
}

/// `git pull` of one checkout in another: each file as the merge driver makes it.
fn pull(from: &Folder, to: &Folder) {
    let read = |text: &str| -> Record { parse(text.as_bytes()).expect("a portable file") };
    for (name, text) in from.texts() {
        let merged = match to.text(&name) {
            Some(there) => render(&join(&read(&there), &read(&text), None).expect("they join").record),
            None => text,
        };
        if to.text(&name).as_ref() != Some(&merged) {
            to.put(&name, &merged);
        }
    }
}

fn sources() -> Vec<Source> {
    let source = |(name, _, _): &(&str, u64, u64)| Source {
        repository: RepoRef::parse(name).expect("a repository"),
        label: LABEL.to_owned(),
        issues: true,
        pull_requests: true,
    };
    REPOSITORIES.iter().map(source).collect()
}

/// The configuration of both machines.
pub fn settings() -> Settings {
    let base = parts::settings(true);
    Settings {
        policy: Policy { authorize_permission: Some(Permission::Write), max_retries: 8, ..base.policy },
        polling: Polling { enabled: true, interval_seconds: 60, sources: sources() },
        ..base
    }
}
