//! Webhook deliveries that GitHub could not hand over are asked for again: they come through the receiver as any other,
//! under the id they always had.

use serde_json::{Value, json};

use super::App;
use super::asking::{odd, pages};
use crate::domain::github::{GitHub, Reading, Request, Target, Trouble, Validators, next_link, read, repo_path};
use crate::domain::log::{EventName, LogEntry};
use crate::domain::reference::RepoRef;
use crate::domain::sweep::{Attempt, Swept, our_hooks};
use crate::domain::time::Time;
use crate::store::{StoreError, View as _};

/// Most pages of a hook's deliveries that one sweep reads.
const PAGES: usize = 30;

impl App {
    /// Sweeps the hooks of every repository that is served; what went wrong, for people.
    ///
    /// # Errors
    /// The store did not answer.
    pub fn sweep(&self) -> Result<Option<String>, StoreError> {
        let settings = self.settings();
        let Some(path) = &settings.sweep else { return Ok(None) };
        let sources = settings.polling.sources.iter().map(|source| source.repository.clone());
        let mut repositories: Vec<RepoRef> = settings.policy.repositories.iter().cloned().chain(sources).collect();
        repositories.sort_by_key(RepoRef::key);
        repositories.dedup_by_key(|repository| repository.key());
        let mut troubles = Vec::new();
        for repository in &repositories {
            if let Err(trouble) = self.sweep_repository(repository, path)? {
                troubles.push(format!("{repository}: {trouble}"));
            }
        }
        Ok((!troubles.is_empty()).then(|| troubles.join("; ")))
    }

    fn sweep_repository(&self, repository: &RepoRef, path: &str) -> Result<Result<(), Trouble>, StoreError> {
        let hooks = match self.hooks(repository, path) {
            Ok(hooks) => hooks,
            Err(trouble) => return Ok(Err(trouble)),
        };
        for hook in hooks {
            if let Err(trouble) = self.sweep_hook(repository, hook)? {
                return Ok(Err(trouble));
            }
        }
        Ok(Ok(()))
    }

    fn hooks(&self, repository: &RepoRef, path: &str) -> Result<Vec<u64>, Trouble> {
        let hooks = format!("{}/hooks?per_page=100", repo_path(repository));
        let listed = pages::list(self.parts.github.as_ref(), repository.host(), &hooks, &Validators::default());
        Ok(our_hooks(&listed.map_err(Trouble::of_repository)?.items, path))
    }

    fn sweep_hook(&self, repository: &RepoRef, hook: u64) -> Result<Result<(), Trouble>, StoreError> {
        let name = format!("sweep.{}.{hook}", repository.key());
        let known = self.parts.store.read(|tx| tx.meta(&name))?;
        let swept: Swept = known.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        let github = self.parts.github.as_ref();
        let base = format!("{}/hooks/{hook}/deliveries", repo_path(repository));
        let attempts = match deliveries(github, repository.host(), &base, &swept, self.now()) {
            Ok(attempts) => attempts,
            Err(trouble) => return Ok(Err(trouble)),
        };
        let (mut asked, mut refused, mut trouble) = (Vec::new(), Vec::new(), None);
        for attempt in swept.missed(&attempts) {
            match again(github, repository.host(), &base, &attempt) {
                Ok(()) => asked.push(attempt),
                Err(found) => {
                    let ends = matches!(found, Trouble::Limited { .. } | Trouble::Refused { .. } | Trouble::Unsent(_));
                    // What is refused for what it is counts as a try; an outage does not. Neither holds up the others.
                    refused.extend(matches!(found, Trouble::Odd { .. }).then_some(attempt));
                    trouble.get_or_insert(found);
                    if ends {
                        break;
                    }
                }
            }
        }
        let entry = LogEntry::info(EventName::WebhookSwept)
            .with("repository", repository.to_string())
            .with("redelivered", asked.len());
        let (swept, now, any) =
            (swept.after(&attempts, &[asked.as_slice(), refused.as_slice()].concat()), self.now(), !asked.is_empty());
        self.parts.store.write(move |tx| {
            let text = serde_json::to_string(&swept).map_err(|error| StoreError::Bug(error.to_string()))?;
            if any {
                tx.append_journal(&entry, now)?;
            }
            tx.put_meta(&name, &text)
        })?;
        Ok(trouble.map_or(Ok(()), Err))
    }
}

/// The attempts of a hook, newest first, as far back as the sweep looks.
fn deliveries(github: &dyn GitHub, host: &str, base: &str, swept: &Swept, now: Time) -> Result<Vec<Attempt>, Trouble> {
    let mut attempts = Vec::new();
    let mut target = Target::Path(format!("{base}?per_page=100"));
    for _ in 0..PAGES {
        let answer = github.send(&Request { target, ..Request::get(host, "") })?;
        let since = swept.since(answer.date.unwrap_or(now));
        let page = match read(host, &answer)? {
            Reading::Fresh(Value::Array(page)) => page,
            // No list says nothing of what was delivered.
            _ => return Err(odd(host, &answer, "the page is no list")),
        };
        let page: Vec<Attempt> = page.iter().filter_map(Attempt::read).collect();
        let is_past = page.iter().any(|attempt| attempt.at < since);
        attempts.extend(page.into_iter().filter(|attempt| attempt.at >= since));
        match answer.link.as_deref().and_then(next_link) {
            Some(next) if !is_past => target = Target::Link(next.to_owned()),
            _ => break,
        }
    }
    Ok(attempts)
}

fn again(github: &dyn GitHub, host: &str, base: &str, attempt: &Attempt) -> Result<(), Trouble> {
    let answer = github.send(&Request::post(host, format!("{base}/{}/attempts", attempt.id), json!({})))?;
    match read(host, &answer) {
        // It is too old, or its body is not kept any more: asking again would bring the same.
        Ok(_) | Err(Trouble::Gone { .. }) => Ok(()),
        Err(trouble) => Err(trouble),
    }
}
