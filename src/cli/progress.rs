//! A bar for work that takes more than a moment: on a terminal only, on standard error, and gone when the work is done.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::app::progress::Progress;

/// Work that is done sooner shows nothing.
const MOMENT: Duration = Duration::from_millis(250);
/// Between two turns of what shows that it goes on.
const TURN: Duration = Duration::from_millis(100);

/// What is known of the work: nothing but its time, or its steps too.
const TIME: &str = "{spinner} {msg} {elapsed}";
const STEPS: &str = "{spinner} {msg} {pos}/{len} {bar:30} {elapsed}";

/// A bar, shown once the work has taken more than a moment; dropped, it is gone.
pub struct Bar {
    bar: ProgressBar,
    waiting: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Bar {
    /// For work that is called `what`; shown only with `shown`.
    pub(super) fn new(what: &'static str, shown: bool) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()).with_message(what);
        bar.set_style(style(TIME));
        Self { waiting: shown.then(|| wait(bar.clone())), bar }
    }
}

/// Shows `bar` after a moment, unless the sender is dropped before.
fn wait(bar: ProgressBar) -> (Sender<()>, JoinHandle<()>) {
    let (sender, receiver) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        if receiver.recv_timeout(MOMENT) == Err(RecvTimeoutError::Timeout) {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.enable_steady_tick(TURN);
        }
    });
    (sender, thread)
}

/// A template of ours is a good one; were it not, the plain bar is.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

impl Progress for Bar {
    fn begins(&self, steps: usize) {
        self.bar.set_style(style(STEPS));
        self.bar.set_position(0);
        self.bar.set_length(u64::try_from(steps).unwrap_or(u64::MAX));
    }

    fn did(&self, steps: usize) {
        self.bar.inc(u64::try_from(steps).unwrap_or(u64::MAX));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.waiting.take() {
            drop(sender);
            // It shows a bar and ends; there is nothing to hear of it.
            let _ = thread.join();
        }
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_templates_are_good_ones() {
        for template in [TIME, STEPS] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }

    #[test]
    fn what_is_not_shown_starts_nothing_and_counts_all_the_same() {
        let bar = Bar::new("work", false);
        bar.begins(7);
        bar.did(3);
        assert!(bar.waiting.is_none() && bar.bar.is_hidden());
        assert_eq!((bar.bar.position(), bar.bar.length()), (3, Some(7)));
    }
}
