//! The daemon's life as its operator sees it: started in the background, stopped, restarted, watched.

use std::fs;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::process::Stdio;

use rustix::process::Signal;
use the_loop::adapters::processes;

use super::hub::reference;
use super::world::{PATIENCE, Ran, World};
use crate::support::tmux::signal;
use crate::support::wait_for;

/// A daemon in the background; ended with the test.
pub struct Background {
    pub pid: u32,
    started: u64,
}

impl Background {
    pub fn of(ran: &Ran) -> Self {
        let pid = u32::try_from(ran.json()["pid"].as_u64().unwrap_or_else(|| panic!("{ran:?}"))).unwrap();
        Self { pid, started: processes::start_time(pid).expect("a living daemon") }
    }

    pub fn lives(&self) -> bool {
        processes::start_time(self.pid) == Some(self.started)
    }

    fn kill_9(&self) {
        if self.lives() {
            signal(self.pid, Signal::KILL);
            wait_for("the daemon to be gone", PATIENCE, || !self.lives());
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if self.lives() {
            signal(self.pid, Signal::KILL);
        }
    }
}

fn start(world: &World) -> Background {
    Background::of(&world.done("start --json"))
}

#[test]
fn l04_k61_of_twenty_starts_one_runs_and_nineteen_say_who_also_after_a_kill() {
    let world = World::asleep("");
    for round in 0..2 {
        let starts: Vec<_> = (0..20)
            .map(|_| {
                let mut command = world.command("start --json");
                command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
            })
            .collect();
        let ran: Vec<Ran> = starts.into_iter().map(|start| start.wait_with_output().map(Ran::of).unwrap()).collect();
        let (ready, refused): (Vec<_>, Vec<_>) = ran.iter().partition(|ran| ran.code == Some(0));
        assert_eq!((ready.len(), refused.len()), (1, 19), "round {round}: {ran:?}");
        let daemon = Background::of(ready[0]);
        for ran in refused {
            let error = &ran.json()["error"];
            assert_eq!((ran.code, &error["kind"]), (Some(4), &"store-busy".into()), "{ran:?}");
            assert!(error["message"].as_str().unwrap().starts_with("already running"), "{ran:?}");
        }
        assert!(daemon.lives());
        assert_eq!(world.done("status --json").json()["daemon"]["daemon"]["pid"], daemon.pid);
        daemon.kill_9();
        // All of them look while the store waits for its repair.
        std::thread::scope(|scope| {
            let looks: Vec<_> = (0..5).map(|_| scope.spawn(|| world.run("sessions list"))).collect();
            for look in looks {
                let ran = look.join().unwrap();
                assert_eq!(ran.code, Some(0), "{ran:?}");
            }
        });
    }
}

#[test]
fn k60_k70_stop_waits_for_the_end_and_says_when_there_is_nothing_to_stop() {
    let world = World::asleep("");
    assert!(world.done("stop").stdout.starts_with("nothing to do"), "no daemon ran");
    let daemon = start(&world);
    let receiver = world.done("status --json").json()["daemon"]["receiver"].as_str().unwrap().to_owned();
    let port = receiver.rsplit_once(':').unwrap().1.split('/').next().unwrap().parse::<u16>().unwrap();
    let ran = world.done("stop");
    assert_eq!(ran.stdout, format!("stopped: pid {}\n", daemon.pid));
    assert!(!daemon.lives());
    drop(std::net::TcpListener::bind(("127.0.0.1", port)).expect("the port is free"));
    assert!(!world.path("repo/.the-loop/local/daemon.sock").exists());
    assert_eq!(fs::read(world.path("repo/.the-loop/local/owner.json")).unwrap(), b"");
    assert_eq!(world.run("status").code, Some(1));
}

#[test]
fn k71_l07_a_restart_leaves_every_agent_alive() {
    let world = World::asleep("");
    let first = start(&world);
    world.done("sessions start octo/hello#71 --wait");
    world.wait_state(&reference(71), "live");
    wait_for("the agent to run", PATIENCE, || !world.living_agents(&reference(71)).is_empty());
    let agents = world.living_agents(&reference(71));
    let second = Background::of(&world.done("restart --json"));
    assert!(!first.lives() && second.lives());
    assert_eq!(world.living_agents(&reference(71)), agents);
    assert_eq!(world.state(&reference(71)), "live");
    // Under systemd the agents' server would be killed with the unit's group.
    let unit = include_str!("../../../docs/systemd/the-loop.service");
    assert!(unit.contains("KillMode=process") && unit.contains("Type=notify"));
}

#[test]
fn l01_k61_a_recycled_pid_is_neither_believed_nor_signalled() {
    let world = World::asleep("");
    let mut stranger = std::process::Command::new("sleep").arg("600").spawn().unwrap();
    let local = world.path("repo/.the-loop/local");
    fs::create_dir_all(&local).unwrap();
    let owner = serde_json::json!({ "pid": stranger.id(), "started": 1, "kind": "daemon", "version": "0.1.0" });
    fs::write(local.join("owner.json"), owner.to_string()).unwrap();
    fs::write(world.path("repo/.the-loop/the-loop.pid"), format!("{}\n", stranger.id())).unwrap();
    assert!(world.done("stop").stdout.starts_with("nothing to do"));
    let daemon = start(&world);
    world.done("stop");
    assert!(!daemon.lives());
    assert!(stranger.try_wait().unwrap().is_none(), "the stranger was signalled");
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}

#[test]
fn l03_k61_a_file_that_names_no_process_stops_nobody() {
    let world = World::asleep("");
    let local = world.path("repo/.the-loop/local");
    fs::create_dir_all(&local).unwrap();
    for text in ["", "0", "-1", "+5", "1\n2", "\0\0\0\0\0\0\0\0\0\0", "99999999999", " 12 "] {
        fs::write(world.path("repo/.the-loop/the-loop.pid"), text).unwrap();
        for owner in
            [text.to_owned(), format!("{{\"pid\":{text},\"started\":0,\"kind\":\"daemon\",\"version\":\"0\"}}")]
        {
            fs::write(local.join("owner.json"), &owner).unwrap();
            assert!(world.done("stop").stdout.starts_with("nothing to do"), "{owner:?}");
            assert_eq!(world.run("status").code, Some(1), "{owner:?}");
        }
    }
    let daemon = start(&world);
    assert!(daemon.lives());
    world.done("stop");
}

#[test]
fn l05_a_stale_socket_is_taken_over_and_anything_else_is_kept() {
    let world = World::asleep("");
    let daemon = start(&world);
    daemon.kill_9();
    let socket = world.path("repo/.the-loop/local/daemon.sock");
    assert!(socket.exists(), "a killed daemon leaves its socket");
    let daemon = start(&world);
    world.done("stop");
    assert!(!daemon.lives());
    fs::write(&socket, "mine").unwrap();
    let ran = world.run("start");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("is not a socket"), "{ran:?}");
    assert_eq!(fs::read(&socket).unwrap(), b"mine");
}

