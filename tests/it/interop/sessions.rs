//! Session records, both ways, by the real program.

use serde_json::json;

use super::Peer;
use crate::program::world::World;

#[test]
fn what_either_system_records_of_a_session_the_other_reads() {
    let Some(mut peer) = Peer::start("what_either_system_records_of_a_session_the_other_reads") else { return };
    let world = World::asleep("");
    let root = world.path("repo/.the-loop");
    let item = "github:octo/hello.js#15";
    let cwd = world.path("user");
    let started = json!({ "ref": item, "command": "start", "at": "2026-03-02T08:15:30Z" });
    peer.ask(&root, "control", started);
    peer.ask(&root, "seen", json!({ "ref": item, "comment": "IC_a" }));
    let record = json!({ "ref": item, "conversation": "c-15", "cwd": cwd, "tmux": "loop-github-octo-hello.js-15",
        "at": "2026-03-02T10:00:00Z", "pulls": ["github:octo/hello.js#20"], "paused": true });
    peer.ask(&root, "register", record);

    world.done("export");
    let read = peer.read(&root, item);
    assert_eq!((&read["armed"], &read["seen"]), (&true.into(), &json!(["IC_a"])), "{read}");
    assert_eq!(read["record"]["url"], "https://github.com/octo/hello.js/issues/15");
    assert_eq!(peer.ask(&root, "refs", json!({})), json!([item]));

    let shown = world.done("sessions show octo/hello.js#15 --json").json()["session"].clone();
    let parsed = peer.ask(&root, "parse_session", json!({ "record": shown }));
    assert_eq!((&parsed["live"], &parsed["paused"]), (&true.into(), &true.into()), "{shown}");
    let parsed = &parsed["record"];
    for (key, value) in [
        ("harness", json!("claude")),
        ("harnessSessionId", json!("c-15")),
        ("cwd", json!(cwd)),
        ("status", json!("paused")),
        ("createdAt", json!("2026-03-02T10:00:00Z")),
        ("url", json!("https://github.com/octo/hello.js/issues/15")),
    ] {
        assert_eq!(parsed[key], value, "{key}: {parsed}");
    }
    assert_eq!(parsed["pullRequests"][0]["workItem"]["ref"], "github:octo/hello.js#20");
    assert_eq!(parsed["pullRequests"].as_array().unwrap().len(), 1);

    // What we change, it reads, and what it changes then, we read.
    world.done("sessions stop octo/hello.js#15");
    assert_eq!(peer.read(&root, item)["armed"], false);
    world.tick();
    let soon = world.later(60);
    peer.ask(&root, "control", json!({ "ref": item, "command": "start", "at": soon }));
    world.done("export");
    let shown = world.done("sessions show octo/hello.js#15 --json").json();
    assert_eq!(shown["detail"]["armed"], true, "{shown}");
}
