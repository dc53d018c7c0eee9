//! Doing something in the foreground until the person there has had enough.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::time::sleep;

/// Calls `look` now and `every` so often until it answers false, or until SIGINT or SIGTERM, which is a usual end.
///
/// # Errors
/// The system gives no signals.
pub fn until_interrupted(every: Duration, mut look: impl FnMut() -> bool) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        while look() {
            tokio::select! {
                _ = interrupt.recv() => break,
                _ = terminate.recv() => break,
                () = sleep(every) => {}
            }
        }
        Ok(())
    })
}

/// Exit code when somebody insists, as a shell says it of SIGINT.
const INSISTED: i32 = 130;

/// Becomes true with the first SIGINT, SIGTERM or SIGHUP, so that whoever looks at it can clear up; a second one ends this
/// process at once.
///
/// # Errors
/// The system gives no signals.
pub fn told_to_end() -> std::io::Result<Arc<AtomicBool>> {
    let is_over = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&is_over);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let entered = runtime.enter();
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let mut hang_up = signal(SignalKind::hangup())?;
    drop(entered);
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        runtime.block_on(async {
            loop {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                    _ = hang_up.recv() => {}
                }
                if told.swap(true, Ordering::Relaxed) {
                    std::process::exit(INSISTED);
                }
            }
        });
    })?;
    Ok(is_over)
}
