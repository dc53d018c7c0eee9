//! What must hold between keys: each is right alone and wrong together.

use super::problem::{Note, Problem, ProblemKind};
use super::rules::is_loopback;
use super::schema::Reader;
use super::{BUILT_IN_HARNESSES, Config};

/// Reports what does not fit together.
pub fn together(config: &Config, reader: &mut Reader) {
    receiver(config, reader);
    harnesses(config, reader);
    keywords(config, reader);
    hosts(config, reader);
    environment(config, reader);
    sources(config, reader);
}

fn conflict(reader: &mut Reader, key: &str, message: impl Into<String>, hint: &str) {
    let problem = Problem::new(reader.place(key), key, ProblemKind::Conflict, message);
    reader.problems.push(if hint.is_empty() { problem } else { problem.hint(hint) });
}

fn note(reader: &mut Reader, key: &str, message: &str) {
    let note = Note { place: reader.place(key), key: key.into(), message: message.into() };
    reader.notes.push(note);
}

/// Whoever reaches the receiver must sign; the secret itself is looked for when the receiver starts.
fn receiver(config: &Config, reader: &mut Reader) {
    let hook = &config.webhooks.gh_webhook;
    if !hook.enabled {
        return;
    }
    let keyless = hook.secret_env.is_empty() && hook.secret_file.is_empty();
    if hook.allow_unsigned && !is_loopback(&hook.host) {
        let message = format!("unsigned deliveries are taken on a loopback host only, and `host` is `{}`", hook.host);
        conflict(reader, "webhooks.ghWebhook.allowUnsigned", message, "set `host` to 127.0.0.1, or remove this key");
    } else if keyless && !hook.allow_unsigned {
        let message = "the receiver needs a secret, and neither `secretEnv` nor `secretFile` names one";
        let key = if reader.set.iter().any(|(path, _)| path == "webhooks.ghWebhook.secretEnv") {
            "webhooks.ghWebhook.secretEnv"
        } else {
            "webhooks.ghWebhook.secretFile"
        };
        conflict(reader, key, message, "name one, or switch the receiver off with `enabled: false`");
    }
}

fn harnesses(config: &Config, reader: &mut Reader) {
    let routing = &config.routing;
    let known = |name: &str| BUILT_IN_HARNESSES.contains(&name) || routing.harnesses.contains_key(name);
    let hint = "declare it in `routing.harnesses`";
    let list = BUILT_IN_HARNESSES.join("`, `");
    if !known(&routing.default_harness) {
        let message = format!("there is no harness `{}`; built in are `{list}`", routing.default_harness);
        conflict(reader, "routing.defaultHarness", message, hint);
    }
    for name in routing.harness_args.keys().filter(|name| !known(name)) {
        let message = format!("there is no harness `{name}`; built in are `{list}`");
        conflict(reader, &format!("routing.harnessArgs.{name}"), message, hint);
    }
}

/// A comment is one command at most: words that are equal, or that differ in case only, would be two.
fn keywords(config: &Config, reader: &mut Reader) {
    let words = &config.routing.control.keywords;
    let all = [("start", &words.start), ("stop", &words.stop), ("pause", &words.pause), ("resume", &words.resume)];
    let plain = |word: &str| word.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    for (n, (name, word)) in all.iter().enumerate() {
        let same = all[..n].iter().find(|(_, earlier)| !plain(word).is_empty() && plain(earlier) == plain(word));
        if let Some((earlier, _)) = same {
            let key = format!("routing.control.keywords.{name}");
            conflict(reader, &key, format!("the same word as `{earlier}`"), "");
        }
    }
}

fn hosts(config: &Config, reader: &mut Reader) {
    let names: Vec<&String> = config.github.hosts.keys().collect();
    for (n, name) in names.iter().enumerate() {
        if names[..n].iter().any(|earlier| earlier.eq_ignore_ascii_case(name)) {
            let message = "this host stands twice, written in two ways";
            conflict(reader, &format!("github.hosts.{name}"), message, "keep one");
        }
    }
}

/// Sessions run other people's words; the webhook's secret would let them forge events.
fn environment(config: &Config, reader: &mut Reader) {
    let secret = &config.webhooks.gh_webhook.secret_env;
    if !secret.is_empty() && config.routing.environment.pass.contains(secret) {
        let message = format!("`{secret}` holds the webhook's secret and is never passed to sessions");
        conflict(reader, "routing.environment.pass", message, "remove it from the list");
    }
}

fn sources(config: &Config, reader: &mut Reader) {
    let polling = &config.polling;
    if polling.enabled && polling.sources.is_empty() {
        note(reader, "polling.enabled", "polling is on and `polling.sources` is empty: nothing is polled");
    }
    if !polling.enabled && !config.webhooks.gh_webhook.enabled {
        note(reader, "webhooks.ghWebhook.enabled", "neither the receiver nor polling is on: no event will arrive");
    }
}
