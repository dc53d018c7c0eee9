//! Doing something again and again in the foreground until the person there has had enough.

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
