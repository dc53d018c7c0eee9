//! GitHub: one question to each host that is used and has a token.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::adapters::github::{Bounds, GitHubHttp};
use crate::adapters::system::SystemClock;
use crate::app::asking::people;
use crate::app::doctor;
use crate::daemon::compose::Setting;
use crate::domain::config::Permission;
use crate::domain::findings::Finding;
use crate::domain::findings::github::{self as judged, Need};
use crate::domain::github::{GitHub, Trouble};
use crate::domain::ports::Clock as _;
use crate::store::Reader;

/// A look is not worth a longer wait.
const CONNECT: Duration = Duration::from_secs(5);
const WHOLE: Duration = Duration::from_secs(10);

pub(super) fn look(setting: &Setting) -> Vec<Finding> {
    let bounds = Bounds { connect: CONNECT, whole: WHOLE, ..Bounds::default() };
    // Addresses are checked as the configuration is read.
    let Ok(github) = GitHubHttp::new(&setting.config.github, &setting.environment, bounds) else { return Vec::new() };
    used(setting).into_iter().flat_map(|(host, need)| host_of(&github, &host, need)).collect()
}

fn host_of(github: &dyn GitHub, host: &str, need: Need) -> Vec<Finding> {
    if let Err(unsent) = github.can_ask(host) {
        return vec![judged::unasked(&Trouble::Unsent(unsent), need)];
    }
    match people::rate(github, host) {
        Err(trouble) => vec![judged::trouble(&trouble)],
        Ok(rate) => {
            let mut findings = judged::budget(host, &rate.limits);
            findings.extend(judged::scopes(host, rate.scopes.as_deref()));
            findings.extend(judged::clock(host, rate.date, SystemClock.now()));
            findings
        }
    }
}

/// The hosts that are used, each with the most that it is needed for.
fn used(setting: &Setting) -> BTreeMap<String, Need> {
    let config = &setting.config;
    let permission = config.routing.authorize_permission != Permission::Off;
    let least = if permission { Need::Permission } else { Need::Items };
    let polled = config.polling.sources.iter().filter(|_| config.polling.enabled).flat_map(|source| &source.repos);
    let reader = Reader::open(&setting.layout.store_file()).ok();
    // A store that cannot be read is told by its own part.
    let items = reader.and_then(|reader| reader.read(|tx| doctor::hosts(tx)).ok()).unwrap_or_default();
    let named = config.repositories.iter().map(|repository| (repository.host().to_owned(), least));
    let polled = polled.map(|repository| (repository.host().to_owned(), Need::Polling));
    let mut used = BTreeMap::new();
    for (host, need) in items.into_iter().map(|host| (host, least)).chain(named).chain(polled) {
        let most = used.entry(host.to_ascii_lowercase()).or_insert(need);
        *most = need.max(*most);
    }
    used
}
