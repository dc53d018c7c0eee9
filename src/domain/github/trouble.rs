//! Why a question has no usable answer: one error for people and for whoever decides what follows from it.

use std::fmt;

use super::{Answer, Unsent};
use crate::domain::reference::DEFAULT_HOST;
use crate::domain::time::Time;

/// Longest words of a host that are shown, characters.
const SAID: usize = 200;

/// Why a question has no usable answer. Says host, status and request id; never a token or a page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// Asked too often, or closed for a while that it names: nothing is to be asked before `until`.
    #[error("`{host}` {}{seen}", if seen.status == 503 { "asks to be left alone for a while" } else { "limits how often it is asked" })]
    Limited {
        /// Who.
        host: String,
        /// How long.
        until: Until,
        /// What came.
        seen: Seen,
    },
    /// The token does not allow it. Waiting changes nothing.
    #[error("`{host}` {why}{seen}")]
    Refused {
        /// Who.
        host: String,
        /// What exactly.
        why: Refusal,
        /// What came.
        seen: Seen,
    },
    /// What was asked for is not there, or not any more.
    #[error("`{host}` knows no such thing, or not any more{seen}")]
    Gone {
        /// Who.
        host: String,
        /// What came.
        seen: Seen,
    },
    /// The host is out of order, or something between here and it answers in its place.
    #[error("`{host}` is out of order{seen}")]
    Outage {
        /// Who.
        host: String,
        /// What came.
        seen: Seen,
    },
    /// An answer nobody here expects.
    #[error("`{host}` answers what is not expected: {what}{seen}")]
    Odd {
        /// Who.
        host: String,
        /// What is odd about it.
        what: String,
        /// What came.
        seen: Seen,
    },
    /// There was no answer.
    #[error(transparent)]
    Unsent(#[from] Unsent),
}

/// What a token does not allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The token itself is not taken: wrong, revoked or expired.
    Token,
    /// This is not allowed with it; the host's own words.
    Permission(String),
    /// A repository that does not exist or that the token may not see: GitHub does not tell which.
    Invisible,
}

/// How long a limit lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// So many seconds from the answer on.
    In(u64),
    /// Until this time of the host's clock; the answer did not say what that clock shows.
    At(Time),
    /// The host does not say.
    Unsaid,
}

/// What came, for people and for GitHub's support.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// HTTP status.
    pub status: u16,
    /// GitHub's id of the request.
    pub request_id: Option<String>,
}

impl Seen {
    /// Of an answer; an id that is none is left out.
    pub fn of(answer: &Answer) -> Self {
        let is_id = |id: &String| {
            (1..=100).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b":.-_".contains(&b))
        };
        Self { status: answer.status, request_id: answer.request_id.clone().filter(is_id) }
    }
}

impl Until {
    /// When that is, by a clock that shows `now` as the answer comes; `None` when the host does not say.
    pub fn at(self, now: Time) -> Option<Time> {
        match self {
            Self::In(seconds) => Some(now.plus_seconds(i64::try_from(seconds).unwrap_or(i64::MAX))),
            Self::At(at) => Some(at),
            Self::Unsaid => None,
        }
    }
}

impl Trouble {
    /// The same about a whole repository: that one is not gone, it is out of the token's sight.
    #[must_use]
    pub fn of_repository(self) -> Self {
        match self {
            Self::Gone { host, seen } => Self::Refused { host, why: Refusal::Invisible, seen },
            other => other,
        }
    }

    /// What to do about it; nothing when waiting is all there is.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Refused { host, why, .. } => Some(why.hint(host)),
            Self::Unsent(Unsent::NoToken { unusable: Some(name), .. }) => Some(format!(
                "correct `{name}`: a token is one word, without spaces, quotation marks or line ends in it"
            )),
            Self::Unsent(Unsent::NoToken { host, unusable: None }) => Some(match host.as_str() {
                DEFAULT_HOST => "set a variable of `github.tokenEnv`, or log in with `gh auth login`".into(),
                host => format!(
                    "set a variable of `github.hosts.{host}.tokenEnv`, or log in with `gh auth login --hostname {host}`"
                ),
            }),
            Self::Unsent(Unsent::UnknownHost { host }) => {
                Some(format!("add `{host}` to `github.hosts`, with the variable that holds its token"))
            }
            Self::Unsent(Unsent::Elsewhere { .. }) => {
                Some("correct `apiUrl` of that host: it is not the address the API calls itself by".into())
            }
            Self::Unsent(Unsent::Unreachable { .. }) => {
                Some("see whether the host is reached from here; a proxy is taken from `HTTPS_PROXY`".into())
            }
            Self::Limited { .. }
            | Self::Gone { .. }
            | Self::Outage { .. }
            | Self::Odd { .. }
            | Self::Unsent(Unsent::TooLarge { .. }) => None,
        }
    }
}

impl Refusal {
    fn hint(&self, host: &str) -> String {
        match self {
            Self::Token => format!("give a valid token for `{host}`; it may have expired or been revoked"),
            Self::Permission(_) => "see docs/github.md for what the token must be allowed".into(),
            Self::Invisible => {
                "check the repository's name, and that the token may read it (an organisation may have to approve it)"
                    .into()
            }
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Token => f.write_str("refuses the token"),
            Self::Permission(said) if said.is_empty() => f.write_str("does not allow it"),
            Self::Permission(said) => write!(f, "does not allow it: {said}"),
            Self::Invisible => f.write_str("shows no such repository to this token"),
        }
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.request_id {
            Some(id) => write!(f, " (status {}, request `{id}`)", self.status),
            None => write!(f, " (status {})", self.status),
        }
    }
}

/// A host's own words on one line, cut where they get long.
pub(super) fn said(message: &str) -> String {
    let line = message.chars().map(|c| if c.is_control() { ' ' } else { c });
    line.take(SAID).collect::<String>().trim().to_owned()
}
