//! A hundred histories of one folder that both systems work on in turn. Whatever they do: no section is lost, no item is
//! armed whose newest command or ending disarms it, and no comment that was seen is ever new again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::{Value as Json, json};
use the_loop::adapters::system::SystemClock;
use the_loop::domain::portable::{Command, Ended};
use the_loop::domain::ports::Clock as _;
use the_loop::domain::reference::WorkItemRef;
use the_loop::store::WriteTx;

use super::Peer;
use crate::corpus::rng::Rng;
use crate::portable::{Place, at, control, reference};

const HISTORIES: u64 = 100;
const STEPS: i64 = 24;
const ITEMS: u64 = 3;

/// What must be true of an item after everything that was done.
#[derive(Debug, Default)]
struct Truth {
    armed: bool,
    seen: BTreeSet<String>,
    graph: Option<Json>,
}

struct History<'p> {
    peer: &'p mut Peer,
    place: Place,
    rng: Rng,
    step: i64,
    /// When it began, ahead of everything that lies in a folder: no file is young.
    begun: i64,
    truths: BTreeMap<u64, Truth>,
    /// What was done, for whoever reads a failure.
    said: Vec<String>,
}

#[test]
fn k14_k50_k54_k58_k59_two_systems_on_one_folder_lose_nothing_and_arm_nothing_that_was_disarmed() {
    let Some(mut peer) = Peer::start("k14_k50_k54_k58_k59_two_systems_on_one_folder") else { return };
    for seed in 0..HISTORIES {
        let truths = (1..=ITEMS).map(|number| (number, Truth::default())).collect();
        let (place, rng) = (Place::new(), Rng::new(seed));
        let begun = (SystemClock.now().as_millis() - at(0).as_millis()) / 1000 + 3600;
        History { peer: &mut peer, place, rng, step: 0, begun, truths, said: vec![format!("seed {seed}")] }.run();
    }
}

