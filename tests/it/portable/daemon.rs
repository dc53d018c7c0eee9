//! The exporter's loop: urgent things at once, held ones again later, everything before the end.

use std::fs;
use std::thread::JoinHandle;
use std::time::Duration;

use the_loop::daemon::dispatcher::Dispatcher;
use the_loop::daemon::exporter::{Exporter, Pace};
use the_loop::daemon::journal::Sink;
use the_loop::daemon::wake::{Bell, Wake};
use the_loop::domain::portable::{Command, render};

use super::{Place, commanded, control, reference};
use crate::support::wait_for;

const LIMIT: Duration = Duration::from_secs(20);

struct Running {
    bell: Bell,
    thread: JoinHandle<()>,
    dispatcher: Dispatcher,
}

impl Running {
    fn start(place: &Place, pace: Pace) -> Self {
        let (bell, journal) = (Bell::default(), Bell::default());
        let dispatcher = Dispatcher::start(place.app.clone(), 1, 0).unwrap();
        let wake = Wake::new(dispatcher.notifier(), bell.clone(), journal.clone(), Bell::default());
        let exporter = Exporter::new(place.app.clone(), wake, Sink::new(place.app.clone(), journal), pace);
        let rung = bell.clone();
        let thread = std::thread::spawn(move || exporter.run(&rung, LIMIT));
        Self { bell, thread, dispatcher }
    }

    fn stop(self) {
        self.bell.close();
        self.thread.join().unwrap();
        assert!(self.dispatcher.stop(LIMIT));
    }
}

/// Nothing but what is urgent happens by itself.
fn slow() -> Pace {
    let hour = Duration::from_secs(3600);
    Pace { pause: Duration::from_millis(1), quiet: hour, busy: hour, retry: hour, look: hour }
}

#[test]
fn commands_are_exported_at_once_and_the_rest_before_the_end() {
    let place = Place::new();
    let running = Running::start(&place, slow());
    let (item, quiet) = (reference(15), reference(16));
    place.change(&item, |row| row.sections.control = Some(control(Command::Start, "mona", 10)));
    running.bell.ring();
    wait_for("the command in the file", LIMIT, || place.path(&item).exists());
    place.change(&quiet, |row| row.sections.has_poll = true);
    running.stop();
    assert!(place.path(&quiet).exists() && !place.is_marked(&quiet));
}

#[test]
fn a_held_file_is_tried_again_without_a_bell() {
    let place = Place::new();
    let item = reference(15);
    place.put(&item, "<<<<<<< HEAD");
    place.change(&item, |row| row.sections.control = Some(control(Command::Stop, "mona", 20)));
    let pace = Pace { retry: Duration::from_millis(20), quiet: Duration::from_millis(1), ..slow() };
    let running = Running::start(&place, pace);
    wait_for("people hear of it", LIMIT, || place.journal(the_loop::domain::log::EventName::ExportHeld).len() == 1);
    place.put(&item, render(&commanded(&item, Command::Start, "mona", 10)));
    wait_for("the file follows", LIMIT, || fs::read_to_string(place.path(&item)).unwrap().contains("stop"));
    running.stop();
    assert!(!place.is_marked(&item));
}

#[test]
fn what_other_machines_wrote_is_taken_in_at_the_start_and_now_and_then() {
    let place = Place::new();
    let item = reference(15);
    place.put_record(&commanded(&item, Command::Start, "mona", 10));
    let running = Running::start(&place, Pace { look: Duration::from_millis(20), ..slow() });
    let command = || place.item(&item).and_then(|row| row.sections.control).map(|control| control.command);
    wait_for("the start is known", LIMIT, || command() == Some(Command::Start));
    place.put_record(&commanded(&item, Command::Pause, "mona", 20));
    wait_for("the pause is known", LIMIT, || command() == Some(Command::Pause));
    running.stop();
}