#[test]
fn a_start_that_fails_says_why_and_leaves_nothing_behind() {
    let world = World::asleep("  defaultHarness: nobody\n");
    let mut command = world.command("start");
    let ran = Ran::of(command.env_remove("THE_LOOP_GH_WEBHOOK_SECRET").output().unwrap());
    assert_ne!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.starts_with("error: ") && ran.stdout.is_empty(), "{ran:?}");
    assert_eq!(world.run("status --json").json()["daemon"], serde_json::Value::Null);
    assert!(!world.path("repo/.the-loop/local").exists() && !world.path("repo/.the-loop/logs").exists());
    world.configure("");
    let held = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let config = world.path("repo/.the-loop/cli-config.yaml");
    let text = fs::read_to_string(&config)
        .unwrap()
        .replace("port: 0", &format!("port: {}", held.local_addr().unwrap().port()));
    fs::write(&config, text).unwrap();
    let ran = world.run("start --json");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.json()["error"]["message"].as_str().unwrap().contains("could not listen on"), "{ran:?}");
    assert!(world.done("stop").stdout.starts_with("nothing to do"));
}

#[test]
fn k61_a_daemon_of_the_earlier_system_is_not_joined() {
    let world = World::asleep("");
    let pidfile = world.path("repo/.the-loop/gh-webhook.pid");
    fs::write(&pidfile, "4711").unwrap();
    let held = fs::File::open(&pidfile).unwrap();
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let ran = world.run("start");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("earlier system") && ran.stderr.contains("gh-webhook.pid"), "{ran:?}");
    drop(held);
    let daemon = start(&world);
    assert!(daemon.lives());
}