impl History<'_> {
    fn run(mut self) {
        self.begin();
        while self.step < STEPS {
            self.step += 1;
            let number = 1 + self.rng.below(ITEMS);
            match self.rng.below(2) {
                0 => self.theirs(number),
                _ => self.ours(number),
            }
            self.check();
        }
    }

    /// The second of this step.
    fn second(&self) -> i64 {
        self.begun + self.step * 10
    }

    fn root(&self) -> PathBuf {
        self.place.root.path().to_owned()
    }

    fn ask(&mut self, what: &str, arguments: Json) -> Json {
        self.said.push(format!("theirs: {what} {arguments}"));
        let root = self.root();
        self.peer.ask(&root, what, arguments)
    }

    /// Half of the histories begin with an old tree.
    fn begin(&mut self) {
        if self.rng.below(2) == 0 {
            return;
        }
        let mut polls = json!({});
        for number in 1..=ITEMS {
            let item = reference(number).to_string();
            if self.rng.below(3) > 0 {
                let armed = self.rng.below(2) == 0;
                let word = if armed { "start" } else { "stop" };
                self.ask(
                    "old_control",
                    json!({ "ref": item, "command": word, "at": at(self.begun - 100).to_string() }),
                );
                self.truth(number).armed = armed;
            }
            if self.rng.below(3) > 0 {
                let comment = format!("IC_old_{number}");
                let entry = json!({ "seenComments": [comment], "commentAttempts": { "IC_tried": 1 }, "spawn": {},
                    "lastPolledAt": at(self.begun - 90).to_string() });
                polls[&item] = entry;
                self.truth(number).seen.insert(comment);
            }
        }
        self.ask("old_polls", json!({ "items": polls }));
        // They may work on it before we see any of it.
        if self.rng.below(2) == 0 {
            self.sync();
        }
    }

    fn truth(&mut self, number: u64) -> &mut Truth {
        self.truths.get_mut(&number).unwrap()
    }

    /// We take in what they wrote and write what they lack.
    fn sync(&mut self) {
        self.said.push("ours: export".into());
        // What nothing else dates happened by now.
        self.place.turn_clock_to(at(self.second() + 5));
        self.place.app.adopt_folder().unwrap();
        self.place.app.adopt_earlier_tree().unwrap();
        let run = self.place.app.export_all().unwrap();
        assert!(run.exported.held.is_empty(), "{:?}\n{}", run.exported, self.said.join("\n"));
    }

    fn theirs(&mut self, number: u64) {
        let (item, now) = (reference(number).to_string(), at(self.second()).to_string());
        match self.rng.below(9) {
            0 | 1 => self.they_command(number, "start"),
            2 => self.they_command(number, "resume"),
            3 => {
                let word = if self.rng.below(2) == 0 { "stop" } else { "pause" };
                self.they_command(number, word);
            }
            4 => {
                let comment = format!("IC_theirs_{}", self.step);
                let gave_up = self.rng.below(3) == 0;
                self.ask("seen", json!({ "ref": item, "comment": comment, "gave_up": gave_up }));
                self.truth(number).seen.insert(comment);
            }
            5 => drop(self.ask("attempt", json!({ "ref": item, "comment": format!("IC_try_{}", self.step) }))),
            6 => {
                let graph = json!({ "nodes": [self.step], "big": 9_007_199_254_740_993_u64 });
                self.ask("graph", json!({ "ref": item, "value": graph }));
                self.truth(number).graph = Some(graph);
            }
            7 => {
                // It forgets comments that are gone from the thread.
                let known = self.peer_read(number)["seen"].clone();
                self.sync();
                let live: Vec<&Json> = known.as_array().unwrap().iter().step_by(2).collect();
                self.ask("finalize", json!({ "ref": item, "live": live, "at": now }));
            }
            _ => self.they_end(number),
        }
        self.sync();
    }

    fn they_command(&mut self, number: u64, word: &str) {
        let now = at(self.second()).to_string();
        self.ask("control", json!({ "ref": reference(number).to_string(), "command": word, "at": now }));
        self.truth(number).armed = matches!(word, "start" | "resume");
    }

    /// It clears the command, and sometimes forgets the poll as well; a record without any section it deletes, and then
    /// GitHub's own close tells us.
    fn they_end(&mut self, number: u64) {
        let item = reference(number).to_string();
        self.sync();
        self.ask("clear", json!({ "ref": item }));
        if self.rng.below(2) == 0 {
            self.ask("forget", json!({ "ref": item }));
        }
        self.truth(number).armed = false;
        if self.peer_read(number)["exists"] == false {
            self.truth(number).graph = None;
            self.we_end(number);
        }
    }

    fn peer_read(&mut self, number: u64) -> Json {
        let root = self.root();
        self.peer.read(&root, &reference(number).to_string())
    }

    fn ours(&mut self, number: u64) {
        self.sync();
        let (item, now) = (reference(number), at(self.second()));
        match self.rng.below(6) {
            0 | 1 => self.we_command(number, Command::Start),
            2 => self.we_command(number, Command::Resume),
            3 => {
                let word = if self.rng.below(2) == 0 { Command::Stop } else { Command::Pause };
                self.we_command(number, word);
            }
            4 => {
                let comment = format!("IC_ours_{}", self.step);
                self.said.push(format!("ours: {number} saw {comment} at {now}"));
                see(&self.place, &item, &comment);
                self.truth(number).seen.insert(comment);
            }
            _ => self.we_end(number),
        }
        self.sync();
    }

    fn we_command(&mut self, number: u64, word: Command) {
        let second = self.second();
        self.said.push(format!("ours: {number} {word:?} at {}", at(second)));
        self.truth(number).armed = word.arms();
        self.place.change(&reference(number), move |row| {
            row.sections.control = Some(control(word.clone(), "mona", second));
            row.sections.commanded_at = Some(at(second));
        });
    }

    fn we_end(&mut self, number: u64) {
        let second = self.second();
        self.said.push(format!("ours: {number} closed at {}", at(second)));
        self.truth(number).armed = false;
        self.place.change(&reference(number), move |row| {
            row.sections.control = None;
            row.sections.ended = Some(Ended { at: at(second), reason: "closed".into() });
        });
    }

    fn check(&mut self) {
        for number in 1..=ITEMS {
            let (item, theirs) = (reference(number), self.peer_read(number));
            let (truth, said) = (&self.truths[&number], self.said.join("\n"));
            let row = self.place.item(&item);
            let armed = row.is_some_and(|row| {
                row.sections.control.is_some_and(|control| control.arms_after(row.sections.ended.as_ref()))
            });
            assert_eq!(armed, truth.armed, "{item} here\n{said}\n{theirs}");
            assert_eq!(theirs["armed"], truth.armed, "{item} there\n{said}\n{theirs}");
            assert!(truth.seen.is_subset(&self.place.seen(&item)), "{item}\n{said}\n{theirs}");
            let seen: BTreeSet<String> = serde_json::from_value(theirs["seen"].clone()).unwrap();
            assert!(truth.seen.is_subset(&seen), "{item} there\n{said}\n{theirs}");
            if let Some(graph) = &truth.graph {
                assert_eq!(&theirs["record"]["graph"], graph, "{item}\n{said}\n{theirs}");
            }
            if theirs["exists"] == true {
                assert_eq!(theirs["record"]["url"], theirs["url"], "{item}");
            }
        }
    }
}

/// A comment was delivered here.
fn see(place: &Place, item: &WorkItemRef, comment: &str) {
    place.change(item, |row| row.sections.has_poll = true);
    let (item, comment) = (item.key(), comment.to_owned());
    place.app.store().write(move |tx: &mut WriteTx<'_>| tx.put_seen(&item, &comment).map(drop)).unwrap();
}
