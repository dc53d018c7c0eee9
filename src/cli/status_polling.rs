//! What `status` says of polling.

use std::fmt::Write as _;

use super::counted;
use super::sessions::local_time;
use crate::app::request::PollState;
use crate::domain::polling::Polling;
use crate::domain::time::Time;

/// How far repositories were polled, beside what is configured.
pub(super) struct Seen<'s> {
    /// Those that are polled; others are of an earlier configuration.
    states: Vec<&'s PollState>,
    polling: &'s Polling,
    /// The time, when a daemon polls now.
    runs: Option<Time>,
}

impl<'s> Seen<'s> {
    /// What is known of the repositories in `polling`; `runs` is the time, when a daemon polls now.
    pub(super) fn new(states: &'s [PollState], polling: &'s Polling, runs: Option<Time>) -> Self {
        let polled: Vec<String> = polling.sources.iter().map(|source| source.repository.key()).collect();
        let states = states.iter().filter(|state| polled.contains(&state.repository)).collect();
        Self { states, polling, runs }
    }

    /// The lines about it.
    pub(super) fn text(&self) -> String {
        if !self.polling.enabled {
            return "polling    off\n".to_owned();
        }
        let mut text = String::new();
        let last = self.states.iter().filter_map(|state| state.cycled_at.as_deref()).min();
        let last = last.map_or_else(|| "none yet".to_owned(), local_time);
        let (requests, unchanged) = self
            .states
            .iter()
            .fold((0, 0), |(requests, unchanged), state| (requests + state.requests, unchanged + state.unchanged));
        let count = match self.polling.sources.len() {
            1 => "1 repository".to_owned(),
            count => format!("{count} repositories"),
        };
        let _ = writeln!(
            text,
            "polling    {count}, last cycle: {last}, {requests} requests, {unchanged} of them unchanged"
        );
        for state in &self.states {
            state_text(&mut text, state);
            if self.is_silent(state) {
                let since = state.cycled_at.as_deref().map(local_time).unwrap_or_default();
                let _ = writeln!(text, "  {}: not polled since {since}, although the daemon runs", state.repository);
            }
        }
        text
    }

    /// Whether each of the repositories gets on.
    pub(super) fn is_well(&self) -> bool {
        let gets_on = |state: &&PollState| state.trouble.is_none() && !self.is_silent(state);
        !self.polling.enabled || self.states.iter().all(gets_on)
    }

    /// Whether a daemon polls, and has not come round to this one for long; what is paused is told otherwise.
    fn is_silent(&self, state: &PollState) -> bool {
        let cycled_at = state.cycled_at.as_deref().and_then(|at| Time::parse(at).ok());
        let is_silent = |(at, now)| self.polling.is_silent(at, now);
        state.paused_until.is_none() && cycled_at.zip(self.runs).is_some_and(is_silent)
    }
}

fn state_text(text: &mut String, state: &PollState) {
    let name = &state.repository;
    if let Some(trouble) = &state.trouble {
        let until = state.paused_until.as_deref().map(local_time);
        let until = match (until, state.is_limited) {
            (Some(until), true) => format!(", rate limited until {until}"),
            (Some(until), false) => format!(", not asked again before {until}"),
            (None, _) => String::new(),
        };
        let _ = writeln!(text, "  {name}: {trouble}{until}");
    }
    if state.failing_items > 0 {
        let _ = writeln!(text, "  {name}: {} could not be read, asked for again", counted(state.failing_items, "item"));
    }
    if let Some(offset) = state.clock_offset_seconds.filter(|offset| offset.abs() > 5) {
        let way = if offset > 0 { "ahead of" } else { "behind" };
        let _ = writeln!(text, "  {name}: this machine's clock is {} s {way} GitHub's", offset.abs());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::polling::Source;
    use crate::domain::reference::RepoRef;

    fn polling(repository: &str, enabled: bool) -> Polling {
        let repository = RepoRef::parse(repository).unwrap();
        let source = Source { repository, label: "go".into(), issues: true, pull_requests: true };
        Polling { enabled, interval_seconds: 60, sources: vec![source] }
    }

    fn limited() -> PollState {
        PollState {
            repository: "github:octo/hello".into(),
            cycled_at: Some("2026-03-02T08:15:00Z".into()),
            requests: 3,
            unchanged: 2,
            paused_until: Some("2026-03-02T08:16:00Z".into()),
            is_limited: true,
            trouble: Some("`github.com` limits how often it is asked (status 403)".into()),
            hint: None,
            failing_items: 1,
            clock_offset_seconds: Some(-300),
        }
    }

    #[test]
    fn q08_a_limit_is_shown_with_its_end() {
        let (states, here) = ([limited()], polling("octo/hello", true));
        let seen = Seen::new(&states, &here, None);
        for part in ["1 repository", "rate limited until", "1 item could not be read", "300 s behind"] {
            assert!(seen.text().contains(part), "{part}: {}", seen.text());
        }
        assert!(!seen.is_well());
        let (off, other) = (polling("octo/hello", false), polling("octo/other", true));
        assert!(Seen::new(&states, &off, None).is_well(), "off is well");
        assert!(Seen::new(&states, &other, None).is_well(), "not polled any more");
    }

    #[test]
    fn k69_a_repository_that_the_daemon_does_not_come_round_to_is_told() {
        let states = [PollState { paused_until: None, trouble: None, ..limited() }];
        let here = polling("octo/hello", true);
        let at = |text: &str| Some(Time::parse(text).unwrap());
        for (now, well) in [(None, true), (at("2026-03-02T08:20:00Z"), true), (at("2026-03-02T08:20:01Z"), false)] {
            let seen = Seen::new(&states, &here, now);
            assert_eq!((seen.is_well(), !seen.text().contains("not polled since")), (well, well), "{now:?}");
        }
        let paused = [limited()];
        assert!(!Seen::new(&paused, &here, at("2026-03-02T10:00:00Z")).text().contains("not polled since"));
    }
}
