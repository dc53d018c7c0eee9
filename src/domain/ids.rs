//! Small parsed-once names: logins, delivery ids, conversation ids, batches.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a text cannot be the name it was offered as.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} must be {rule}")]
pub struct IdError {
    what: &'static str,
    rule: &'static str,
}

/// A GitHub login in GitHub's spelling; compared without ASCII case.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Login(String);

impl Login {
    /// A login that can belong to somebody: not empty and not `ghost`, the placeholder for deleted accounts.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty() && !text.eq_ignore_ascii_case("ghost")).then(|| Self(text.to_owned()))
    }

    /// The login as GitHub spells it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is an app's account (`name[bot]`).
    pub fn is_bot(&self) -> bool {
        self.0.to_ascii_lowercase().ends_with("[bot]")
    }
}

impl PartialEq for Login {
    fn eq(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }
}

impl Eq for Login {}

impl fmt::Display for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The id of one delivery attempt: `X-GitHub-Delivery`, 1 to 128 of `[A-Za-z0-9-]`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DeliveryId(String);

impl DeliveryId {
    /// Parses the header's value.
    pub fn parse(text: &str) -> Result<Self, IdError> {
        let ok = (1..=128).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        ok.then(|| Self(text.to_owned()))
            .ok_or(IdError { what: "a delivery id", rule: "1 to 128 letters, digits and `-`" })
    }

    /// A name for what a poll found in the repository with this id: GitHub gave it none. Other characters than its own
    /// are left out of `what`.
    pub fn of_poll(repository: u64, what: &str) -> Self {
        let own = what.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(100);
        Self(format!("poll-{repository}-{}", own.collect::<String>()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DeliveryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A harness's own name for a conversation: `[A-Za-z0-9][A-Za-z0-9._-]{0,127}`, safe as an argument.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConversationId(String);

impl ConversationId {
    /// Parses an id that a harness reported or an operator typed.
    pub fn parse(text: &str) -> Result<Self, IdError> {
        let ok = text.len() <= 128
            && text.starts_with(|c: char| c.is_ascii_alphanumeric())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
        ok.then(|| Self(text.to_owned())).ok_or(IdError {
            what: "a conversation id",
            rule: "1 to 128 letters, digits, `.`, `_` and `-`, beginning with a letter or digit",
        })
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ConversationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of one piece of work, of a delivery into a terminal above all; stands in tmux commands, so its alphabet is `[a-z0-9]`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BatchId(String);

impl BatchId {
    /// Keeps the lower-case letters and digits of `text`, at most 64; an id source gives it hex.
    pub fn from_hex(text: &str) -> Self {
        Self(text.chars().filter(|c| c.is_ascii_lowercase() || c.is_ascii_digit()).take(64).collect())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of the conversation that this piece of work begins, in the form of a UUID: a spawn that is done again
    /// after a crash names the same one.
    pub fn conversation(&self) -> ConversationId {
        let hex = format!("{:0<32}", self.0);
        let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
        ConversationId(format!("{}-{}-{}-{}-{}", part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)))
    }
}

/// The id of a store, made when the file is made; part of every mark we leave in tmux.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StoreId(pub String);

/// The run of a daemon (or of a command that performs effects) that claimed something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InstanceId(pub String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r10_delivery_ids_have_one_stated_rule() {
        assert!(DeliveryId::parse("11111111-2222-3333-4444-555555555555").is_ok());
        for bad in ["", "../x", &"a".repeat(129), "a b", "a\n"] {
            assert!(DeliveryId::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn logins_ignore_case_and_ghost_is_nobody() {
        assert_eq!(Login::parse("Mona"), Login::parse("mona"));
        assert_eq!(Login::parse("ghost"), None);
        assert_eq!(Login::parse(" "), None);
        assert!(Login::parse("dependabot[bot]").is_some_and(|l| l.is_bot()));
    }

    #[test]
    fn a_piece_of_work_names_one_conversation() {
        let batch = BatchId::from_hex("0b1f7a22-3c4d-4e5f-8a9b-0c1d2e3f4a5b");
        assert_eq!(batch.conversation().as_str(), "0b1f7a22-3c4d-4e5f-8a9b-0c1d2e3f4a5b");
        assert!(ConversationId::parse(BatchId::from_hex("7").conversation().as_str()).is_ok());
    }

    #[test]
    fn conversation_ids_cannot_be_options() {
        assert!(ConversationId::parse("0b1f-7.x_Y").is_ok());
        for bad in ["", "-x", "a b", "a;b", &"a".repeat(129)] {
            assert!(ConversationId::parse(bad).is_err(), "{bad}");
        }
    }
}
