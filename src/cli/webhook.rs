//! `the-loop webhook send`: sign a payload as GitHub does and post it, to try a setup.

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use crate::adapters::config_files::{Secret, webhook_secret};
use crate::domain::config::GhWebhookConfig;
use crate::domain::ids::DeliveryId;
use crate::domain::signature::sign;

use super::context::{Context, Setup};
use super::exit::{Exit, Failure, Kind};
use super::post::{Answer, PostError, Target, post};

/// Arguments of `webhook`.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = false)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Sign a payload with the configured secret and post it to the receiver
    Send(Send),
}

#[derive(Debug, clap::Args)]
struct Send {
    /// The payload: a JSON file, posted byte for byte
    file: PathBuf,
    /// The event it is; found from the payload when left out
    #[arg(long, value_name = "NAME")]
    event: Option<String>,
    /// Where to post; the configured receiver when left out
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// The delivery's id; a new one when left out, so that the same file can be sent again
    #[arg(long, value_name = "ID")]
    delivery: Option<String>,
}

/// Runs `webhook`.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    match &args.action {
        Action::Send(args) => send(args, context),
    }
}

fn send(args: &Send, context: &Context) -> Result<Exit, Failure> {
    let setup = context.setup()?;
    let hook = &setup.config.webhooks.gh_webhook;
    let file = context.cwd().join(&args.file);
    let body = std::fs::read(&file).map_err(|error| {
        Failure::new(Kind::Outside, format!("could not read `{}`: {error}", file.display()))
            .hint("name a JSON file that holds a payload as GitHub sends it")
    })?;
    let event = event(args.event.as_deref(), &body, &file)?;
    let delivery = match &args.delivery {
        Some(text) => DeliveryId::parse(text).map_err(|error| {
            Failure::new(Kind::Usage, error.to_string()).hint("leave `--delivery` out, and a new id is made")
        })?,
        None => DeliveryId::parse(&uuid::Uuid::new_v4().to_string())
            .map_err(|error| Failure::new(Kind::Bug, error.to_string()))?,
    };
    let target = target(args.url.as_deref(), hook)?;
    let mut headers = vec![
        ("User-Agent", format!("GitHub-Hookshot/the-loop-{}", env!("CARGO_PKG_VERSION"))),
        ("Accept", "*/*".into()),
        ("Content-Type", "application/json".into()),
        ("X-GitHub-Event", event.clone()),
        ("X-GitHub-Delivery", delivery.as_str().to_owned()),
    ];
    match secret(context, &setup)? {
        Some(secret) => headers.push(("X-Hub-Signature-256", sign(secret.as_bytes(), &body))),
        None => context.out.note("there is no secret; the payload is sent unsigned, as `allowUnsigned` says"),
    }
    context.out.detail(&format!("posting `{event}` to `{}`", target.url()));
    let answer = post(&target, &headers, &body).map_err(|error| unanswered(&target, &error))?;
    report(context, &target, &event, &delivery, &answer)
}

/// The secret to sign with; none only where the receiver takes unsigned deliveries.
fn secret(context: &Context, setup: &Setup) -> Result<Option<Secret>, Failure> {
    let hook = &setup.config.webhooks.gh_webhook;
    let secret = webhook_secret(&setup.config, &setup.home, |name| context.variable(name))?;
    if secret.is_none() && !hook.allow_unsigned {
        let names = match (hook.secret_env.as_str(), hook.secret_file.as_str()) {
            (variable, "") => format!("`${variable}` is not set"),
            ("", file) => format!("`{file}` is empty"),
            (variable, file) => format!("`${variable}` is not set and `{file}` is empty"),
        };
        return Err(Failure::new(Kind::Refused, format!("there is no webhook secret to sign with: {names}"))
            .hint("set the secret that the receiver was started with"));
    }
    Ok(secret)
}

fn target(url: Option<&str>, hook: &GhWebhookConfig) -> Result<Target, Failure> {
    match url {
        Some(url) => Target::parse(url).map_err(|why| {
            Failure::new(Kind::Usage, format!("the address `{url}` {why}"))
                .hint("write it like `http://127.0.0.1:8787/gh-webhook`; `the-loop status` shows the receiver's")
        }),
        None => Target::receiver(hook).ok_or_else(|| {
            Failure::new(Kind::Usage, "the configured port is 0, so the receiver's port is chosen when it starts")
                .hint("name the address with `--url`; `the-loop status` shows it")
        }),
    }
}

