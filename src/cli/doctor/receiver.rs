//! The receiver: its secret, who reaches it, and whether it answers.

use std::time::Duration;

use crate::adapters::config_files::webhook_secret;
use crate::cli::post::{self, PostError, Target};
use crate::daemon::compose::Setting;
use crate::domain::config::{GhWebhookConfig, is_loopback};
use crate::domain::findings::{Finding, secret};

/// How long the receiver may take to say that it lives.
const ANSWER: Duration = Duration::from_secs(2);

/// `running` is where the running daemon's receiver listens.
pub(super) fn look(setting: &Setting, running: Option<&str>) -> Vec<Finding> {
    let hook = &setting.config.webhooks.gh_webhook;
    if !hook.enabled {
        return vec![Finding::note("receiver.off", "is switched off")];
    }
    let mut findings = secret_of(setting, hook);
    findings.extend(line_end(setting));
    if !is_loopback(&hook.host) {
        let what = format!("listens on `{}`, which others reach without a tunnel", hook.host);
        findings.push(Finding::note("receiver.public", what).todo("put a proxy with TLS in front of it"));
    }
    findings.extend(address(hook, running));
    findings
}

fn secret_of(setting: &Setting, hook: &GhWebhookConfig) -> Vec<Finding> {
    let variable = |name: &str| std::env::var_os(name);
    match webhook_secret(&setting.config, &setting.home, variable) {
        Err(error) => vec![
            Finding::error("receiver.secret-unreadable", error.to_string())
                .because("the daemon does not start without its secret")
                .todo("write the file, or correct `webhooks.ghWebhook.secretFile`"),
        ],
        Ok(None) if hook.allow_unsigned => vec![
            Finding::warning("receiver.unsigned", "takes unsigned events")
                .because("anybody who reaches it can speak as anybody")
                .todo("set a secret; unsigned events are for trying things out"),
        ],
        Ok(None) => vec![
            Finding::error("receiver.no-secret", format!("no secret: `${}` is not set here", hook.secret_env))
                .because("the daemon does not start without one")
                .todo("set it where the daemon is started"),
        ],
        Ok(Some(secret)) => {
            vec![secret::weakness(secret.as_bytes()).unwrap_or_else(|| Finding::ok("receiver.secret", "has a secret"))]
        }
    }
}

/// A final line end in the secret's file is dropped; that is good to know when deliveries fail (W08).
fn line_end(setting: &Setting) -> Option<Finding> {
    let name = &setting.config.webhooks.gh_webhook.secret_file;
    let bytes = (!name.is_empty()).then(|| std::fs::read(setting.home.resolve(name)).ok()).flatten()?;
    bytes.ends_with(b"\n").then(|| {
        Finding::note("receiver.line-end", format!("`{name}` ends in a line end, which is not part of the secret"))
    })
}

/// Where it listens, and whether it answers there.
fn address(hook: &GhWebhookConfig, running: Option<&str>) -> Option<Finding> {
    match running {
        Some(address) => {
            let target = Target::parse(&format!("http://{address}")).ok()?.on_loopback();
            Some(alive(address, post::health(&target, ANSWER)))
        }
        None => {
            let target = Target::receiver(hook)?;
            post::health(&target, ANSWER).is_ok().then(|| taken(&target.url()))
        }
    }
}

fn alive(address: &str, said: Result<post::Answer, PostError>) -> Finding {
    let why = match said {
        Ok(answer) if answer.status == 200 => {
            return Finding::ok("receiver.reachable", format!("answers on {address}"));
        }
        Ok(answer) => format!("it answers {} to `/healthz`", answer.status),
        Err(error) => error.to_string(),
    };
    Finding::error("receiver.unreachable", format!("the daemon's receiver on {address} is not reached: {why}"))
        .because("deliveries fail, and GitHub does not repeat them by itself")
        .todo("`the-loop restart`; when it stays so, look for a firewall between here and itself")
}

fn taken(url: &str) -> Finding {
    Finding::warning("receiver.taken", format!("no daemon runs here and something answers on {url}"))
        .because("the daemon cannot listen there")
        .todo("end that program, or choose another `webhooks.ghWebhook.port`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_that_does_not_answer_well_is_named() {
        let answer = |status| Ok(post::Answer { status, reason: String::new(), body: String::new() });
        let refused = || Err(PostError::Unreachable(std::io::ErrorKind::ConnectionRefused.into()));
        for (said, want) in [
            (answer(200), "receiver.reachable"),
            (answer(503), "receiver.unreachable"),
            (refused(), "receiver.unreachable"),
            (Err(PostError::NotHttp), "receiver.unreachable"),
        ] {
            assert_eq!(alive("127.0.0.1:1", said).id, want);
        }
    }
}
