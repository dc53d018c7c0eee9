//! Whether a webhook's secret is one that nobody guesses.

use super::Finding;

/// A secret shorter than this is guessed soon, bytes.
const SHORT: usize = 16;
/// Words that stand in examples, this project's included, and are tried first.
const WELL_KNOWN: &[&str] = &[
    "secret",
    "password",
    "passwd",
    "changeme",
    "change-me",
    "changeit",
    "webhook",
    "webhooksecret",
    "webhook-secret",
    "webhook_secret",
    "mysecret",
    "my-secret",
    "my_secret",
    "topsecret",
    "yoursecret",
    "your-secret",
    "your_secret",
    "your-webhook-secret",
    "your_webhook_secret",
    "supersecret",
    "super-secret",
    "letmein",
    "qwerty",
    "admin",
    "test",
    "testsecret",
    "github",
    "github-webhook-secret",
    "theloop",
    "the-loop",
    "example",
    "a secret",
    "123456",
    "12345678",
    "0123456789",
    "0123456789abcdef",
    "it's a secret to everybody",
    "the_loop_gh_webhook_secret",
];

/// What is wrong with the secret; `None` when nothing is. The finding never holds any of it.
pub fn weakness(secret: &[u8]) -> Option<Finding> {
    let random = "use a random one of 32 characters, here and in the webhook's settings";
    let text = String::from_utf8_lossy(secret).trim().to_lowercase();
    if WELL_KNOWN.contains(&text.as_str()) {
        return Some(
            Finding::error("receiver.known-secret", "the secret is a word that stands in examples")
                .because("whoever tries the usual words can speak as anybody")
                .todo(random),
        );
    }
    if is_repeated(&text) {
        return Some(
            Finding::error("receiver.trivial-secret", "the secret is one thing over and over")
                .because("it is guessed soon, and then anybody can speak as anybody")
                .todo(random),
        );
    }
    (secret.len() < SHORT).then(|| {
        Finding::warning("receiver.short-secret", format!("the secret has only {} bytes", secret.len()))
            .because("a short secret can be guessed")
            .todo(random)
    })
}

/// Whether the text is a short piece repeated: one character, or a few.
fn is_repeated(text: &str) -> bool {
    let chars: Vec<char> = text.chars().collect();
    (1..=4).filter(|length| chars.len() >= length * 3).any(|length| {
        let (piece, whole) = (&chars[..length], chars.chunks(length));
        whole.into_iter().all(|part| piece.starts_with(part))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k27_a_secret_that_is_guessed_is_none() {
        let id = |secret: &str| weakness(secret.as_bytes()).map(|finding| finding.id);
        for (secret, want) in [
            ("secret", Some("receiver.known-secret")),
            ("ChangeMe", Some("receiver.known-secret")),
            (" password\n", Some("receiver.known-secret")),
            // The one of GitHub's own documentation.
            ("It's a Secret to Everybody", Some("receiver.known-secret")),
            ("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", Some("receiver.trivial-secret")),
            ("abababababababababababababab", Some("receiver.trivial-secret")),
            ("1234123412341234123", Some("receiver.trivial-secret")),
            ("hunter2!", Some("receiver.short-secret")),
            ("fifteen bytes !", Some("receiver.short-secret")),
            ("sixteen bytes !!", None),
            ("7c0f9e1d5b3a48869f2e4d6c8b0a1f3e", None),
        ] {
            assert_eq!(id(secret), want, "{secret:?}");
            let said = weakness(secret.as_bytes()).map(|finding| format!("{finding:?}")).unwrap_or_default();
            assert!(secret.len() < 7 || !said.contains(secret), "the secret is not told");
        }
    }
}
