//! Verbs by hand, against real agents in real panes.

use std::fs;

use super::hub::reference;
use super::world::World;

#[test]
fn k40_k58_a_close_and_a_reset_end_the_agent_and_a_daemon_brings_neither_back() {
    let world = World::new("");
    world.arm(&[40, 41, 58]);
    world.stop();
    let panes = || world.server.raw(&["list-panes", "-a", "-F", "#{@the-loop-ref}"]).1;
    for (line, item, stays) in [
        ("sessions close octo/hello#40 --kill-tmux", 40, false),
        ("sessions close octo/hello#41 --keep-tmux", 41, true),
        ("sessions reset octo/hello#58", 58, true),
    ] {
        assert_eq!(world.living_agents(&reference(item)).len(), 1, "{line}");
        world.done(line);
        assert!(world.living_agents(&reference(item)).is_empty(), "{line}");
        assert_eq!(panes().lines().any(|pane| pane == reference(item)), stays, "{line}");
    }
    assert_eq!((world.state(&reference(40)), world.state(&reference(58))), ("closed".into(), String::new()));
    assert!(world.run("sessions show octo/hello#58").code == Some(1));

    world.start();
    world.later(5);
    for item in [40, 58] {
        world.say(item, "is anybody there?");
        world.wait_event("routing.dropped", &[("reason", "awaiting-start")]);
    }
    assert_eq!((world.state(&reference(40)), world.state(&reference(58))), ("closed".into(), String::new()));
    world.say(58, "the-loop start");
    world.wait_state(&reference(58), "live");
    assert_eq!(world.living_agents(&reference(58)).len(), 1);
    world.stop();
}

#[test]
fn a_registered_conversation_is_resumed_in_its_directory_by_the_first_comment() {
    let world = World::asleep("");
    let config = world.path("repo/.the-loop/cli-config.yaml");
    let text = fs::read_to_string(&config).unwrap();
    let resuming = text.replace("submitDelayMs: 50", "submitDelayMs: 50, resume: [\"{conversation}\"]");
    assert_ne!(text, resuming);
    fs::write(&config, resuming).unwrap();
    let register = "sessions register octo/hello#9 --harness agent --harness-session-id c-1 --cwd ../user";
    world.done(register);
    assert!(world.done(register).stdout.contains("nothing to do"));
    assert_eq!(world.state(&reference(9)), "registered");
    world.start();
    assert!(world.agents(&reference(9)).is_empty(), "nothing was said to it yet");
    world.later(5);
    world.say(9, "welcome");
    world.wait_heard(&reference(9), "welcome");
    let place = world.path("user").canonicalize().unwrap();
    let environment = world.agent_environment(&reference(9));
    assert!(environment.lines().any(|line| line == format!("PWD={}", place.display())), "{environment}");
    assert_eq!(world.sessions()[0]["sessionId"], "c-1");
    world.stop();
}
