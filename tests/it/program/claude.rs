//! The daemon with a program that behaves like Claude.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::hub::{hello, reference};
use super::world::{PATIENCE, World};
use crate::support::wait_for;

#[test]
fn k19_claude_trusts_its_directory_before_it_starts_and_its_dialogs_wait_for_a_person() {
    let world = World::with_claude("");
    let config = world.path("user/.claude.json");
    fs::write(&config, "{\n  \"numStartups\": 3,\n  \"projects\": {}\n}\n").unwrap();
    fs::set_permissions(&config, fs::Permissions::from_mode(0o640)).unwrap();
    world.arm(&[1]);
    world.wait_prompted(&reference(1));
    let directory = world.path("repo").canonicalize().unwrap();
    let entry = format!("{{\"{}\": {{\"hasTrustDialogAccepted\": true}}}}", directory.display());
    let expected = format!("{{\n  \"numStartups\": 3,\n  \"projects\": {entry}\n}}\n");
    assert_eq!(fs::read_to_string(&config).unwrap(), expected);
    assert_eq!(fs::metadata(&config).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(world.trust_dialogs(), 0);
    world.wait_event("session.trusted", &[("workItem", &reference(1))]);
    world.wait_event("dispatch.succeeded", &[("verb", "deliver"), ("how", "confirmed")]);

    world.say(1, "ask me");
    let asks = || world.server.raw(&["capture-pane", "-p", "-t", "%0"]).1.contains("Esc to cancel");
    wait_for("the dialog", PATIENCE, asks);
    world.say(1, "behind the dialog");
    world.wait_for_a_person("a dialog waits for a person");
    assert_eq!(world.times(&reference(1), "behind the dialog"), 0);
    world.press("y");
    world.wait_heard(&reference(1), "behind the dialog");
    assert_eq!(world.times(&reference(1), "behind the dialog"), 1);
    assert!(!world.path("wrong-key").exists(), "only the person's key answered");
}

#[test]
fn k19_without_trust_the_first_prompt_waits_behind_the_trust_dialog() {
    let world = World::with_claude("  harnessTrust: {enabled: false}\n");
    fs::write(world.path("user/.claude.json"), "not JSON").unwrap();
    world.start_item(&hello(), &world.issue(2));
    world.wait_for_a_person("a dialog waits for a person");
    assert_eq!((world.heard(&reference(2)).as_str(), world.trust_dialogs()), ("", 1));
    world.press("y");
    world.wait_prompted(&reference(2));
    assert!(!world.path("wrong-key").exists(), "only the person's key answered");
    assert_eq!(fs::read_to_string(world.path("user/.claude.json")).unwrap(), "not JSON");
    assert!(world.events("session.trust_failed").is_empty(), "nothing was tried");
}

#[test]
fn a_configuration_that_cannot_be_read_is_left_alone_and_the_trail_says_so() {
    let world = World::with_claude("");
    fs::write(world.path("user/.claude.json"), "{\"projects\": ").unwrap();
    world.start_item(&hello(), &world.issue(3));
    world.wait_for_a_person("a dialog waits for a person");
    world.wait_event("session.trust_failed", &[("workItem", &reference(3))]);
    assert_eq!(fs::read_to_string(world.path("user/.claude.json")).unwrap(), "{\"projects\": ");
}

#[test]
fn k42_claude_goes_on_with_its_conversation_and_begins_anew_where_that_is_gone() {
    let world = World::with_claude("");
    let mine = reference(4);
    world.arm(&[4]);
    world.wait_prompted(&mine);
    world.say(4, "die now");
    world.wait_ended(&mine, 1);
    world.say(4, "after the first end");
    world.wait_heard(&mine, "after the first end");
    let starts = world.starts(4);
    let id = starts[0].strip_prefix("--session-id ").unwrap().to_owned();
    assert_eq!(starts[1..], [format!("--resume {id}")]);
    assert_eq!(world.introduced(&mine), 1);

    world.say(4, "die now");
    world.wait_ended(&mine, 2);
    fs::remove_dir_all(world.path("user/.claude/projects")).unwrap();
    world.say(4, "after the transcript was lost");
    world.wait_heard(&mine, "after the transcript was lost");
    let fresh = world.starts(4).pop().unwrap();
    assert!(fresh.starts_with("--session-id ") && !fresh.contains(&id), "{fresh}");
    assert_eq!(
        (world.starts(4).len(), world.introduced(&mine)),
        (3, 2),
        "no start failed, and the fresh one was told what it is for"
    );
}