/// The event: as named, else by the members that only that event's payload has.
fn event(named: Option<&str>, body: &[u8], file: &Path) -> Result<String, Failure> {
    if let Some(name) = named {
        let plain = !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        return if plain {
            Ok(name.to_owned())
        } else {
            Err(Failure::new(Kind::Usage, format!("`{name}` is not the name of a GitHub event"))
                .hint("names look like `issue_comment`"))
        };
    }
    let payload: Json = serde_json::from_slice(body).unwrap_or_default();
    guess(&payload).map(str::to_owned).ok_or_else(|| {
        Failure::new(Kind::Usage, format!("cannot tell which event `{}` is", file.display()))
            .hint("name it with `--event`, for example `--event issue_comment`")
    })
}

/// Members that tell an event, the telling ones first.
const SIGNS: &[(&[&str], &str)] = &[
    (&["zen"], "ping"),
    (&["comment", "issue"], "issue_comment"),
    (&["comment", "pull_request"], "pull_request_review_comment"),
    (&["review", "pull_request"], "pull_request_review"),
    (&["thread", "pull_request"], "pull_request_review_thread"),
    (&["check_run"], "check_run"),
    (&["check_suite"], "check_suite"),
    (&["workflow_job"], "workflow_job"),
    (&["workflow_run"], "workflow_run"),
    (&["pull_request"], "pull_request"),
    (&["issue"], "issues"),
    (&["pusher", "commits"], "push"),
];

fn guess(payload: &Json) -> Option<&'static str> {
    let has = |names: &[&str]| names.iter().all(|name| payload.get(name).is_some());
    SIGNS.iter().find(|(names, _)| has(names)).map(|(_, event)| *event)
}

fn unanswered(target: &Target, error: &PostError) -> Failure {
    let failure = Failure::new(Kind::NoAnswer, format!("`{}`: {error}", target.url()));
    match error {
        PostError::Unreachable(_) => failure.hint("is the daemon running? `the-loop status` tells"),
        PostError::Silent(_) | PostError::NotHttp => failure.hint("is it the receiver that listens there?"),
    }
}

fn report(
    context: &Context,
    target: &Target,
    event: &str,
    delivery: &DeliveryId,
    answer: &Answer,
) -> Result<Exit, Failure> {
    let accepted = (200..300).contains(&answer.status);
    let document = || {
        let body = serde_json::from_str(&answer.body).unwrap_or_else(|_| Json::from(answer.body.clone()));
        json!({"url": target.url(), "event": event, "delivery": delivery.as_str(), "accepted": accepted,
               "status": answer.status, "answer": body})
    };
    let body = answer.body.trim_end();
    context.out.result(document, || {
        let first = format!("{} {}", answer.status, answer.reason);
        let body = if body.is_empty() { String::new() } else { format!("\n{body}") };
        format!("{}{body}\ndelivery {} of `{event}`\n", first.trim_end(), delivery.as_str())
    })?;
    Ok(if accepted { Exit::Done } else { Exit::Refused })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w01_githubs_own_vector() {
        let want = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
        assert_eq!(sign(b"It's a Secret to Everybody", b"Hello, World!"), want);
        assert_eq!(sign(b"", b"").len(), want.len());
    }

    #[test]
    fn the_event_is_told_by_the_payload_or_named() {
        let event = |named, body: &str| event(named, body.as_bytes(), Path::new("p.json")).map_err(|f| f.kind);
        for (body, want) in [
            (r#"{"action":"created","issue":{"pull_request":{}},"comment":{}}"#, "issue_comment"),
            (r#"{"review":{},"pull_request":{}}"#, "pull_request_review"),
            (r#"{"issue":{}}"#, "issues"),
            (r#"{"zen":"x","hook":{}}"#, "ping"),
        ] {
            assert_eq!(event(None, body).as_deref(), Ok(want));
        }
        for body in ["", "[]", "{}", "not json"] {
            assert_eq!(event(None, body), Err(Kind::Usage), "{body}");
        }
        assert_eq!(event(Some("push"), "not json").as_deref(), Ok("push"));
        assert_eq!(event(Some("a\r\nX: y"), "{}"), Err(Kind::Usage));
    }
}
