//! Waiting for what follows from an order: for the daemon, or, while none runs, by doing it here.

use std::time::{Duration, Instant};

use crate::adapters::system::SystemClock;
use crate::app::look;
use crate::app::request::{Look, Response};
use crate::cli::context::Context;
use crate::cli::exit::{Failure, Kind};
use crate::cli::setting::reader;
use crate::daemon::compose::Setting;
use crate::daemon::run::{self, Mode, StartError};
use crate::domain::ports::Clock as _;
use crate::domain::reference::WorkItemRef;

/// Between two looks at what is left.
const PAUSE: Duration = Duration::from_millis(100);

/// Waits until nothing of `item` waits or is under way.
pub(super) fn until_done(item: &WorkItemRef, context: &Context, setting: &Setting) -> Result<(), Failure> {
    let limit = Duration::from_secs(u64::from(setting.config.routing.dispatch_timeout_seconds));
    let deadline = Instant::now() + limit;
    let done = |app: &crate::app::App| app.waiting(item).is_ok_and(|left| left == 0) || Instant::now() > deadline;
    match run::run(setting, &Mode::Until(&done), |_| context.out.detail("doing it here, no daemon runs")) {
        Ok(()) => {}
        // One that runs does it.
        Err(StartError::Owned { .. }) => {
            while left(item, setting)? > 0 && Instant::now() < deadline {
                std::thread::sleep(PAUSE);
            }
        }
        Err(error) => return Err(error.into()),
    }
    match left(item, setting)? {
        0 => Ok(()),
        left => Err(Failure::new(
            Kind::Outside,
            format!("{left} effects of `{item}` still wait after {} s", limit.as_secs()),
        )
        .hint("they stay stored; `the-loop events` tells what keeps them")),
    }
}

fn left(item: &WorkItemRef, setting: &Setting) -> Result<u64, Failure> {
    let Some(reader) = reader(setting)? else { return Ok(0) };
    Ok(match reader.read(|tx| look::answer(tx, &Look::Session(item.clone()), SystemClock.now()))? {
        Response::Session(Some(detail)) => detail.waiting,
        _ => 0,
    })
}
