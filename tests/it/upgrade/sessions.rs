//! Sessions: agents that run go on where they are, those that do not are started again with their conversation, and
//! nothing that ended comes back.

use std::process::Command;

use super::*;

/// The user's own tmux server of a world, on which the earlier system started its sessions.
struct UsersServer<'w>(&'w World);

impl UsersServer<'_> {
    fn tmux(&self, args: &[&str]) -> String {
        let mut tmux = Command::new("tmux");
        tmux.args(["-u", "-L", "default", "-f", "/dev/null"]).args(args).env_remove("TMUX");
        let ran = tmux.env("TMUX_TMPDIR", self.0.path("")).output().unwrap();
        String::from_utf8(ran.stdout).unwrap().trim_end().to_owned()
    }

    /// Starts the agent of `endpoint` as the earlier system did: without any mark.
    fn start(&self, name: &str, endpoint: &str) {
        let variable = format!("THE_LOOP_ENDPOINT={endpoint}");
        let agent = self.0.path("agent");
        self.tmux(&["new-session", "-d", "-s", name, "-e", &variable, "--", agent.to_str().unwrap()]);
    }
}

impl Drop for UsersServer<'_> {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

#[test]
fn k39_an_agent_that_runs_on_the_users_server_goes_on_there_and_no_second_one_is_started() {
    let world = World::asleep("");
    let users = UsersServer(&world);
    // tmux renames what the earlier system asked for.
    users.start("loop-github-octo-hello_js-15", &reference(15));
    users.start("another", "somebody");
    put(&world, &file(CONTROL, 15), &control(15, "start", "2026-03-02T08:15:30Z"));
    let record = session(15, &world.path("user"), "loop-github-octo-hello.js-15", &[]);
    put(&world, &file("sessions", 15), &record.to_string());
    world.start();
    world.wait_state(&reference(15), "live");
    world.later(5);
    world.say(15, "are you still there?");
    world.wait_heard(&reference(15), "are you still there?");
    assert_eq!(world.agents(&reference(15)).len(), 1, "the agent that was there");
    assert_eq!(users.tmux(&["list-panes", "-a", "-F", "#{session_name} #{@the-loop-ref}"]).lines().count(), 2);
    assert!(world.heard("somebody").is_empty());
    let shown = world.done("sessions show octo/hello#15 --json").json()["session"].clone();
    assert_eq!(shown["tmuxTarget"], "loop-github-octo-hello_js-15");
    assert_eq!((&shown["harnessSessionId"], &shown["createdAt"]), (&"c-15".into(), &"2026-03-01T10:00:00Z".into()));
    world.stop();
}

#[test]
fn an_agent_that_is_gone_is_started_again_in_its_directory_by_its_next_event() {
    let world = World::asleep("");
    let config = world.path("repo/.the-loop/cli-config.yaml");
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, text.replace("submitDelayMs: 50", "submitDelayMs: 50, resume: [\"{conversation}\"]"))
        .unwrap();
    let pull = session(21, &world.path("user"), "loop-gone-21", &[]);
    put(&world, &file("local", 20), &session(20, &world.path("user"), "loop-gone", &[pull, json!("odd")]).to_string());
    put(&world, &file("sessions", 20), &session(20, &world.path("repo"), "loop-stale", &[]).to_string());
    world.start();
    world.wait_event("session.registered", &[("file", "local/github-octo-hello-20.json")]);
    assert!(world.agents(&reference(20)).is_empty(), "nothing was said to it yet");
    let rows = world.sessions();
    assert_eq!((rows.len(), &rows[1]["workItem"]), (2, &reference(21).into()), "{rows:?}");
    world.later(5);
    world.say(20, "go on");
    world.wait_heard(&reference(20), "go on");
    let place = world.path("user").canonicalize().unwrap();
    assert!(world.agent_environment(&reference(20)).lines().any(|line| line == format!("PWD={}", place.display())));
    assert_eq!(world.sessions()[0]["sessionId"], "c-20");
    world.stop();
}

#[test]
fn k58_a_reset_is_not_undone_by_an_old_session_file_or_command() {
    let world = World::asleep("");
    put(&world, &file(CONTROL, 30), &control(30, "start", "2026-03-02T08:15:30Z"));
    put(&world, &file("local", 30), &session(30, &world.path("user"), "", &[]).to_string());
    put(&world, &file("sessions", 30), &session(30, &world.path("user"), "", &[]).to_string());
    let before = old_files(&world);
    // The first thing that is ever said about it.
    world.done("sessions reset octo/hello#30");
    assert_eq!(world.state(&reference(30)), "");
    for line in ["export", "sessions pause octo/hello#30", "sessions list"] {
        world.done(line);
        assert_eq!(world.state(&reference(30)), "", "{line}");
    }
    world.start();
    world.later(5);
    world.say(30, "is anybody there?");
    world.wait_event("routing.dropped", &[("reason", "awaiting-start")]);
    assert_eq!(world.state(&reference(30)), "");
    world.stop();
    assert_eq!(old_files(&world), before);
    // Nor when the store is gone as well: the ending travels with the portable file.
    std::fs::remove_file(world.path("repo/.the-loop/local/state.redb")).unwrap();
    world.done("export");
    assert_eq!(world.state(&reference(30)), "");
    assert_ne!(portable(&world, 30)["control"]["command"], "start");
}
