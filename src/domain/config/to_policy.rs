//! The policy that a configuration states.

use crate::domain::policy::{Keywords, Policy, Reaction, Reactions};

use super::{Config, ReactionsConfig, Strategy};

impl Config {
    /// The part that decisions read. `user` is this machine's user name: without a list of trusted operators, it and
    /// the authorized users are the ones.
    pub fn policy(&self, user: Option<&str>) -> Policy {
        let routing = &self.routing;
        let (control, workspace) = (&routing.control, &routing.workspace);
        let words = control.keywords.clone();
        let off = routing.breaker.deliveries == 0 || routing.breaker.minutes == 0;
        let trusted_operators = if routing.trusted_operators.is_empty() {
            let logins = routing.authorized_users.iter().map(|login| login.as_str().to_owned());
            logins.chain(user.map(str::to_owned)).collect()
        } else {
            routing.trusted_operators.clone()
        };
        Policy {
            events: self.webhooks.gh_webhook.events.iter().cloned().collect(),
            repositories: self.repositories.clone(),
            authorized_users: routing.authorized_users.clone(),
            trusted_operators,
            spawn: routing.spawn_on_unmatched,
            label: routing.auto_execute_label.clone(),
            require_start: control.require_start_command,
            keywords: Keywords {
                enabled: control.enabled,
                start: words.start,
                stop: words.stop,
                pause: words.pause,
                resume: words.resume,
            },
            session_per_pr: routing.tmux.session_per_pr,
            harness: routing.default_harness.clone(),
            breaker_deliveries: if off { 0 } else { routing.breaker.deliveries },
            breaker_minutes: routing.breaker.minutes,
            max_retries: self.polling.max_retries,
            dispatch_timeout_seconds: routing.dispatch_timeout_seconds,
            tidies_checkouts: !workspace.keep_checkout_on_close && workspace.strategy != Strategy::Shared,
            reactions: reactions(&routing.reactions),
            announces: routing.announce.enabled,
        }
    }
}

fn reactions(config: &ReactionsConfig) -> Reactions {
    let one = |word: &str| Reaction::parse(word).filter(|_| config.enabled);
    Reactions { started: one(&config.started), completed: one(&config.completed), error: one(&config.error) }
}

impl From<&Config> for Policy {
    /// The policy on a machine whose user is nobody in particular.
    fn from(config: &Config) -> Self {
        config.policy(None)
    }
}
