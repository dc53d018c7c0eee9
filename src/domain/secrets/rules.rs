//! Secrets that are known by their shape, as data.

use std::sync::LazyLock;

use regex::{Regex, RegexSet};

use super::Hit;
use super::named::PAIR;
use super::shapes::is_placeholder;

/// A shape.
#[derive(Debug)]
pub struct Rule {
    /// Its name, in reports.
    pub name: &'static str,
    /// What it finds, for the documentation.
    pub about: &'static str,
    /// The shape; the group `secret`, where there is one, is what must not be shown.
    pattern: &'static str,
    /// Whether a value that is plainly an example passes.
    spares_examples: bool,
}

const fn token(name: &'static str, about: &'static str, pattern: &'static str) -> Rule {
    Rule { name, about, pattern, spares_examples: true }
}

/// Every shape. Lengths and alphabets are the issuers' own; open ends are taken whole, so that no tail is left.
pub const RULES: &[Rule] = &[
    token("github-token", "GitHub tokens: classic, OAuth, app, refresh, stateless", r"\bgh[pousr]_[A-Za-z0-9._-]{36,}"),
    token("github-fine-grained-token", "GitHub fine-grained tokens", r"\bgithub_pat_[0-9A-Za-z_]{22,}"),
    token("gitlab-token", "GitLab tokens", r"\bgl(?:pat|oas|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct)-[0-9A-Za-z_.-]{20,}"),
    token("aws-access-key", "AWS access keys", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b"),
    token("google-api-key", "Google API keys", r"\bAIza[0-9A-Za-z_-]{35}"),
    token(
        "google-oauth-token",
        "Google OAuth tokens and secrets",
        r"\b(?:ya29\.[0-9A-Za-z_-]{20,}|GOCSPX-[0-9A-Za-z_-]{28})",
    ),
    token("slack-token", "Slack tokens", r"\bxox[abeoprs]-[0-9A-Za-z-]{20,}|\bxapp-[0-9A-Za-z-]{20,}"),
    token(
        "slack-webhook",
        "Slack webhook addresses",
        r"https://hooks\.slack\.com/(?:services|workflows)/(?P<secret>[0-9A-Za-z/]{20,})",
    ),
    token("stripe-key", "Stripe keys", r"\b(?:sk|rk)_(?:live|test)_[0-9A-Za-z]{16,}"),
    token("npm-token", "npm tokens", r"\bnpm_[0-9A-Za-z]{36,}"),
    token("pypi-token", "PyPI tokens", r"\bpypi-AgE[0-9A-Za-z_-]{50,}"),
    token("crates-token", "crates.io tokens", r"\bcio[0-9A-Za-z]{32}\b"),
    token("anthropic-key", "Anthropic keys", r"\bsk-ant-[0-9A-Za-z_-]{20,}"),
    token("openai-key", "OpenAI keys", r"\bsk-(?:proj-|svcacct-|admin-)?[0-9A-Za-z_-]{32,}"),
    token("hugging-face-token", "Hugging Face tokens", r"\bhf_[A-Za-z0-9]{30,}"),
    token("sendgrid-key", "SendGrid keys", r"\bSG\.[0-9A-Za-z_-]{16,}\.[0-9A-Za-z_-]{16,}"),
    token("digitalocean-token", "DigitalOcean tokens", r"\bdo[opr]_v1_[0-9a-f]{64}"),
    token("doppler-token", "Doppler tokens", r"\bdp\.(?:pt|st|ct|sa|scim|audit)\.[0-9A-Za-z._-]{20,}"),
    token("json-web-token", "JSON web tokens", r"\beyJ[0-9A-Za-z_-]{8,}\.eyJ[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]{8,}"),
    Rule {
        name: "private-key",
        about: "private keys in PEM, with real or written line ends",
        pattern: r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|\z)",
        spares_examples: false,
    },
    token(
        "url-password",
        "addresses with a password, or with a token for a user",
        r"\b[A-Za-z][A-Za-z0-9+.-]*://(?P<secret>[^\s/?#<>{}:\x22'@]*:[^\s/?#<>{}\x22']+)@[^\s/@]",
    ),
    token(
        "authorization",
        "values of `Authorization` headers",
        r"(?i)\bauthorization\b[\x22']?\s*[:=]\s*[\x22']?(?:bearer|basic|token|negotiate)\s+(?P<secret>[0-9A-Za-z+/=_.~-]{8,})",
    ),
    token("bearer", "bearer tokens", r"\b[Bb]earer\s+(?P<secret>[0-9A-Za-z+/=_.~-]{20,})"),
];

static COMPILED: LazyLock<Vec<(&'static Rule, Regex)>> =
    LazyLock::new(|| RULES.iter().filter_map(|rule| Some((rule, Regex::new(rule.pattern).ok()?))).collect());

/// All shapes at once: most texts hold none of them, and are read once instead of once for each.
static ANY: LazyLock<Option<RegexSet>> = LazyLock::new(|| {
    let shapes = RULES.iter().map(|rule| rule.pattern).chain([PAIR]);
    RegexSet::new(shapes).ok()
});

/// Whether a shape may be in a text; without an answer every shape is looked for.
pub fn may_hold(text: &str) -> bool {
    ANY.as_ref().is_none_or(|any| any.is_match(text))
}

/// Whether every shape can be looked for. A scan without one of them would pass what it ought to find.
pub fn all_run() -> bool {
    COMPILED.len() == RULES.len()
}

/// What the shapes find.
pub fn hits(text: &str) -> impl Iterator<Item = Hit> {
    COMPILED.iter().flat_map(move |(rule, shape)| {
        shape.captures_iter(text).filter_map(move |found| {
            let secret = found.name("secret").or_else(|| found.get(0))?;
            let is_example = rule.spares_examples && is_placeholder(secret.as_str());
            (!is_example).then(|| Hit { rule: rule.name, range: secret.range() })
        })
    })
}
