//! The policy that a configuration states.

use crate::domain::github::Permission;
use crate::domain::policy::{Keywords, Policy, Reaction, Reactions};
use crate::domain::polling::{Polling, Source};
use crate::domain::reference::RepoRef;

use super::{Config, PollingConfig, ReactionsConfig, SourceConfig, Strategy, routing as config};

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
            authorize_permission: match routing.authorize_permission {
                config::Permission::Off => None,
                config::Permission::Write => Some(Permission::Write),
                config::Permission::Maintain => Some(Permission::Maintain),
                config::Permission::Admin => Some(Permission::Admin),
            },
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

    /// What is polled: the repositories of the sources, each once, under the label of the first that names it. Without
    /// sources, the repositories that are served.
    pub fn polled(&self) -> Polling {
        let all = SourceConfig { repos: self.repositories.clone(), ..SourceConfig::default() };
        let sources = if self.polling.sources.is_empty() { std::slice::from_ref(&all) } else { &self.polling.sources };
        let mut polled: Vec<Source> = Vec::new();
        for source in sources {
            for repository in &source.repos {
                if !polled.iter().any(|earlier| earlier.repository.is_same(repository)) {
                    polled.push(self.source(source, repository));
                }
            }
        }
        let PollingConfig { enabled, interval_seconds, .. } = self.polling;
        Polling { enabled, interval_seconds, sources: polled }
    }

    fn source(&self, source: &SourceConfig, repository: &RepoRef) -> Source {
        let label = if source.label.is_empty() { &self.routing.auto_execute_label } else { &source.label };
        Source {
            repository: repository.clone(),
            label: label.clone(),
            issues: source.monitor.issues,
            pull_requests: source.monitor.pull_requests,
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
