//! Looking through the event log: which lines a person asked for.

use serde_json::Value;

use super::time::Time;

/// What is asked of the log; everything left out is any.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Wanted {
    /// Event names, or families such as `session` for `session.*`.
    pub types: Vec<String>,
    /// A work item, by its key.
    pub work_item: Option<String>,
    /// Not older than this.
    pub since: Option<Time>,
    /// At least this level.
    pub level: Option<super::log::Level>,
}

impl Wanted {
    /// Whether `line`, one object of the log, is asked for. What is no object is not.
    pub fn wants(&self, line: &Value) -> bool {
        let text = |key: &str| line.get(key).and_then(Value::as_str);
        let Some(event) = text("event") else { return false };
        let named =
            |kind: &String| event == kind || event.strip_prefix(kind.as_str()).is_some_and(|r| r.starts_with('.'));
        let since =
            self.since.is_none_or(|since| text("ts").and_then(|ts| Time::parse(ts).ok()).is_some_and(|at| at >= since));
        let item = self.work_item.as_deref().is_none_or(|wanted| {
            ["workItem", "endpoint", "pullRequest"]
                .iter()
                .any(|key| text(key).is_some_and(|item| item.eq_ignore_ascii_case(wanted)))
        });
        let level = self.level.is_none_or(|least| {
            let level = line.get("level").and_then(|level| serde_json::from_value(level.clone()).ok());
            level.is_some_and(|level: super::log::Level| level >= least)
        });
        (self.types.is_empty() || self.types.iter().any(named)) && since && item && level
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lines_are_chosen_by_every_given_filter() {
        let line = json!({"ts": "2026-03-02T08:15:30.250Z", "event": "session.spawned", "level": "info",
                          "workItem": "github:Octo/Hello#7"});
        let wanted = |change: fn(&mut Wanted)| {
            let mut wanted = Wanted::default();
            change(&mut wanted);
            wanted.wants(&line)
        };
        assert!(wanted(|_| {}));
        assert!(wanted(|w| w.types = vec!["session".into()]));
        assert!(wanted(|w| w.types = vec!["session.spawned".into()]));
        assert!(!wanted(|w| w.types = vec!["sess".into()]));
        assert!(wanted(|w| w.work_item = Some("github:octo/hello#7".into())));
        assert!(!wanted(|w| w.work_item = Some("github:octo/hello#71".into())));
        assert!(wanted(|w| w.since = Time::parse("2026-03-02T08:15:30Z").ok()));
        assert!(!wanted(|w| w.since = Time::parse("2026-03-02T08:15:31Z").ok()));
        assert!(!wanted(|w| w.level = Some(crate::domain::log::Level::Warn)));
        assert!(!Wanted::default().wants(&json!(["no object"])));
    }
}
