//! The machine's clock and random ids.

use std::os::fd::AsFd;
use std::time::{SystemTime, UNIX_EPOCH};

use super::processes;
use crate::domain::ids::InstanceId;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::domain::ports::{Clock, Ids};
use crate::domain::session::Liveness;
use crate::domain::time::Time;

/// The wall clock, UTC.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Time {
        let millis = |span: std::time::Duration| i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
        Time::from_millis(match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => millis(since),
            Err(before) => -millis(before.duration()),
        })
    }
}

/// Whether the reader of this pipe is gone: what is written to it would reach nobody. Asked without writing.
pub fn is_hung_up(out: impl AsFd) -> bool {
    let mut asked = [PollFd::new(&out, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut asked, Some(&at_once)).is_ok_and(|told| told > 0)
        && asked[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
}

/// Random version 4 UUIDs from the system's source.
#[derive(Debug, Clone, Copy, Default)]
pub struct RandomIds;

impl Ids for RandomIds {
    fn uuid(&self) -> String {
        uuid::Uuid::new_v4().to_string()
    }

    fn below(&self, bound: u64) -> u64 {
        // The last eight bytes carry two bits of the variant; xor with the first eight spreads them.
        let (high, low) = uuid::Uuid::new_v4().as_u64_pair();
        (high ^ low.rotate_left(32)).checked_rem(bound).unwrap_or(0)
    }

    /// `<pid>:<start time>:<random>`: a process id alone is used again.
    fn instance(&self) -> InstanceId {
        let pid = std::process::id();
        let started = processes::start_time(pid).unwrap_or(0);
        InstanceId(format!("{pid}:{started}:{}", self.uuid()))
    }

    fn is_living(&self, instance: &InstanceId) -> bool {
        let mut parts = instance.0.split(':');
        let mut number = || parts.next()?.parse::<u64>().ok();
        let process = number().and_then(|pid| u32::try_from(pid).ok()).zip(number());
        process.is_some_and(|(pid, started)| processes::is_alive(pid, started) == Liveness::Live)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_fresh_and_bounded() {
        let ids = RandomIds;
        assert_ne!(ids.uuid(), ids.uuid());
        assert_eq!(ids.uuid().len(), 36);
        assert_eq!(ids.below(0), 0);
        let drawn: std::collections::BTreeSet<u64> = (0..400).map(|_| ids.below(8)).collect();
        assert_eq!(drawn, (0..8).collect());
    }

    #[test]
    fn k61_an_instance_lives_as_long_as_its_process_and_not_a_recycled_one() {
        let own = RandomIds.instance();
        assert!(RandomIds.is_living(&own));
        let (pid, rest) = own.0.split_once(':').unwrap();
        let started: u64 = rest.split(':').next().unwrap().parse().unwrap();
        for gone in
            [format!("{pid}:{}:x", started + 1), "999999999:1:x".into(), "x".into(), "0:0:x".into(), String::new()]
        {
            assert!(!RandomIds.is_living(&InstanceId(gone.clone())), "{gone}");
        }
    }

    #[test]
    fn the_clock_is_past_the_year_2024() {
        assert!(SystemClock.now() > Time::from_millis(1_704_067_200_000));
    }
}
