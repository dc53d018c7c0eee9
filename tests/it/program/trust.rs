//! What an agent gets to see of the daemon, and other users of the machine of what is said to an agent.

use std::collections::BTreeSet;

use the_loop::adapters::processes;

use super::hub::{hello, reference};
use super::world::{PATIENCE, World};
use crate::support::wait_for;

#[test]
fn k28_no_secret_reaches_a_session_and_no_prompt_the_process_list() {
    let world = World::asleep("  environment: {pass: [PASSED_BY_NAME]}\n");
    world.start_with(&[("GITHUB_TOKEN", "a-token-of-28"), ("ANY_OTHER", "other-28"), ("PASSED_BY_NAME", "passed-28")]);
    let mut seen = BTreeSet::new();
    let mut look = || {
        let lines = processes::own_command_lines().unwrap().into_iter().map(|(_, words)| words.join(" "));
        // Only what belongs to this world: others run beside it.
        seen.extend(lines.filter(|line| line.contains(&world.server.socket) || line.contains("octo/hello#28")));
    };
    world.start_item(&hello(), &world.issue(28));
    let prompted = || world.heard(&reference(28)).contains("\nDelivery: ");
    wait_for("the first prompt", PATIENCE, || {
        look();
        prompted()
    });
    world.say(28, &format!("{}\nthe last line of 28", "a line nobody else may read\n".repeat(400)));
    wait_for("a long comment", PATIENCE, || {
        look();
        world.times(&reference(28), "the last line of 28") == 1
    });
    let seen: Vec<String> = seen.into_iter().collect();
    assert!(seen.iter().any(|line| line.contains("tmux")), "the process list was looked at: {seen:?}");
    let secret = world.secret.as_str();
    for word in [secret, "a-token-of-28", "other-28", "You are the agent", "a line nobody else", "the last line"] {
        assert!(!seen.iter().any(|line| line.contains(word)), "{word}: {seen:#?}");
    }
    let environment = world.agent_environment(&reference(28));
    assert!(environment.contains("THE_LOOP_WORK_ITEM=github:octo/hello#28"), "{environment}");
    assert!(environment.contains("PASSED_BY_NAME=passed-28"), "{environment}");
    let config = world.path("repo/.the-loop/cli-config.yaml");
    assert!(environment.contains(&format!("THE_LOOP_CLI_CONFIG={}", config.display())), "{environment}");
    let server = world.server.raw(&["show-environment", "-g"]).1;
    for word in [secret, "WEBHOOK_SECRET", "GITHUB_TOKEN", "a-token-of-28", "ANY_OTHER"] {
        assert!(!environment.contains(word), "{word}: {environment}");
        assert!(!server.contains(word), "{word}: {server}");
    }
}
