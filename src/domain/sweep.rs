//! Which failed deliveries of a webhook are asked for again (events rules, section 2). Pure.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::time::Time;

/// How far back the first sweep looks, seconds: GitHub keeps deliveries for three days.
const FIRST_SECONDS: i64 = 3 * 24 * 3600;
/// How far a sweep looks behind the one before it, seconds: a delivery may have been on its way.
const OVERLAP_SECONDS: i64 = 3600;
/// How often one delivery is asked for.
const TRIES: u32 = 3;
/// Most deliveries that one sweep asks for.
const MOST: usize = 100;

/// What was swept of one hook.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Swept {
    /// The newest delivery that was looked at, in GitHub's time.
    pub until: Option<Time>,
    /// Deliveries that were asked for, by their ids, with how often; as far back as sweeps look.
    pub asked: BTreeMap<String, u32>,
}

/// One attempt as the hook lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Its number, by which it is asked for.
    pub id: u64,
    /// The delivery's id, the same for all its attempts.
    pub guid: String,
    /// When.
    pub at: Time,
    /// Whether it was answered with 2xx.
    pub was_taken: bool,
}

impl Attempt {
    /// Reads one entry of the list.
    pub fn read(entry: &Value) -> Option<Self> {
        let status = entry.get("status_code").and_then(Value::as_u64).unwrap_or(0);
        Some(Self {
            id: entry.get("id")?.as_u64()?,
            guid: entry.get("guid")?.as_str()?.to_owned(),
            at: Time::parse(entry.get("delivered_at")?.as_str()?).ok()?,
            was_taken: (200..300).contains(&status),
        })
    }
}

impl Swept {
    /// How far back the next sweep looks, by GitHub's clock.
    pub fn since(&self, now: Time) -> Time {
        let oldest = now.plus_seconds(-FIRST_SECONDS);
        // A time that is still to come, by a wrong clock, must not hide what comes until then.
        self.until.map_or(oldest, |until| until.min(now).plus_seconds(-OVERLAP_SECONDS).max(oldest))
    }

    /// The attempts to be asked for: of every delivery that no attempt brought, the newest, oldest delivery first.
    pub fn missed(&self, attempts: &[Attempt]) -> Vec<Attempt> {
        let mut newest: BTreeMap<&str, &Attempt> = BTreeMap::new();
        for attempt in attempts {
            let known = newest.entry(&attempt.guid).or_insert(attempt);
            if (attempt.at, attempt.id) > (known.at, known.id) {
                *known = attempt;
            }
        }
        let taken = |guid: &str| attempts.iter().any(|attempt| attempt.guid == guid && attempt.was_taken);
        let mut missed: Vec<Attempt> = newest.into_values().filter(|attempt| !taken(&attempt.guid)).cloned().collect();
        missed.retain(|attempt| self.asked.get(&attempt.guid).is_none_or(|tries| *tries < TRIES));
        missed.sort_by_key(|attempt| (attempt.at, attempt.id));
        missed.truncate(MOST);
        missed
    }

    /// After a sweep that saw `attempts` and asked for `again`.
    #[must_use]
    pub fn after(mut self, attempts: &[Attempt], again: &[Attempt]) -> Self {
        self.until = self.until.max(attempts.iter().map(|attempt| attempt.at).max());
        self.asked.retain(|guid, _| attempts.iter().any(|attempt| attempt.guid == *guid));
        for attempt in again {
            *self.asked.entry(attempt.guid.clone()).or_default() += 1;
        }
        self
    }
}

/// The hooks of a repository that send to us: active, and to an address that ends with our path.
pub fn our_hooks(hooks: &[Value], path: &str) -> Vec<u64> {
    let ours = |hook: &&Value| {
        let url = hook.pointer("/config/url").and_then(Value::as_str).unwrap_or_default();
        let url = url.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
        hook.get("active").and_then(Value::as_bool) == Some(true) && url.ends_with(path.trim_end_matches('/'))
    };
    hooks.iter().filter(ours).filter_map(|hook| hook.get("id")?.as_u64()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn at(second: i64) -> Time {
        Time::from_millis(1_700_000_000_000).plus_seconds(second)
    }

    fn attempt(id: u64, guid: &str, second: i64, status: u64) -> Attempt {
        let entry = json!({"id": id, "guid": guid, "delivered_at": at(second).to_string(), "status_code": status});
        Attempt::read(&entry).unwrap()
    }

    #[test]
    fn what_no_attempt_brought_is_asked_for_and_not_for_ever() {
        let attempts = [
            attempt(1, "a", 1, 502),
            attempt(2, "a", 9, 200),
            attempt(3, "b", 2, 0),
            attempt(4, "b", 5, 503),
            attempt(5, "c", 3, 404),
        ];
        let mut swept = Swept::default();
        let ids = |missed: &[Attempt]| missed.iter().map(|attempt| attempt.id).collect::<Vec<_>>();
        for _ in 0..TRIES {
            let missed = swept.missed(&attempts);
            assert_eq!(ids(&missed), [5, 4]);
            swept = swept.after(&attempts, &missed);
        }
        assert_eq!(ids(&swept.missed(&attempts)), [0; 0]);
        assert_eq!(swept.until, Some(at(9)));
        assert_eq!(swept.since(at(7200)), at(9 - OVERLAP_SECONDS));
        assert_eq!(swept.since(at(3)), at(3 - OVERLAP_SECONDS), "nothing was delivered later than now");
        assert!(swept.after(&[], &[]).asked.is_empty(), "what is not listed any more is forgotten");
        assert_eq!(Swept::default().since(at(0)), at(-FIRST_SECONDS));
    }

    #[test]
    fn our_hooks_are_active_and_lead_to_our_path() {
        let hook = |id: u64, active: bool, url: &str| json!({"id": id, "active": active, "config": {"url": url}});
        let hooks = [
            hook(1, true, "https://tunnel.example/gh-webhook"),
            hook(2, false, "https://tunnel.example/gh-webhook"),
            hook(3, true, "https://ci.example/hook"),
            hook(4, true, "https://tunnel.example/gh-webhook/?x=1"),
            json!({"id": 5, "active": true}),
        ];
        assert_eq!(our_hooks(&hooks, "/gh-webhook"), [1, 4]);
    }
}
