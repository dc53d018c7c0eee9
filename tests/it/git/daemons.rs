//! Two machines with a running daemon each, two clones, one bare repository: what is said reaches one of them or both, git
//! carries the rest, and they end with equal bytes and no conflict.

use std::fs;
use std::process::{Command, Output};

use crate::program::hub::{hello, reference};
use crate::program::world::World;

/// A few of them: every one starts two daemons. The same with many seeds, without daemons, is in `exchange`.
const SEEDS: u64 = 4;
const STEPS: usize = 10;
const ITEMS: [u64; 2] = [7, 8];

/// A number below `bound`, the next of a fixed row.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

fn try_git(world: &World, args: &[&str]) -> Output {
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_the-loop")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(bin.to_owned()).chain(std::env::split_paths(&path))).unwrap();
    let mut command = Command::new("git");
    command.args(args).current_dir(world.path("repo")).env_clear().env("PATH", path);
    command.env("HOME", world.path("user")).envs(super::IDENTITY).output().unwrap()
}

fn git(world: &World, args: &[&str]) -> String {
    let output = try_git(world, args);
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "git {args:?}: {said}");
    said
}

/// Both machines on one history; neither daemon runs yet.
fn machines(hub: &str) -> [World; 2] {
    let worlds = [World::asleep(""), World::asleep("")];
    for world in &worlds {
        git(world, &["init", "-q", "-b", "main"]);
        git(world, &["remote", "add", "origin", hub]);
        // What belongs to this machine: the harness and the socket of its own tests.
        fs::write(world.path("repo/.git/info/exclude"), ".the-loop/cli-config.yaml\n").unwrap();
    }
    worlds[0].done("init");
    git(&worlds[0], &["add", "-A"]);
    git(&worlds[0], &["commit", "-q", "-m", "the-loop"]);
    git(&worlds[0], &["push", "-q", "-u", "origin", "main"]);
    git(&worlds[1], &["pull", "-q", "origin", "main"]);
    git(&worlds[1], &["branch", "-q", "-u", "origin/main"]);
    worlds[1].done("init");
    worlds
}

/// Brings what this machine knows to the others and theirs here, as a person does it.
fn exchange(world: &World) {
    world.done("export");
    git(world, &["add", "-A"]);
    if !git(world, &["status", "--porcelain"]).is_empty() {
        git(world, &["commit", "-q", "-m", "state"]);
    }
    let pulled = try_git(world, &["pull", "-q", "--no-rebase", "--no-edit"]);
    assert!(pulled.status.success(), "{}", String::from_utf8_lossy(&pulled.stderr));
    world.done("export");
    git(world, &["push", "-q"]);
}

fn files(world: &World) -> Vec<(String, String)> {
    let folder = fs::read_dir(world.path("repo/.the-loop/portable")).map(|entries| {
        let entries = entries.map(|entry| entry.unwrap());
        entries.map(|entry| (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap()))
    });
    let mut files: Vec<_> = folder.into_iter().flatten().collect();
    files.sort();
    files
}

/// One thing that happens: a word on a ticket that one machine or both hear, a branch and back, or an exchange.
fn step(dice: &mut Dice, worlds: &[World; 2]) {
    let item = ITEMS[dice.below(ITEMS.len())];
    let one = dice.below(2);
    match dice.below(8) {
        0 | 1 => exchange(&worlds[one]),
        2 => {
            // Elsewhere and back: neither is news.
            worlds[one].done("export");
            git(&worlds[one], &["stash", "-q", "-u"]);
            git(&worlds[one], &["checkout", "-q", "-b", "aside", "HEAD"]);
            git(&worlds[one], &["checkout", "-q", "main"]);
            git(&worlds[one], &["branch", "-q", "-D", "aside"]);
            let _ = try_git(&worlds[one], &["stash", "pop", "-q"]);
        }
        word => {
            let text = ["the-loop start", "the-loop pause", "the-loop resume", "the-loop stop", "go on"][word - 3];
            let delivery = worlds[0].comment_in(&hello(), &worlds[0].issue(item), text);
            let hears = if dice.below(2) == 0 { &worlds[one..=one] } else { &worlds[..] };
            for world in hears {
                assert_eq!(world.post(&delivery).status, 202);
            }
        }
    }
}

fn armed(world: &World, item: u64) -> bool {
    let ran = world.run(&format!("sessions show {} --json", reference(item)));
    ran.code == Some(0) && ran.json()["detail"]["armed"].as_bool().expect("armed")
}

#[test]
fn k37_k59_two_daemons_that_work_the_same_items_end_with_equal_bytes_and_no_conflict() {
    for seed in 0..SEEDS {
        let hub = tempfile::tempdir().unwrap();
        let path = hub.path().to_str().unwrap();
        let made = Command::new("git").args(["init", "-q", "--bare", "-b", "main", path]).status().unwrap();
        assert!(made.success());
        let worlds = machines(path);
        worlds.iter().for_each(World::start);
        let mut dice = Dice(seed);
        for _ in 0..STEPS {
            step(&mut dice, &worlds);
        }
        for world in [&worlds[0], &worlds[1], &worlds[0], &worlds[1]] {
            exchange(world);
        }
        assert_eq!(files(&worlds[0]), files(&worlds[1]), "seed {seed}");
        for world in &worlds {
            assert_eq!(git(world, &["status", "--porcelain"]), "", "seed {seed}");
            world.done("export --check");
        }
        for item in ITEMS {
            let disarmed = files(&worlds[0]).iter().any(|(name, text)| {
                name.ends_with(&format!("-{item}.json"))
                    && (text.contains("\"command\": \"stop\"") || text.contains("\"control\": null"))
            });
            assert!(!disarmed || !worlds.iter().any(|world| armed(world, item)), "seed {seed}, item {item}");
        }
        worlds.iter().for_each(|world| drop(world.run("stop")));
    }
}
