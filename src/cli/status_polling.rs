//! What `status` says of polling.

use std::fmt::Write as _;

use super::counted;
use super::sessions::local_time;
use crate::app::request::PollState;

/// The lines about the repositories in `polled`, by their lower-case keys; others are of an earlier configuration.
pub(super) fn text(states: &[PollState], polled: &[String], enabled: bool) -> String {
    let mut text = String::new();
    if !enabled {
        return "polling    off\n".to_owned();
    }
    let ours: Vec<&PollState> = states.iter().filter(|state| polled.contains(&state.repository)).collect();
    let last = ours.iter().filter_map(|state| state.cycled_at.as_deref()).min();
    let last = last.map_or_else(|| "none yet".to_owned(), local_time);
    let (requests, unchanged) = ours
        .iter()
        .fold((0, 0), |(requests, unchanged), state| (requests + state.requests, unchanged + state.unchanged));
    let count = if polled.len() == 1 { "1 repository".to_owned() } else { format!("{} repositories", polled.len()) };
    let _ =
        writeln!(text, "polling    {count}, last cycle: {last}, {requests} requests, {unchanged} of them unchanged");
    for state in ours {
        state_text(&mut text, state);
    }
    text
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

/// Whether each of the repositories gets on.
pub(super) fn is_well(states: &[PollState], polled: &[String], enabled: bool) -> bool {
    !enabled || states.iter().filter(|state| polled.contains(&state.repository)).all(|state| state.trouble.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q08_a_limit_is_shown_with_its_end() {
        let state = PollState {
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
        };
        let polled = ["github:octo/hello".to_owned()];
        let told = text(std::slice::from_ref(&state), &polled, true);
        for part in ["1 repository", "rate limited until", "1 item could not be read", "300 s behind"] {
            assert!(told.contains(part), "{part}: {told}");
        }
        assert!(!is_well(std::slice::from_ref(&state), &polled, true));
        assert!(is_well(std::slice::from_ref(&state), &polled, false), "off is well");
        assert!(is_well(&[state], &["github:octo/other".to_owned()], true), "not polled any more");
    }
}