#[test]
fn a_supervisor_hears_when_it_is_ready_and_when_it_ends() {
    let world = World::asleep("");
    let path = world.path("notify");
    let supervisor = UnixDatagram::bind(&path).unwrap();
    supervisor.set_read_timeout(Some(PATIENCE)).unwrap();
    let hear = || {
        let mut bytes = [0; 512];
        let length = supervisor.recv(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    };
    world.start_with(&[("NOTIFY_SOCKET", path.to_str().unwrap())]);
    assert!(hear().contains("READY=1"));
    signal(world.pid(), Signal::HUP);
    assert!(hear().contains("RELOADING=1"));
    assert!(hear().contains("READY=1"));
    world.stop();
    assert!(hear().contains("STOPPING=1"));
}

#[test]
fn k64_a_socket_path_too_long_gives_way_to_the_runtime_folder() {
    let world = World::asleep("");
    let runtime = world.path("run");
    fs::create_dir(&runtime).unwrap();
    let root = world.path("repo").join("x".repeat(110));
    let config = world.path("repo/.the-loop/cli-config.yaml");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("{text}state: {{root: {}}}\n", root.display())).unwrap();
    world.start_with(&[("XDG_RUNTIME_DIR", runtime.to_str().unwrap())]);
    let folders: Vec<_> = fs::read_dir(&runtime).unwrap().flatten().map(|entry| entry.path()).collect();
    assert_eq!(folders.len(), 1);
    assert!(folders[0].join("daemon.sock").exists());
    // A command finds it by what the owner says, whatever its own environment is.
    world.done("sessions start octo/hello#64");
    world.wait_state(&reference(64), "live");
    assert!(world.done("stop").stdout.starts_with("stopped"));
    world.kill_9();
}

/// Names the folder of the store that a daemon of another version shall own.
const OTHER_VERSION: &str = "THE_LOOP_TEST_OTHER_VERSION";

/// What a daemon of another version looks like: it owns the store, and answers in its own way, until it is told to stop.
#[test]
#[ignore = "a child of another test"]
#[allow(clippy::print_stdout)]
fn a_daemon_of_another_version() {
    let local = std::path::PathBuf::from(std::env::var_os(OTHER_VERSION).expect("only runs as a child"));
    let ids = the_loop::adapters::system::RandomIds;
    let store = the_loop::store::Store::open(&local.join("state.redb"), &ids).unwrap();
    let socket = local.join("daemon.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let mut owner = the_loop::adapters::owner_file::Owner::this("daemon");
    (owner.version, owner.socket) = ("9.9.9".into(), Some(socket.clone()));
    the_loop::adapters::owner_file::write(&local.join("owner.json"), &owner).unwrap();
    let hello = serde_json::json!({
        "hello": { "program": "9.9.9", "pid": owner.pid, "kind": "daemon", "phase": "running" },
    });
    for stream in listener.incoming() {
        let asked = answer(stream.unwrap(), &hello.to_string());
        println!("\nasked {}", asked.trim());
        if asked.starts_with("POST /stop") {
            break;
        }
    }
    store.close().unwrap();
}

#[test]
fn k74_an_owner_of_another_version_is_named_and_can_be_stopped() {
    let world = World::asleep("");
    world.done("sessions start octo/hello#74");
    let local = world.path("repo/.the-loop/local");
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "--nocapture", "program::life::a_daemon_of_another_version"]);
    let other = command.env(OTHER_VERSION, &local).stdout(Stdio::piped()).spawn().unwrap();
    let owner = || the_loop::adapters::owner_file::read(&local.join("owner.json"));
    wait_for("the other daemon", PATIENCE, || owner().is_some_and(|owner| owner.version == "9.9.9"));
    for line in ["sessions stop octo/hello#74", "status", "export"] {
        let ran = world.run(line);
        assert_eq!(ran.code, Some(3), "{line}: {ran:?}");
        assert!(ran.stderr.contains("9.9.9") && ran.stderr.contains(env!("CARGO_PKG_VERSION")), "{line}: {ran:?}");
    }
    // Its end is seen by whoever started it: a child that nobody waits for still counts as there.
    let end = std::thread::spawn(move || Ran::of(other.wait_with_output().unwrap()));
    assert!(world.done("stop").stdout.starts_with("stopped"));
    let asked = end.join().unwrap();
    assert!(asked.stdout.contains("asked POST /request"), "{asked:?}");
}

