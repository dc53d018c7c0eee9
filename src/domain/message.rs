//! What is typed at an agent: the parts of a prompt, before a template makes text of them.

use serde::{Deserialize, Serialize};

use super::ids::DeliveryId;
use super::reference::WorkItemRef;

/// One message for one endpoint. Everything in it except `about` is untrusted data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Which template and which facts.
    pub kind: MessageKind,
    /// The issue or pull request it happened on.
    pub about: WorkItemRef,
    /// The delivery that brought it, shown so that a transcript can be matched.
    pub delivery: DeliveryId,
    /// Who said it; `None` is shown as unknown.
    pub author: Option<String>,
    /// Title of the issue or pull request.
    pub title: String,
    /// Where people can answer.
    pub link: Option<String>,
    /// The text whole, LF line ends, already free of a control word's own line; cut only above 256 KiB.
    pub text: String,
}

/// The kinds of message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageKind {
    /// The item itself, for a new conversation.
    FirstPrompt,
    /// A comment.
    Comment,
    /// A comment on a line.
    ReviewComment {
        /// File.
        path: String,
        /// Line.
        line: Option<u64>,
        /// Diff around it.
        hunk: String,
    },
    /// A review.
    Review {
        /// Its state.
        state: String,
    },
    /// A failed check.
    Check {
        /// Its name.
        name: String,
        /// How it ended.
        conclusion: String,
    },
}
