//! The daemon with programs that behave like the harnesses the product knows.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use rstest::rstest;

use super::hub::{hello, reference};
use super::world::{PATIENCE, World};
use crate::support::wait_for;

const HARNESS: &str = include_str!("harness.sh");

impl World {
    /// A machine whose harness is `claude`, with more lines of `routing`; its daemon runs.
    pub fn with_claude(routing: &str) -> Self {
        Self::with_harness("claude", "claude", routing)
    }

    /// A machine whose harness is of this kind, its program being `binary`; its daemon runs.
    pub fn with_harness(kind: &str, binary: &str, routing: &str) -> Self {
        let world = Self::asleep(&format!("  defaultHarness: {kind}\n{routing}"));
        fs::create_dir(world.path("bin")).unwrap();
        let program = world.path("bin").join(binary);
        let place = format!("dir={}", world.path("").display());
        fs::write(&program, HARNESS.replace("kind=@kind", &format!("kind={kind}")).replace("dir=@dir", &place))
            .unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        world.start_claude();
        world
    }

    /// Starts the daemon where it finds the harness.
    pub fn start_claude(&self) {
        let path = std::env::var("PATH").unwrap();
        self.start_with(&[("PATH", &format!("{}:{path}", self.path("bin").display()))]);
    }

    /// The arguments of every start of an endpoint's harness.
    pub fn starts(&self, number: u64) -> Vec<String> {
        let path = self.path("heard").join(format!("{}.args", reference(number).replace('/', "_")));
        fs::read_to_string(path).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    /// How often the harness asked a person to trust its directory.
    pub fn trust_dialogs(&self) -> usize {
        fs::read_to_string(self.path("trust-dialogs")).unwrap_or_default().lines().count()
    }

    /// A person presses a key, or types, in the only pane there is.
    pub fn press(&self, key: &str) {
        let (done, said) = self.server.raw(&["send-keys", "-t", "%0", key]);
        assert!(done, "{said}");
    }

    /// What the only pane shows.
    pub fn shown(&self) -> String {
        self.server.raw(&["capture-pane", "-p", "-t", "%0"]).1
    }

    /// Waits until the lane of an item waits for a person.
    pub fn wait_for_a_person(&self, why: &str) {
        wait_for("a person to be waited for", PATIENCE, || {
            let waits = |event: &serde_json::Value| event["waits"].as_str().is_some_and(|said| said.contains(why));
            self.events("dispatch.failed").iter().any(|event| waits(event) && event["level"] == "warn")
        });
    }

    /// Waits until this endpoint had so many agents and none of them lives.
    pub fn wait_ended(&self, endpoint: &str, count: usize) {
        let gone = || self.agents(endpoint).len() == count && self.living_agents(endpoint).is_empty();
        wait_for("the harness to end", PATIENCE, gone);
    }

    /// How often an endpoint's agents were told what they are for.
    pub fn introduced(&self, endpoint: &str) -> usize {
        self.heard(endpoint).matches("You are the agent of").count()
    }
}

/// What a person said to the harness by keyboard.
fn said_by_hand(world: &World) -> String {
    fs::read_to_string(world.path("person-said")).unwrap_or_default()
}

#[rstest]
#[case::codex("codex", "codex", "resume ")]
#[case::cursor("cursor", "cursor-agent", "--resume ")]
#[case::opencode("opencode", "opencode", "--session ")]
fn k42_a_harness_that_names_its_own_conversation_goes_on_with_it(
    #[case] kind: &str,
    #[case] binary: &str,
    #[case] resume: &str,
) {
    let world = World::with_harness(kind, binary, "");
    let mine = reference(1);
    world.arm(&[1]);
    assert_eq!(world.starts(1), [""], "no argument of ours, and no permission");
    world.say(1, "leave now");
    world.wait_ended(&mine, 1);
    world.say(1, "after it was left");
    world.wait_heard(&mine, "after it was left");
    let again = world.starts(1).pop().unwrap();
    let id = again.strip_prefix(resume).expect("it goes on").to_owned();
    assert!(id.len() > 20, "{id}");
    assert_eq!((world.starts(1).len(), world.introduced(&mine)), (2, 1));
    // Without a farewell the known conversation goes on all the same.
    world.say(1, "die now");
    world.wait_ended(&mine, 2);
    world.say(1, "after it died");
    world.wait_heard(&mine, "after it died");
    assert_eq!(world.starts(1).pop().unwrap(), again);
    let show = world.done("sessions show octo/hello#1 --json").json();
    assert_eq!(show["session"]["harnessSessionId"], *id, "{show}");
}

#[rstest]
#[case::codex("codex", "codex", true)]
#[case::cursor("cursor", "cursor-agent", true)]
#[case::opencode("opencode", "opencode", false)]
fn k42_what_a_transcript_names_goes_on_and_what_nobody_named_begins_anew(
    #[case] kind: &str,
    #[case] binary: &str,
    #[case] learnt: bool,
) {
    let world = World::with_harness(kind, binary, "");
    let mine = reference(2);
    world.arm(&[2]);
    if learnt {
        world.wait_event("dispatch.succeeded", &[("verb", "deliver"), ("how", "confirmed")]);
    }
    world.say(2, "die now");
    world.wait_ended(&mine, 1);
    world.say(2, "after it died");
    world.wait_heard(&mine, "after it died");
    let starts = world.starts(2);
    assert_eq!((starts.len(), starts[1].is_empty()), (2, !learnt), "{starts:?}");
    assert_eq!(world.introduced(&mine), if learnt { 1 } else { 2 });
}

#[rstest]
#[case::claude("claude", "claude")]
#[case::codex("codex", "codex")]
#[case::cursor("cursor", "cursor-agent")]
#[case::opencode("opencode", "opencode")]
fn k19_dialogs_and_half_typed_lines_hold_what_is_said_until_a_person_is_done(#[case] kind: &str, #[case] binary: &str) {
    let world = World::with_harness(kind, binary, "  harnessTrust: {enabled: false}\n");
    let mine = reference(3);
    fs::write(world.path("ask-trust"), "").unwrap();
    world.start_item(&hello(), &world.issue(3));
    world.wait_for_a_person("a dialog waits for a person");
    assert_eq!((world.heard(&mine).as_str(), world.trust_dialogs()), ("", 1));
    world.press("y");
    world.wait_prompted(&mine);

    // It has taken what it heard, and shows an empty line again.
    wait_for("the empty line", PATIENCE, || world.shown().ends_with(['❯', '›', '→', '┃']));
    world.press("half a line");
    wait_for("the half typed line", PATIENCE, || world.shown().contains("half a line"));
    world.say(3, "while a person types");
    world.wait_for_a_person("a person has begun a line");
    assert_eq!(world.times(&mine, "while a person types"), 0);
    world.press(" of mine");
    world.press("Enter");
    world.wait_heard(&mine, "while a person types");
    assert_eq!(said_by_hand(&world), "half a line of mine\n", "what a person typed stayed theirs");

    world.say(3, "ask me");
    let asks =
        || ["Esc to cancel", "esc to cancel", "esc or n", "Reject"].iter().any(|key| world.shown().contains(key));
    wait_for("the dialog", PATIENCE, asks);
    world.say(3, "behind the dialog");
    let show = || world.done("sessions show octo/hello#3 --json").json()["detail"]["waiting"] == 1;
    wait_for("the delivery to wait", PATIENCE, show);
    assert_eq!(world.times(&mine, "behind the dialog"), 0);
    world.press("y");
    world.wait_heard(&mine, "behind the dialog");
    for line in ["while a person types", "ask me", "behind the dialog"] {
        assert_eq!(world.times(&mine, line), 1, "{line}");
    }
    for file in ["wrong-key", "typed-over"] {
        assert!(!world.path(file).exists(), "{file}: {}", fs::read_to_string(world.path(file)).unwrap_or_default());
    }
}

#[test]
fn a_busy_harness_takes_what_is_said_in_order_and_once() {
    let world = World::with_harness("codex", "codex", "");
    let mine = reference(4);
    world.arm(&[4]);
    world.say(4, "take your time");
    wait_for("it to be busy", PATIENCE, || world.times(&mine, "take your time") == 1);
    for line in ["first while busy", "second while busy"] {
        world.say(4, line);
    }
    fs::write(world.path("go"), "").unwrap();
    world.wait_heard(&mine, "second while busy");
    let heard = world.heard(&mine);
    let busy: Vec<&str> = heard.lines().filter(|line| line.ends_with("while busy")).collect();
    assert_eq!(busy, ["first while busy", "second while busy"]);
    assert!(!world.path("typed-over").exists());
}

#[test]
fn k43_a_harness_that_ends_at_once_did_not_start_and_its_last_screen_is_told() {
    let world = World::with_harness("codex", "codex", "");
    fs::write(world.path("cannot-start"), "").unwrap();
    world.start_item(&hello(), &world.issue(5));
    let told = || {
        let says = |event: &serde_json::Value| {
            event["detail"].as_str().is_some_and(|said| said.contains("not logged in") && said.contains("status 3"))
        };
        world.events("session.spawn_failed").iter().any(says)
    };
    wait_for("the failed start to be told", PATIENCE, told);
    assert_eq!((world.heard(&reference(5)).as_str(), world.state(&reference(5)).as_str()), ("", "starting"));
    fs::remove_file(world.path("cannot-start")).unwrap();
    let list = world.done("dispatch list --json").json();
    let entry = list["dispatch"][0]["id"].as_str().unwrap_or_else(|| panic!("{list}")).to_owned();
    let shown = world.done(&format!("dispatch show {entry}")).stdout;
    assert!(shown.contains("To do") && shown.contains("it is tried again by itself"), "{shown}");
    world.done(&format!("dispatch retry {entry}"));
    world.wait_prompted(&reference(5));
}

#[test]
fn what_is_said_to_an_agent_that_left_a_shell_is_heard_by_the_next_one_and_run_by_nobody() {
    let world = World::asleep("");
    let name = format!("{}/$(printf %s \"$THE_LOOP_ENDPOINT\" | tr / _)", world.path("heard").display());
    world.write_agent(&format!(
        "#!/bin/sh\nname={name}\necho $$ >> \"$name.pids\"\nleaves=\n\
         while IFS= read -r line; do\nprintf '%s\\n' \"$line\" >> \"$name\"\n\
         case $line in 'leave a shell') leaves=yes ;; Delivery:*) [ -z \"$leaves\" ] || exec sh ;; esac\ndone\n"
    ));
    world.start();
    let mine = reference(6);
    world.arm(&[6]);
    world.say(6, "leave a shell");
    let named = || {
        let found = world.run("doctor --json").json();
        let findings = found["findings"].as_array().cloned().unwrap_or_default();
        findings.iter().any(|finding| finding["id"] == "tmux.only-a-shell")
    };
    wait_for("doctor to name the shell", PATIENCE, named);
    let ran = world.path("ran");
    let command = format!("touch {}", ran.display());
    world.say(6, &command);
    world.wait_heard(&mine, &command);
    assert_eq!((world.agents(&mine).len(), world.living_agents(&mine).len()), (2, 2), "the shell goes on");
    assert_eq!(world.times(&mine, &command), 1);
    assert!(!ran.exists());
    assert!(!named(), "the session has an agent again");
    let shell = world.server.raw(&["display", "-p", "-t", "%0", "#{pane_dead}#{@the-loop-key}"]);
    assert_eq!(shell, (true, "0".into()), "it is nobody's but the person's");
}
