//! Who carries out an order: the owner of the store over its control socket, or this command itself while nobody owns
//! it.
//!
//! The command owns the store for moments: one to decide, one to settle each piece of quick work it did. Whoever owns it meanwhile
//! has everything he needs in the store.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::exit::{Failure, Kind};
use super::setting::{owner, store_failure};
use crate::adapters::owner_file::{self, Owner};
use crate::adapters::processes;
use crate::adapters::system::RandomIds;
use crate::app::App;
use crate::app::order::Answered;
use crate::app::progress::Progress;
use crate::app::request::{Order, Request, Response};
use crate::daemon::compose::Setting;
use crate::daemon::control::client::{Call, CallError, call};
use crate::daemon::control::wire::{Answer, Hello, PROGRAM, Phase};
use crate::domain::reference::WorkItemRef;
use crate::store::{Store, StoreError};

/// How long a dying owner, a command's moment or somebody's repair is waited for.
pub(super) const MOMENT: Duration = Duration::from_secs(2);
/// How long a daemon that starts or stops is waited for.
const CHANGE: Duration = Duration::from_secs(20);
/// How long an answer may take.
const ANSWER: Duration = Duration::from_secs(10);
/// How long an answer may take that comes after many files were written.
const LONG_ANSWER: Duration = Duration::from_secs(170);
/// Between two tries.
const PAUSE: Duration = Duration::from_millis(20);
/// Portable files written under one lock of their folder.
const FILES: usize = 256;
/// Rounds of quick work done for one order.
const ERRANDS: usize = 64;

/// Who carried out an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doer {
    /// The daemon: what follows is under way.
    Daemon,
    /// This command: what takes long waits for a daemon.
    Command,
}

/// Has an order carried out; `heard` hears how far it is where this command does it itself.
pub(super) fn order(setting: &Setting, order: &Order, heard: Arc<dyn Progress>) -> Result<(Response, Doer), Failure> {
    let begun = Instant::now();
    loop {
        match ask(setting, &Call::Request(Box::new(Request::Order(order.clone()))), patience(order))? {
            Asked::Answered(Answer::Response(response)) => return Ok((*response, Doer::Daemon)),
            Asked::Answered(Answer::Trouble(trouble)) => return Err(trouble.into()),
            Asked::Answered(_) => return Err(Failure::new(Kind::Bug, "an order was answered with something else")),
            Asked::Nobody => {}
            Asked::Changing(hello) if begun.elapsed() > CHANGE => return Err(changing(&hello)),
            Asked::Changing(_) => {}
        }
        match Store::try_open(&setting.layout.store_file(), &RandomIds) {
            Ok(store) => {
                let response = match order {
                    Order::Comment { item, body } => comment(setting, store, order, item, body),
                    _ => own(setting, store, order, heard),
                };
                return response.map(|response| (response, Doer::Command));
            }
            Err(StoreError::Busy) if begun.elapsed() < limit(setting) => std::thread::sleep(PAUSE),
            Err(error) => return Err(store_failure(setting, error)),
        }
    }
}

/// A daemon without a socket is starting, and that may take longer than a command's moment.
fn limit(setting: &Setting) -> Duration {
    if owner(setting).is_some_and(|owner| owner.kind == "daemon") { CHANGE } else { MOMENT }
}

const fn patience(order: &Order) -> Duration {
    match order {
        Order::Export
        | Order::ExportItems(_)
        | Order::PruneFiles(_)
        | Order::MarkGone(_)
        | Order::Reset(_)
        // GitHub is asked before the answer.
        | Order::Poll
        | Order::Comment { .. } => LONG_ANSWER,
        Order::Command { .. } | Order::ByHand { .. } | Order::Retry(_) | Order::Drop(_) => ANSWER,
    }
}

/// What came of asking.
pub(super) enum Asked {
    /// The owner answered.
    Answered(Answer),
    /// Nobody listens: nobody owns the store, or its owner has not begun to listen.
    Nobody,
    /// The owner starts or stops.
    Changing(Hello),
}

