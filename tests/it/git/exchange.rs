//! Two machines, two stores, one bare repository: both work the same items, and git carries what they say. Whatever the
//! order, they end with equal bytes, no conflict, and nothing armed that the newest word disarms.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use the_loop::adapters::portable_files::PortableDir;
use the_loop::domain::decide::Urgency;
use the_loop::domain::portable::{Command, Ended, render};
use the_loop::domain::reference::WorkItemRef;

use super::{Ground, Tree};
use crate::portable::{Place, at, commanded, control, reference};

const FOLDER: &str = ".the-loop/portable";
const ITEMS: u64 = 2;
const SEEDS: u64 = 100;
const STEPS: usize = 6;

/// One machine: a clone, and an app with a store of its own over the clone's files.
struct Machine {
    tree: Tree,
    place: Place,
}

/// A ground on which `init` was run in two clones of one repository, for copying: relative, and without git's upkeep.
fn template() -> &'static Ground {
    static TEMPLATE: OnceLock<Ground> = OnceLock::new();
    TEMPLATE.get_or_init(|| {
        let ground = Ground::new();
        let first = ground.clone("a");
        first.done("init");
        first.commit("init");
        first.git(&["push", "-q", "-u", "origin", "main"]);
        ground.at("").git(&["clone", "-q", "-b", "main", "hub.git", "b"]);
        let second = ground.at("b");
        second.done("init");
        for tree in [&first, &second] {
            tree.git(&["remote", "set-url", "origin", "../hub.git"]);
        }
        for tree in [&first, &second, &ground.at("hub.git")] {
            for (key, value) in [("gc.auto", "0"), ("maintenance.auto", "false"), ("core.fsync", "none")] {
                tree.git(&["config", key, value]);
            }
            let hooks = tree.path.join(if tree.path.ends_with("hub.git") { "hooks" } else { ".git/hooks" });
            fs::remove_dir_all(hooks).unwrap();
        }
        ground
    })
}

/// A ground of its own with two machines.
fn machines() -> (Ground, Vec<Machine>) {
    let ground = Ground { dir: tempfile::tempdir().unwrap() };
    let copy =
        std::process::Command::new("cp").arg("-a").arg(template().path("").join(".")).arg(ground.path("")).status();
    assert!(copy.unwrap().success());
    let machines = ["a", "b"].map(|name| {
        let tree = ground.at(name);
        let folder = tree.path.join(FOLDER);
        Machine { place: Place::with(move |_| Arc::new(PortableDir::new(folder))), tree }
    });
    (ground, machines.into())
}

impl Machine {
    /// Serves all marks; whether that wrote anything.
    fn export(&self) -> bool {
        let run = self.place.app.export_marked(Urgency::Cycle, &BTreeSet::new()).unwrap();
        assert!(run.held.is_empty() && !run.more, "{run:?}");
        !run.exported.written.is_empty()
    }

    /// What the daemon does when files may have changed.
    fn look(&self) -> bool {
        self.place.app.adopt_folder().unwrap();
        self.export()
    }

    /// Commits the portable files, if there is anything to commit.
    fn commit(&self) {
        self.tree.git(&["add", "-A"]);
        self.tree.try_git(&["commit", "-q", "-m", "work"]);
    }

    /// Commits, takes in what others pushed, and pushes. Nothing of it may need a hand.
    fn exchange(&self) {
        self.commit();
        let pulled = self.tree.try_git(&["pull", "-q", "--no-rebase", "--no-edit"]);
        assert!(
            pulled.status.success(),
            "{}{}",
            String::from_utf8_lossy(&pulled.stdout),
            String::from_utf8_lossy(&pulled.stderr)
        );
        if self.look() {
            self.commit();
        }
        self.tree.git(&["push", "-q"]);
    }

    /// What the store holds: who is armed, and which comments are known.
    fn knows(&self) -> Vec<(bool, BTreeSet<String>)> {
        let of = |number| {
            let item = reference(number);
            let sections = self.place.item(&item).map(|row| row.sections);
            let armed = sections.is_some_and(|s| s.control.is_some_and(|control| control.arms_after(s.ended.as_ref())));
            (armed, self.place.seen(&item))
        };
        (1..=ITEMS).map(of).collect()
    }

    /// Other commits, other branches and stashes come and go; nothing follows from any of them.
    fn disturb(&self, how: usize) {
        let before = self.knows();
        let same = |what: &str| {
            self.look();
            assert_eq!(self.knows(), before, "{what}");
        };
        if how == 0 && !self.tree.git(&["status", "--porcelain", "-uno"]).is_empty() {
            self.tree.git(&["stash", "-q"]);
            same("a stash");
            self.tree.git(&["stash", "pop", "-q"]);
            return same("its return");
        }
        self.commit();
        let other = self.tree.git(&["rev-list", "--max-parents=0", "HEAD"]);
        let old = if how == 1 { "HEAD~1" } else { other.as_str() };
        if self.tree.try_git(&["checkout", "-q", old]).status.success() {
            same("an older commit");
            assert_eq!(self.tree.status(), "", "an older commit was written to");
            self.tree.git(&["checkout", "-q", "main"]);
            same("the branch again");
        }
    }
}

