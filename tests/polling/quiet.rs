//! What a quiet cycle costs: nothing that grows with the items.

use std::sync::{Arc, Mutex};

use crate::fake_github::port::Hosts;
use crate::world::{LABEL, Machine, TOKEN, add_repository, fake, source};

/// So many repositories of so many items that run, of the first of which a pull request is open and its checks are over.
fn crowd(repositories: u64, items: u64) -> Machine {
    let fake = Arc::new(Mutex::new(fake()));
    let names: Vec<String> = (0..repositories).map(|at| format!("octo/crowd-{at}")).collect();
    for (name, id) in names.iter().zip(500..) {
        let mut github = fake.lock().unwrap();
        add_repository(&mut github, name, id);
        for _ in 0..items {
            let issue = github.open_issue(name, "mona", "Quiet", "");
            github.label(name, issue, "mona", LABEL);
            github.comment(name, issue, "mona", "the-loop start");
        }
    }
    let hosts = Hosts::default().with("github.com", &fake, Some(TOKEN));
    let machine = Machine::at(&fake, hosts, names.iter().map(|name| source(name)).collect());
    machine.later(1);
    machine.cycle();
    machine.later(1);
    for name in &names {
        let mut github = machine.github();
        let pull = github.open_pull(name, "mona", "fix", "Skip", "Fixes #1");
        let sha = github.repo(name).head(pull).to_owned();
        github.check(name, &sha, "unit-tests", "success");
    }
    // What is new is read, what is taken over is read, and all comes to rest.
    for _ in 0..8 {
        machine.later(60);
        machine.cycle();
    }
    machine
}

#[test]
fn a_thousand_quiet_items_cost_five_requests_per_repository_and_cycle_all_unchanged() {
    let machine = crowd(10, 100);
    assert_eq!(machine.terminal.started().len(), 1000);
    machine.github().forget_requests();
    for _ in 0..3 {
        machine.later(60);
        for row in machine.cycle().repositories {
            assert!(row.requests <= 5 && row.unchanged == row.requests, "{row:?}");
        }
    }
    let github = machine.github();
    assert!(github.requests().len() <= 10 * 5 * 3);
    assert_eq!(github.count(|seen| seen.status != 304), 0);
}