/// Asks the owner over its socket.
pub(super) fn ask(setting: &Setting, asked: &Call, limit: Duration) -> Result<Asked, Failure> {
    let Some(owner) = owner(setting) else { return Ok(Asked::Nobody) };
    if owner.is_stopped() {
        return Err(stopped(&owner));
    }
    let Some(socket) = &owner.socket else { return Ok(Asked::Nobody) };
    match call(socket, Some(owner.pid), asked, limit) {
        Ok(Answer::Hello(hello)) if hello.program != PROGRAM && !matches!(asked, Call::Hello | Call::Stop) => {
            Err(other_version(&hello))
        }
        Ok(Answer::Trouble(_)) if is_stopping(socket, owner.pid) => Ok(Asked::Changing(Hello {
            program: owner.version,
            pid: owner.pid,
            kind: owner.kind,
            phase: Phase::Stopping,
        })),
        Ok(answer) => Ok(Asked::Answered(answer)),
        Err(CallError::Unreachable { .. }) => Ok(Asked::Nobody),
        Err(error @ CallError::Stranger { .. }) => Err(misled(&owner, &error)),
        Err(_) if owner.is_stopped() => Err(stopped(&owner)),
        Err(error) => Err(silent(&owner, &error)),
    }
}

/// The owner that listens on `socket`. Only an owner listens there, and it takes the socket away before it ends.
pub(super) fn listening(socket: &std::path::Path) -> Option<Owner> {
    // A link may lead to the owner of another store.
    if socket.is_symlink() {
        return None;
    }
    let Ok(Answer::Hello(hello)) = call(socket, None, &Call::Hello, MOMENT) else { return None };
    let started = processes::start_time(hello.pid)?;
    let Hello { pid, kind, program, .. } = hello;
    Some(Owner { pid, started, kind, version: program, receiver: None, socket: Some(socket.to_owned()), store: None })
}

/// Trouble from an owner that is ending is no answer: it is asked again, or the store taken once it is free. One that has
/// gone since it answered was ending.
fn is_stopping(socket: &std::path::Path, owner: u32) -> bool {
    !matches!(call(socket, Some(owner), &Call::Hello, MOMENT), Ok(Answer::Hello(hello)) if hello.phase != Phase::Stopping)
}

/// The owner is suspended, and nothing it holds comes free until it goes on.
pub(super) fn stopped(owner: &Owner) -> Failure {
    let Owner { kind, pid, .. } = owner;
    Failure::new(Kind::StoreBusy, format!("the store is owned by the {kind} with pid {pid}, which is stopped"))
        .hint("it was suspended by a signal or a debugger; let it go on, and ask again")
}

/// Whoever listens at the owner's socket is somebody else.
fn misled(owner: &Owner, error: &CallError) -> Failure {
    let Owner { kind, pid, .. } = owner;
    Failure::new(Kind::NoAnswer, format!("the {kind} with pid {pid} owns the store: {error}"))
        .hint("nothing was asked of it; move away what lies there, and the daemon listens there again within seconds")
}

fn silent(owner: &Owner, error: &CallError) -> Failure {
    let Owner { kind, pid, version, .. } = owner;
    Failure::new(Kind::NoAnswer, format!("the {kind} with pid {pid} (version {version}) owns the store: {error}"))
        .hint("what was asked may still be done; `the-loop status` tells how it gets on")
}

fn other_version(hello: &Hello) -> Failure {
    let Hello { kind, pid, program, .. } = hello;
    Failure::new(
        Kind::OtherVersion,
        format!("the {kind} with pid {pid} is version {program}, this program is version {PROGRAM}"),
    )
    .hint("`the-loop restart` puts this version in its place")
}

fn changing(hello: &Hello) -> Failure {
    let Hello { kind, pid, .. } = hello;
    Failure::new(Kind::NoAnswer, format!("the {kind} with pid {pid} has been stopping for {} s", CHANGE.as_secs()))
        .hint("`the-loop status` tells whether it still runs")
}