/// A small generator, seeded: the same days on every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

/// What was ever said of one item, wherever.
#[derive(Default)]
struct Said {
    commands: Vec<(i64, Command)>,
    ended: Option<i64>,
    seen: BTreeSet<String>,
}

impl Said {
    fn is_armed(&self) -> bool {
        let newest = self.commands.iter().max_by_key(|(second, word)| (*second, word.rank()));
        newest.is_some_and(|(second, word)| word.arms() && Some(*second) > self.ended)
    }
}

/// Something happens to an item on one machine.
fn happen(machine: &Machine, item: &WorkItemRef, second: i64, dice: &mut Dice, said: &mut Said) {
    let words = [Command::Start, Command::Start, Command::Stop, Command::Pause, Command::Resume];
    match dice.below(8) {
        deed @ 0..5 => {
            let word = words[deed].clone();
            said.commands.push((second, word.clone()));
            machine.place.change(item, move |row| {
                row.sections.control = Some(control(word.clone(), "mona", second));
                row.sections.commanded_at = row.sections.commanded_at.max(Some(at(second)));
            });
        }
        5 | 6 => {
            let comment = format!("IC_{second}");
            said.seen.insert(comment.clone());
            let key = item.key();
            machine.place.change(item, |row| row.sections.has_poll = true);
            machine.place.app.store().write(move |tx| tx.put_seen(&key, &comment).map(drop)).unwrap();
        }
        _ => {
            said.ended = said.ended.max(Some(second));
            machine.place.change(item, move |row| {
                row.sections.control = None;
                row.sections.ended = Some(Ended { at: at(second), reason: "closed".into() });
            });
        }
    }
    machine.export();
}

fn texts(tree: &Path) -> Vec<(String, String)> {
    let folder = tree.join(FOLDER);
    let names = (1..=ITEMS).map(|number| reference(number).slug().file_name());
    names.map(|name| (name.clone(), fs::read_to_string(folder.join(&name)).unwrap_or_default())).collect()
}

/// One seed: a scripted day on both machines.
fn day(seed: u64) {
    let (_ground, machines) = machines();
    let (mut dice, mut second) = (Dice(seed), 100);
    let mut said: Vec<Said> = (0..ITEMS).map(|_| Said::default()).collect();
    for _ in 0..STEPS {
        // Two machines also act in the same second.
        second += i64::try_from(dice.below(2)).unwrap();
        let machine = &machines[dice.below(2)];
        let item = dice.below(said.len());
        happen(machine, &reference(item as u64 + 1), second, &mut dice, &mut said[item]);
        match dice.below(8) {
            0..3 => machine.exchange(),
            how @ 3..6 => machine.disturb(how - 3),
            _ => {}
        }
    }
    for machine in machines.iter().chain(&machines[..1]) {
        machine.exchange();
    }
    let (a, b) = (texts(&machines[0].tree.path), texts(&machines[1].tree.path));
    assert_eq!(a, b, "seed {seed}");
    let wanted: Vec<_> = said.iter().map(|said| (said.is_armed(), said.seen.clone())).collect();
    for machine in &machines {
        assert_eq!(machine.knows(), wanted, "seed {seed}: {a:#?}");
        assert_eq!(machine.tree.status(), "", "seed {seed}");
        let check = machine.place.app.export_check().unwrap();
        assert!(check.written.is_empty() && check.held.is_empty(), "seed {seed}: {check:?}");
    }
}

#[test]
fn k37_k54_k55_k59_a_hundred_days_on_two_machines_end_equal_and_without_a_conflict() {
    std::thread::scope(|scope| {
        for part in 0..4 {
            scope.spawn(move || (0..SEEDS).filter(|seed| seed % 4 == part).for_each(day));
        }
    });
}

#[test]
fn k37_a_strangers_branch_arms_silences_and_ends_nothing() {
    let (_ground, machines) = machines();
    let (ours, theirs) = (&machines[0], &machines[1]);
    let (armed, idle) = (ours.place.armed(1, 10), reference(2));
    ours.exchange();
    // The stranger arms one item, as himself, and takes the file of another away.
    theirs.tree.git(&["pull", "-q"]);
    theirs.tree.git(&["checkout", "-q", "-b", "stranger"]);
    theirs.tree.write(
        &format!("{FOLDER}/{}", idle.slug().file_name()),
        render(&commanded(&idle, Command::Start, "mallory", 50)),
    );
    theirs.tree.git(&["rm", "-q", &format!("{FOLDER}/{}", armed.slug().file_name())]);
    theirs.tree.commit("trust me");
    theirs.tree.git(&["push", "-q", "origin", "stranger"]);
    let before = ours.knows();
    assert_eq!(before.iter().map(|(armed, _)| *armed).collect::<Vec<_>>(), [true, false]);
    ours.tree.git(&["fetch", "-q"]);
    for branch in ["stranger", "main", "stranger", "main"] {
        ours.tree.git(&["checkout", "-q", branch]);
        ours.look();
        assert_eq!((ours.knows(), ours.tree.status().as_str()), (before.clone(), ""), "{branch}");
    }
}
