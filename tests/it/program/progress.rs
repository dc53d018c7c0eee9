//! Bars: on a terminal, for work that takes more than a moment, and nowhere else.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};

use rustix::fs::{FlockOperation, flock};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::life::Background;
use super::world::{PATIENCE, World};
use crate::support::wait_for;

/// A terminal of our own: what is shown on it, and its end for a program.
struct Terminal {
    shown: Arc<Mutex<Vec<u8>>>,
    end: File,
}

impl Terminal {
    fn new() -> Self {
        let ours: OwnedFd = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let end = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        let shown = Arc::new(Mutex::new(Vec::new()));
        let (mut ours, kept) = (File::from(ours), Arc::clone(&shown));
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // An error is the end: nobody holds the other side any more.
            while let Ok(count @ 1..) = ours.read(&mut bytes) {
                kept.lock().unwrap().extend_from_slice(&bytes[..count]);
            }
        });
        Self { shown, end }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().unwrap()).into_owned()
    }

    /// Begins `line` with this terminal as standard error.
    fn begin(&self, world: &World, line: &str) -> Child {
        let mut command = world.command(line);
        command.env("TERM", "xterm").stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(self.end.try_clone().unwrap()).spawn().unwrap()
    }
}

/// The folder of portable files with one file in it, held by another writer.
fn held(world: &World) -> File {
    world.done("sessions pause octo/hello#1");
    let folder = File::open(world.path("repo/.the-loop/portable")).unwrap();
    flock(&folder, FlockOperation::LockExclusive).unwrap();
    folder
}

/// Something to write: what the store knows is not in the file any more.
fn make_due(world: &World) {
    let file = world.path("repo/.the-loop/portable/github-octo-hello-1.json");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("\"pause\"", "\"start\"").replace("operator", "nobody")).unwrap();
}

#[test]
fn work_that_takes_more_than_a_moment_shows_a_bar_on_a_terminal() {
    for with_daemon in [false, true] {
        let world = World::asleep("");
        let folder = held(&world);
        make_due(&world);
        let daemon = with_daemon.then(|| Background::of(&world.done("start --json")));
        let (terminal, quiet, json) = (Terminal::new(), Terminal::new(), Terminal::new());
        let mut others = Vec::new();
        if with_daemon {
            // Asked of the daemon, these wait at the same time.
            others.push(quiet.begin(&world, "export -q"));
            others.push(json.begin(&world, "export --json"));
        }
        let mut piped = world.command("export --check");
        let piped = piped.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut shown = terminal.begin(&world, "export");
        let what = "writing portable files";
        wait_for("the bar", PATIENCE, || terminal.text().contains(what));
        drop(folder);
        wait_for("the export to end", PATIENCE, || shown.try_wait().unwrap().is_some());
        for mut other in others {
            other.wait().unwrap();
        }
        assert_eq!(piped.wait_with_output().unwrap().stderr, b"");
        assert!(!quiet.text().contains(what) && !json.text().contains(what), "{} {}", quiet.text(), json.text());
        // What the ended program wrote last may still be on its way through the terminal.
        wait_for("the bar to be taken away", PATIENCE, || {
            let text = terminal.text();
            text.rfind("\x1b[2K") > text.rfind(what)
        });
        if daemon.is_some() {
            world.done("stop");
        }
    }
}

#[test]
fn quick_work_shows_nothing() {
    let world = World::asleep("");
    let terminal = Terminal::new();
    world.done("sessions pause octo/hello#1");
    assert!(terminal.begin(&world, "export").wait().unwrap().success());
    assert!(!terminal.text().contains("writing"), "{}", terminal.text());
}