/// The store, owned by this command for a moment.
struct Moment<'s> {
    setting: &'s Setting,
    store: Store,
    app: App,
}

impl<'s> Moment<'s> {
    fn begin(setting: &'s Setting, store: Store, order: &Order) -> Result<Self, Failure> {
        // Advisory: a command whose name cannot be written still owns the store.
        let _ =
            owner_file::write(&setting.layout.owner_file(), &Owner::this("command").of(&setting.layout.store_file()));
        let app = match order {
            Order::Export | Order::PruneFiles(_) => setting.app_for_files(store.clone())?,
            _ => setting.app(store.clone())?,
        };
        Ok(Self { setting, store, app })
    }

    /// Gives the store back; the app still reaches what is outside.
    fn end(self) -> Result<App, Failure> {
        owner_file::empty(&self.setting.layout.owner_file());
        self.store.close()?;
        Ok(self.app)
    }
}

/// Posts a comment. The store is owned before, to know the ticket's present name, and after, to know the comment; nobody
/// waits for GitHub beside it.
fn comment(
    setting: &Setting,
    store: Store,
    order: &Order,
    item: &WorkItemRef,
    body: &str,
) -> Result<Response, Failure> {
    let moment = Moment::begin(setting, store, order)?;
    let item = moment.app.ticket(item)?;
    let posted = moment.end()?.post(&item, body)?;
    // It stands there, whoever owns the store by now: its mark tells that it is ours too.
    if let Ok(store) = Store::open(&setting.layout.store_file(), &RandomIds) {
        let moment = Moment::begin(setting, store, order)?;
        moment.app.keep_posted(&posted)?;
        moment.end()?;
    }
    Ok(Response::Commented(posted.commented))
}

/// Carries the order out as the owner, and does the quick work that follows from it.
fn own(setting: &Setting, store: Store, order: &Order, heard: Arc<dyn Progress>) -> Result<Response, Failure> {
    let mut moment = Moment::begin(setting, store, order)?;
    moment.app = moment.app.heard_by(Arc::clone(&heard));
    let Answered { mut response, lanes, items } = match moment.app.respond(&Request::Order(order.clone())) {
        Ok(answered) => answered,
        Err(trouble) => {
            moment.end()?;
            return Err(trouble.into());
        }
    };
    // A mark stays for whoever owns that store by its own configuration.
    let items = if setting.is_view { Vec::new() } else { items };
    heard.begins(items.len());
    let exported = items.chunks(FILES).try_for_each(|items| moment.app.export_items(items).map(drop));
    let mut errands = Vec::new();
    // What an export sets free is left to a daemon: this app knows no servers.
    for lane in lanes.iter().filter(|_| !matches!(order, Order::Export)) {
        errands.extend(moment.app.next_errand(lane)?);
    }
    moment.app.recount(&mut response)?;
    let mut app = moment.end()?;
    for _ in 0..ERRANDS {
        if errands.is_empty() {
            break;
        }
        let returned: Vec<_> = errands.drain(..).map(|errand| app.run_errand(errand)).collect();
        let store = match Store::open(&setting.layout.store_file(), &RandomIds) {
            // A daemon came: it finds the claims, and what they came to once this process has ended.
            Err(StoreError::Busy) => break,
            opened => opened?,
        };
        let moment = Moment::begin(setting, store, order)?;
        for returned in returned {
            errands.extend(moment.app.settle_errand(returned)?);
        }
        moment.app.recount(&mut response)?;
        app = moment.end()?;
    }
    match exported {
        Ok(()) => Ok(response),
        // The daemon, or the next export, tries again: its mark stays.
        Err(error) => {
            Err(Failure::new(Kind::Outside, format!("it is done, but its portable file could not be written: {error}"))
                .hint("`the-loop doctor` says what is wrong; `the-loop export` writes it once that is mended"))
        }
    }
}
