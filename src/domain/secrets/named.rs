//! Values whose name says that they are secret: `API_KEY=…`, `"password": "…"`, `token: …`.

use std::sync::LazyLock;

use regex::Regex;

use super::Hit;
use super::shapes::{entropy, is_hash, is_placeholder};

/// Shortest value of a token-like name that counts.
const TOKEN_LEN: usize = 16;
/// Shortest value of a password-like name that counts.
const PASSWORD_LEN: usize = 8;
/// Least information of a value, bits per character: words and identifiers of programs have less.
const LEAST_ENTROPY: f64 = 3.0;

/// A name, then `=` or `:`, then a value up to a quote or white space.
pub const PAIR: &str = r#"(?i)(?P<name>[A-Za-z0-9_.-]*(?P<kind>passwd|password|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|auth[_-]?key|private[_-]?key|client[_-]?key|credentials?)[A-Za-z0-9_-]*)["'`]?\s*(?:=>|:=|[:=])\s*(?P<open>["'`]?)(?P<secret>[^\s"'`,;&<>(){}\[\]\\|]{8,})(?P<end>.?)"#;

static SHAPE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(PAIR).ok());

/// Whether names can be looked for.
pub fn runs() -> bool {
    SHAPE.is_some()
}

/// What is found by its name.
pub fn hits(text: &str) -> Vec<Hit> {
    let Some(shape) = SHAPE.as_ref() else { return Vec::new() };
    let found = shape.captures_iter(text).filter_map(|found| {
        let (name, kind, secret) = (found.name("name")?, found.name("kind")?, found.name("secret")?);
        let is_called = found.name("end").is_some_and(|end| matches!(end.as_str(), "(" | "<" | "[" | "{"));
        // `DB_PASSWORD=…`: an assignment of a shell or an environment file, whose right side is never code.
        let assigned = is_variable(name.as_str()) && text[name.end()..secret.start()] == *"=";
        let quoted = assigned || found.name("open").is_some_and(|open| !open.as_str().is_empty());
        let value = secret.as_str().trim_end_matches(['.', ':', '!', '?']);
        let range = secret.start()..secret.start() + value.len();
        (!is_called && is_secret(kind.as_str(), value, quoted)).then_some(Hit { rule: "named-secret", range })
    });
    found.collect()
}

/// Whether the value of such a name is a secret. For JSON, whose keys are names too.
pub fn is_secret(kind: &str, value: &str, quoted: bool) -> bool {
    let is_password = ["pass", "pwd"].iter().any(|word| kind.to_ascii_lowercase().starts_with(word));
    let least = if is_password { PASSWORD_LEN } else { TOKEN_LEN };
    let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
    let mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    value.len() >= least
        && mixed
        && !is_placeholder(value)
        && !is_hash(value)
        && !is_path_or_address(value)
        && (quoted || !is_expression(value))
        && entropy(value) >= if is_password { 2.5 } else { LEAST_ENTROPY }
}

/// The kind of secret that a JSON key names.
pub fn kind_of(key: &str) -> Option<&'static str> {
    let low = key.to_ascii_lowercase().replace(['-', '_'], "");
    let kinds = [
        "passwd",
        "password",
        "passphrase",
        "pwd",
        "secret",
        "token",
        "apikey",
        "accesskey",
        "authkey",
        "privatekey",
        "clientkey",
        "credential",
    ];
    kinds.into_iter().find(|kind| low.contains(kind))
}

/// The name of a variable of the environment.
fn is_variable(name: &str) -> bool {
    name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}

/// Files and addresses are named `tokenFile` and `secretUrl` and are no secrets themselves.
fn is_path_or_address(value: &str) -> bool {
    value.starts_with(['/', '.', '~']) || value.contains("://") || value.contains("::")
}

/// Code, not a value: `self.token1`, `config.secret_v2`, `token_2_name`.
fn is_expression(value: &str) -> bool {
    let is_word = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && part.bytes().filter(u8::is_ascii_digit).count() <= 1
    };
    value.split(['.', '-']).all(is_word)
}