/// Reads one request and answers it with `body`; the first line of the request.
fn answer(mut stream: std::os::unix::net::UnixStream, body: &str) -> String {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first).unwrap();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    reader.take(length).read_to_end(&mut Vec::new()).unwrap();
    write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len()).unwrap();
    first
}

#[test]
fn k61_a_daemon_whose_folder_was_replaced_takes_nothing_from_its_successor() {
    let world = World::asleep("");
    let old = start(&world);
    fs::rename(world.path("repo/.the-loop/local"), world.path("repo/.the-loop/away")).unwrap();
    let new = start(&world);
    assert!(old.lives());
    signal(old.pid, Signal::TERM);
    wait_for("the old daemon to end", PATIENCE, || !old.lives());
    assert_eq!(world.done("status --json").json()["daemon"]["daemon"]["pid"], new.pid);
    world.done("sessions pause octo/hello#61");
    assert!(fs::read_to_string(world.path("repo/.the-loop/the-loop.pid")).unwrap().starts_with(&new.pid.to_string()));
    assert_eq!(world.done("stop").stdout, format!("stopped: pid {}\n", new.pid));
    assert!(!new.lives());
}

#[test]
fn k60_a_command_s_moment_is_waited_for_by_stop_and_restart() {
    let world = World::asleep("");
    world.done("sessions pause octo/hello#60");
    let store = world.path("repo/.the-loop/local/state.redb");
    for line in ["stop", "restart"] {
        let held = the_loop::store::Store::open(&store, &the_loop::adapters::system::RandomIds).unwrap();
        let mut command = world.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // One that waits sleeps between its looks; one that does not has ended.
        let status = format!("/proc/{}/status", command.id());
        let sleeps = || {
            let status = fs::read_to_string(&status).unwrap_or_default();
            let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
            count.and_then(|count| count.trim().parse::<u32>().ok()).unwrap_or(0)
        };
        wait_for("the command to wait", PATIENCE, || sleeps() > 20 || command.try_wait().unwrap().is_some());
        held.close().unwrap();
        let ran = Ran::of(command.wait_with_output().unwrap());
        assert_eq!(ran.code, Some(0), "{line}: {ran:?}");
    }
    assert!(world.done("stop").stdout.starts_with("stopped"));
}

#[test]
fn k70_an_owner_that_went_after_it_said_that_it_stops_is_no_refusal() {
    let world = World::asleep("");
    world.done("sessions pause octo/hello#70");
    let local = world.path("repo/.the-loop/local");
    let store =
        the_loop::store::Store::open(&local.join("state.redb"), &the_loop::adapters::system::RandomIds).unwrap();
    let socket = local.join("daemon.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let mut owner = the_loop::adapters::owner_file::Owner::this("daemon");
    owner.socket = Some(socket.clone());
    the_loop::adapters::owner_file::write(&local.join("owner.json"), &owner).unwrap();
    let stopping = serde_json::json!({ "trouble": { "kind": "store-busy", "message": "the daemon is stopping" } });
    let ends = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        fs::remove_file(&socket).unwrap();
        drop(listener);
        let asked = answer(stream, &stopping.to_string());
        the_loop::adapters::owner_file::empty(&local.join("owner.json"));
        store.close().unwrap();
        asked
    });
    let ran = world.run("sessions stop octo/hello#70");
    assert!(ends.join().unwrap().starts_with("POST /request"));
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn k70_a_store_that_cannot_be_looked_at_is_not_called_stopped() {
    let world = World::asleep("");
    fs::write(world.path("repo/.the-loop/local"), "in the way of the folder").unwrap();
    let ran = world.run("stop");
    assert!(ran.code == Some(1) && ran.stderr.contains("state.redb"), "{ran:?}");
}

