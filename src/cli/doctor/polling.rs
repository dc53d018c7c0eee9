//! Polling: what is polled and how it gets on, from the store; GitHub itself is asked elsewhere.

use super::super::setting::owner;
use crate::adapters::system::SystemClock;
use crate::daemon::compose::Setting;
use crate::domain::findings::Finding;
use crate::domain::findings::polling as judged;
use crate::domain::ports::Clock as _;
use crate::store::{PolledView as _, Reader};

pub(super) fn look(setting: &Setting) -> Vec<Finding> {
    let polling = setting.config.polled();
    let mut findings = judged::sources(&polling, &setting.config.repositories);
    // A store that cannot be read is told by its own part.
    let Ok(reader) = Reader::open(&setting.layout.store_file()) else { return findings };
    let read = reader.read(|tx| Ok((tx.polls()?, tx.waiting()?)));
    let Ok((polls, waiting)) = read else { return findings };
    let now = SystemClock.now();
    let runs = owner(setting).is_some_and(|owner| owner.kind == "daemon");
    for source in polling.sources.iter().filter(|_| polling.enabled) {
        let key = source.repository.key();
        let progress = polls.iter().find(|(name, _)| *name == key).map(|(_, progress)| progress);
        findings.extend(judged::repository(&source.repository, progress, &polling, runs, now));
    }
    let since = waiting.iter().map(|waiter| waiter.waiting.at).min();
    findings.extend(judged::waiting(since.map(|since| (waiting.len(), since)), now));
    findings
}
