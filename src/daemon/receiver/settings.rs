//! What the receiver is told by the configuration, and its limits.

use std::time::Duration;

/// Mebibyte.
const MIB: usize = 1024 * 1024;

/// How one receiver behaves.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where deliveries are posted.
    pub path: HookPath,
    /// Only answer requests whose `Host` is this machine's loopback name or address. For a receiver without a secret:
    /// it keeps a page in the operator's browser from posting under a name it controls (DNS rebinding).
    pub loopback_host_only: bool,
    /// Bounds and deadlines.
    pub limits: Limits,
}

/// Bounds and deadlines of a receiver. Whoever has begun a request and runs into one gets an answer, not a silent close.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Connections served at once; more wait in the kernel's queue.
    pub connections: usize,
    /// Largest request head, bytes; above it 431.
    pub head_bytes: usize,
    /// Largest JSON body, bytes: GitHub sends none above 25 MiB. Above it 413.
    pub json_bytes: usize,
    /// Largest form body, bytes: percent-encoding makes up to three bytes of one.
    pub form_bytes: usize,
    /// Bytes of all bodies that are read or undecided at once; above it 503 with `Retry-After`.
    pub budget_bytes: usize,
    /// From the first byte of a request to the end of its head; after it 408. A new connection has this long to begin.
    pub head: Duration,
    /// From the end of the head to the end of the body; after it 408.
    pub body: Duration,
    /// How long a kept connection may be silent between requests.
    pub idle: Duration,
    /// How long the door may take; after it 503. GitHub gives up at 10 s. The event may still be stored then, and its
    /// redelivery is a duplicate.
    pub answer: Duration,
    /// After an answer that ends the connection: how long unread input is still taken and thrown away, so that the
    /// client sees the answer and not a reset.
    pub linger: Duration,
    /// At shutdown: how long requests in hand may take.
    pub shutdown: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 512,
            head_bytes: 64 * 1024,
            json_bytes: 25 * MIB,
            form_bytes: 3 * 25 * MIB,
            budget_bytes: 128 * MIB,
            head: Duration::from_secs(10),
            body: Duration::from_secs(30),
            idle: Duration::from_secs(90),
            answer: Duration::from_secs(8),
            linger: Duration::from_secs(5),
            shutdown: Duration::from_secs(10),
        }
    }
}

/// Why a configured path cannot be the hook's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` cannot be the webhook's path: {rule}")]
pub struct PathError {
    path: String,
    rule: &'static str,
}

/// The path deliveries are posted to, without its trailing slash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookPath(String);

impl HookPath {
    /// Parses `webhooks.ghWebhook.path`.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        let refuse = |rule| Err(PathError { path: text.to_owned(), rule });
        if !text.starts_with('/') {
            return refuse("it must begin with `/`");
        }
        if !text.bytes().all(|b| b.is_ascii_graphic() && !matches!(b, b'?' | b'#')) {
            return refuse("it must be visible ASCII without `?` and `#`");
        }
        let path = text.trim_end_matches('/');
        if matches!(path, "/healthz" | "/readyz") {
            return refuse("that path answers probes");
        }
        Ok(Self(path.to_owned()))
    }

    /// Whether a request for `path` (without query) is for the hook; a trailing slash makes no difference.
    pub fn matches(&self, path: &str) -> bool {
        path == self.0 || path.strip_suffix('/').is_some_and(|p| p == self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_the_same_with_and_without_its_slash() {
        for spelled in ["/gh-webhook", "/gh-webhook/", "/gh-webhook//"] {
            let path = HookPath::parse(spelled).unwrap();
            assert!(path.matches("/gh-webhook") && path.matches("/gh-webhook/"), "{spelled}");
            for other in ["/", "", "/gh-webhook/x", "/gh-webhookx", "/GH-WEBHOOK", "/gh-webhook//", "x/gh-webhook"] {
                assert!(!path.matches(other), "{other}");
            }
        }
        let root = HookPath::parse("/").unwrap();
        assert!(root.matches("/") && !root.matches("/x"));
    }

    #[test]
    fn a_path_that_cannot_be_asked_for_is_refused() {
        for bad in ["", "gh-webhook", "/a?b", "/a#b", "/a b", "/ä", "/healthz", "/readyz/"] {
            assert!(HookPath::parse(bad).is_err(), "{bad}");
        }
    }
}