#[test]
fn without_a_tmux_a_start_says_what_is_done_instead() {
    for (runner, said) in [("auto", "a process of its own"), ("tmux", "nothing is delivered")] {
        let world = World::asleep(&format!("  runner: {runner}\n"));
        let mut command = world.command("start --foreground");
        let daemon = command.env("PATH", world.path("user")).stdout(Stdio::null()).stderr(Stdio::piped());
        let daemon = daemon.spawn().unwrap();
        wait_for("the daemon to serve", PATIENCE, || world.run("status").code == Some(0));
        world.done("stop");
        let ran = Ran::of(daemon.wait_with_output().unwrap());
        assert!(ran.stderr.starts_with("note: `tmux` cannot be run") && ran.stderr.contains(said), "{runner}: {ran:?}");
    }
}

#[test]
fn k64_a_copy_of_the_checkout_is_not_served_by_the_daemon_of_the_first() {
    let world = World::asleep("");
    let daemon = start(&world);
    let (repo, copy) = (world.path("repo"), world.path("copy"));
    let copied = std::process::Command::new("cp").args(["-R", "--"]).args([&repo, &copy]).status().unwrap();
    assert!(copied.success());
    let run = |line: &str| Ran::of(world.command(line).current_dir(&copy).output().unwrap());
    assert_eq!(run("status --json").json()["daemon"], serde_json::Value::Null);
    let paused = run("sessions pause octo/hello#64");
    assert_eq!(paused.code, Some(0), "{paused:?}");
    assert!(run("stop").stdout.starts_with("nothing to do"));
    assert!(daemon.lives());
    assert!(copy.join(".the-loop/portable/github-octo-hello-64.json").exists());
    assert!(!world.path("repo/.the-loop/portable/github-octo-hello-64.json").exists());
}

#[test]
fn k69_a_daemon_whose_owner_file_was_lost_is_reached_by_its_socket() {
    let world = World::asleep("");
    let daemon = start(&world);
    fs::remove_file(world.path("repo/.the-loop/local/owner.json")).unwrap();
    assert_eq!(world.done("status --json").json()["daemon"]["daemon"]["pid"], daemon.pid);
    world.done("sessions pause octo/hello#69");
    assert_eq!(world.run("start").code, Some(4));
    assert_eq!(world.done("stop").stdout, format!("stopped: pid {}\n", daemon.pid));
    assert!(!daemon.lives());
}

#[test]
fn k62_a_daemon_at_another_root_is_found_beside_a_configuration_that_is_wrong_elsewhere() {
    let world = World::asleep("");
    let config = world.path("repo/.the-loop/cli-config.yaml");
    let text = fs::read_to_string(&config).unwrap();
    let whole = format!("{text}state: {{root: elsewhere}}\n");
    fs::write(&config, &whole).unwrap();
    let daemon = start(&world);
    for wrong in [
        whole.replace("workspace: {strategy: shared}", "workspace: {strategy: sharde}"),
        format!("{whole}nonsense: 1\n"),
        whole.replace("0.4.0", "0.1.0"),
    ] {
        fs::write(&config, &wrong).unwrap();
        let ran = world.run("status --json");
        assert_eq!(ran.json()["daemon"]["daemon"]["pid"], daemon.pid, "{wrong}: {ran:?}");
        let doctor = world.run("doctor --json");
        assert_eq!(doctor.code, Some(1));
        let ids: Vec<String> =
            doctor.json()["findings"].as_array().unwrap().iter().map(|f| f["id"].to_string()).collect();
        for id in ["configuration.part", "state.private", "store.size"] {
            assert!(ids.contains(&format!("\"{id}\"")), "{id}: {ids:?}");
        }
        assert!(doctor.stdout.contains("repo/elsewhere"), "{doctor:?}");
    }
    assert_eq!(world.done("stop").stdout, format!("stopped: pid {}\n", daemon.pid));
    assert!(!daemon.lives());
}
