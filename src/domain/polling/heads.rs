//! Which heads of pull requests are asked for their checks: a check that ends does not change the pull request.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Validators;
use crate::domain::time::Time;

/// Most heads with running checks that one cycle asks for.
const BUSY: usize = 10;
/// How long a head is taken to be without checks before it counts as settled, seconds: they begin a little after a push.
const QUIET_SECONDS: i64 = 600;
/// How long running checks are waited for with every cycle, seconds; later they have their turn like the others.
const PATIENCE_SECONDS: i64 = 6 * 3600;

/// The head of an open pull request we own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Watched {
    /// The commit, lower-case hex.
    pub sha: String,
    /// Since when it is the head, as far as we know; GitHub's time.
    pub since: Time,
    /// Whether all that was begun has ended: it is asked for in its turn only.
    pub settled: bool,
    /// Of its check runs and its statuses, for when it has settled. Until then everything is asked for whole: whether it
    /// settles is seen from all of it.
    pub validators: Validators,
}

impl Watched {
    /// A new head.
    pub fn new(sha: &str, since: Time) -> Self {
        Self { sha: sha.to_ascii_lowercase(), since, settled: false, validators: Validators::default() }
    }

    /// Whether nothing more is to come by itself, from all check runs and statuses there are.
    pub fn settles(&self, runs: &[Value], statuses: &[Value], now: Time) -> bool {
        let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let running = runs.iter().any(|run| text(run, "status") != "completed");
        let pending = statuses.iter().any(|status| text(status, "state") == "pending");
        let age = |seconds| self.since.plus_seconds(seconds) <= now;
        let none = runs.is_empty() && statuses.is_empty();
        age(PATIENCE_SECONDS) || (!running && !pending && (!none || age(QUIET_SECONDS)))
    }
}

/// The pull requests whose heads are asked for in this cycle: those with running checks, and one of the others, which had
/// its turn least recently.
pub fn due(heads: &BTreeMap<u64, Watched>, turn: u64) -> Vec<u64> {
    let mut busy: Vec<(Time, u64)> =
        heads.iter().filter(|(_, head)| !head.settled).map(|(number, head)| (head.since, *number)).collect();
    busy.sort_by_key(|(since, number)| (std::cmp::Reverse(*since), *number));
    let settled = || heads.iter().filter(|(_, head)| head.settled).map(|(number, _)| *number);
    let next = settled().find(|number| *number > turn).or_else(|| settled().next());
    busy.into_iter().take(BUSY).map(|(_, number)| number).chain(next).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn at(second: i64) -> Time {
        Time::from_millis(1_700_000_000_000).plus_seconds(second)
    }

    fn heads(settled: &[(u64, bool)]) -> BTreeMap<u64, Watched> {
        let head = |settled| Watched { settled, ..Watched::new("AB", at(0)) };
        settled.iter().map(|(number, settled)| (*number, head(*settled))).collect()
    }

    #[test]
    fn settled_heads_take_turns_and_running_ones_are_asked_every_time() {
        let heads = heads(&[(3, true), (5, false), (7, true), (9, true)]);
        assert_eq!(due(&heads, 0), [5, 3]);
        assert_eq!(due(&heads, 3), [5, 7]);
        assert_eq!(due(&heads, 9), [5, 3], "round again");
        assert_eq!(due(&BTreeMap::new(), 9), [0; 0]);
        let many: Vec<(u64, bool)> = (1..100).map(|number| (number, false)).collect();
        assert_eq!(due(&self::heads(&many), 0).len(), BUSY);
    }

    #[test]
    fn a_head_settles_when_everything_has_ended() {
        let head = Watched::new("ab", at(0));
        let (done, runs) = (json!({"status": "completed"}), json!({"status": "in_progress"}));
        let (good, waits) = (json!({"state": "success"}), json!({"state": "pending"}));
        for (checks, statuses, second, settles) in [
            (vec![], vec![], 5, false),
            (vec![], vec![], 600, true),
            (vec![done.clone()], vec![], 5, true),
            (vec![done.clone(), runs.clone()], vec![], 700, false),
            (vec![done.clone()], vec![waits.clone()], 700, false),
            (vec![done], vec![good], 5, true),
            (vec![runs], vec![waits], 6 * 3600, true),
        ] {
            assert_eq!(head.settles(&checks, &statuses, at(second)), settles, "{checks:?} {statuses:?} {second}");
        }
    }
}
