//! The earlier system's old tree under a real root: taken over once, never written, never brought back.

mod files;
mod sessions;
mod waiting;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value as Json, json};

use crate::program::world::World;

pub const CONTROL: &str = "sessions/control";
pub const LIST: &str = "sessions/poll-state.json";

/// Puts a file of the earlier system under the state root.
pub fn put(world: &World, path: &str, text: &str) {
    let path = world.path("repo/.the-loop").join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// `<folder>/<slug>.json` of issue `number`.
pub fn file(folder: &str, number: u64) -> String {
    format!("{folder}/github-octo-hello-{number}.json")
}

pub fn reference(number: u64) -> String {
    format!("github:octo/hello#{number}")
}

/// A command as the earlier system wrote it.
pub fn control(number: u64, command: &str, requested_at: &str) -> String {
    let record = json!({ "ref": reference(number), "command": command, "source": "comment", "actor": "mona",
        "requestedAt": requested_at, "note": "" });
    format!("{record:#}\n")
}

/// What polling knew, with a comment that was tried twice.
pub fn polled(number: u64, seen: &[&str]) -> Json {
    json!({ reference(number): { "seenComments": seen, "commentAttempts": { "IC_tried": 2 }, "spawn": {},
        "lastPolledAt": "2026-03-02T08:16:00Z" } })
}

/// A session as the earlier system wrote it.
pub fn session(number: u64, cwd: &Path, tmux: &str, pulls: &[Json]) -> Json {
    let mut record = json!({
        "workItem": { "ref": reference(number), "provider": "github", "owner": "octo", "repo": "hello", "number": number },
        "harness": "agent", "harnessSessionId": format!("c-{number}"), "cwd": cwd, "status": "active",
        "createdAt": "2026-03-01T10:00:00Z", "lastEventAt": "2026-03-02T10:00:00Z", "tmuxTarget": tmux,
        "recentDeliveries": ["d-old"],
    });
    if !pulls.is_empty() {
        record["pullRequests"] = pulls.into();
    }
    record
}

/// Every file below the state root but our own, with its content.
pub fn old_files(world: &World) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let root = world.path("repo/.the-loop");
    let is_old = |path: &Path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        path.starts_with(root.join("sessions")) || name == "poll-state.json" || name.starts_with("github-")
    };
    let mut folders = vec![root.join("local"), root.join("sessions"), root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() && path.starts_with(root.join("sessions")) {
                folders.push(path);
            } else if path.is_file() && is_old(&path) {
                files.insert(path.display().to_string(), fs::read_to_string(&path).unwrap());
            }
        }
    }
    files
}

/// The portable record of an issue.
pub fn portable(world: &World, number: u64) -> Json {
    let path = world.path("repo/.the-loop").join(file("portable", number));
    fs::read_to_string(&path).map_or(Json::Null, |text| serde_json::from_str(&text).unwrap())
}

/// What `doctor` found with this id.
pub fn found(world: &World, id: &str) -> Vec<String> {
    let document = world.run("doctor --json").json();
    let findings = document["findings"].as_array().unwrap().iter().filter(|finding| finding["id"] == id);
    findings.map(|finding| finding["what"].as_str().unwrap().to_owned()).collect()
}
