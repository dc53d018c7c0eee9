//! The one door: every command is a [`Request`] and is answered with a [`Response`] or a [`Trouble`].
//!
//! `App::respond` answers it in the process that owns the store: in the command itself while nobody owns it, else in the
//! daemon, which is asked over its control socket. A look needs no owner and is also answered beside one.

use serde::{Deserialize, Serialize};

use crate::domain::decide::Act;
use crate::domain::entry::EntryId;
use crate::domain::portable::Command;
use crate::domain::reference::WorkItemRef;

mod answers;
mod dispatch;
mod polled;
mod trouble;

pub use answers::{Commanded, Commented, Exported, HeldFile, ResetItem, SessionDetail, SessionRow, Status};
pub use dispatch::{DispatchDetail, DispatchEntry, Dispatched};
pub use polled::{PollState, PolledRow};
pub use trouble::{Trouble, TroubleKind};

/// Whatever may be asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Request {
    /// A question.
    Look(Look),
    /// Something to do.
    Order(Order),
}

/// Questions; answered from one read transaction that ends before anything is printed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Look {
    /// Numbers about lanes, letters and marks.
    Status,
    /// All sessions.
    Sessions,
    /// One session with everything known.
    Session(WorkItemRef),
    /// What a reset would forget.
    Reset(ResetScope),
    /// What waits, runs or was given up.
    Dispatch,
    /// One of it with everything known.
    Effect(EntryId),
}

/// What is to be reset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ResetScope {
    /// These items, named explicitly.
    Items(Vec<WorkItemRef>),
    /// Every item with something to reset.
    All,
}

/// Orders; answered after their commit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Order {
    /// A control word of the operator.
    Command {
        /// The item, named explicitly.
        item: WorkItemRef,
        /// The word.
        word: Command,
        /// The operator's user name.
        actor: String,
    },
    /// What an operator does to a record by hand, a reset aside.
    ByHand {
        /// The item, named explicitly.
        item: WorkItemRef,
        /// What to do.
        act: Act,
    },
    /// A comment of an agent's on its ticket.
    Comment {
        /// The ticket, named explicitly.
        item: WorkItemRef,
        /// The text, unchecked.
        body: String,
    },
    /// Sessions, commands and what polling knew of items forgotten, and the ending dated.
    Reset(ResetScope),
    /// An effect, or an event that a bug kept from being decided, tried again.
    Retry(EntryId),
    /// The same forgotten.
    Drop(EntryId),
    /// Portable files up to date.
    Export,
    /// The portable files of these items up to date, and what a crash left of them joined in.
    ExportItems(Vec<WorkItemRef>),
    /// Portable files of items that ended so many days ago, and are not armed, taken out of the folder.
    PruneFiles(u32),
    /// Records of these items follow what tmux says: a session whose pane is surely gone has none any more.
    MarkGone(Vec<WorkItemRef>),
    /// Polls every source once.
    Poll,
}

/// Answers, as `--json` prints them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Response {
    /// To [`Look::Status`].
    Status(Status),
    /// To [`Look::Sessions`].
    Sessions(Vec<SessionRow>),
    /// To [`Look::Session`]; `None` when the item has no record here.
    Session(Option<Box<SessionDetail>>),
    /// To [`Order::Command`] and [`Order::ByHand`].
    Commanded(Commanded),
    /// To [`Order::Comment`].
    Commented(Commented),
    /// To [`Look::Reset`] and [`Order::Reset`].
    Reset(Vec<ResetItem>),
    /// To [`Look::Dispatch`].
    Dispatch(Vec<DispatchEntry>),
    /// To [`Look::Effect`]; `None` when there is none of this name.
    Effect(Option<Box<DispatchDetail>>),
    /// To [`Order::Retry`] and [`Order::Drop`].
    Dispatched(Dispatched),
    /// To [`Order::Export`], [`Order::ExportItems`] and [`Order::PruneFiles`].
    Exported(Exported),
    /// To [`Order::MarkGone`]: the sessions whose pane is gone.
    MarkedGone(Vec<String>),
    /// To [`Order::Poll`].
    Polled(Vec<PolledRow>),
}
