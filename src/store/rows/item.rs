//! Items as stored: facts, portable sections and the item's own session in one row.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::session::SessionRow;
use crate::domain::event::{Head, SubjectKind};
use crate::domain::item::{Facts, Item, Sections};
use crate::domain::portable::{Command, Control, Ended, RequestedAt, Source};
use crate::domain::reference::WorkItemRef;
use crate::domain::time::Time;

/// One item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::store) struct ItemRow {
    reference: WorkItemRef,
    version: u64,
    #[serde(default)]
    facts: FactsRow,
    #[serde(default)]
    sections: SectionsRow,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<SessionRow>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    baseline: Option<Time>,
    #[serde(default, skip_serializing_if = "is_false")]
    held: bool,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct FactsRow {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    repository_id: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    item_id: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<KindRow>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    open: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    updated_at: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    closed_at: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    head: Option<HeadOfRow>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    moved_to: Option<WorkItemRef>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KindRow {
    Issue,
    PullRequest,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct HeadOfRow {
    branch: String,
    sha: String,
    own: bool,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct SectionsRow {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    control: Option<ControlRow>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ended: Option<EndedRow>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    commanded_at: Option<Time>,
    #[serde(default, skip_serializing_if = "is_false")]
    has_poll: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_polled_at: Option<Time>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct ControlRow {
    command: String,
    source: String,
    actor: String,
    requested_at: RequestedRow,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    extra: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RequestedRow {
    At(Time),
    Unreadable(Option<String>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct EndedRow {
    at: Time,
    reason: String,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl From<Item> for ItemRow {
    fn from(item: Item) -> Self {
        Self {
            reference: item.reference,
            version: item.version,
            facts: item.facts.into(),
            sections: item.sections.into(),
            session: item.session.map(SessionRow::from),
            baseline: item.baseline,
            held: item.held_by_adoption,
        }
    }
}

impl From<ItemRow> for Item {
    fn from(row: ItemRow) -> Self {
        Self {
            reference: row.reference,
            version: row.version,
            facts: row.facts.into(),
            sections: row.sections.into(),
            session: row.session.map(Into::into),
            baseline: row.baseline,
            held_by_adoption: row.held,
        }
    }
}

impl From<Facts> for FactsRow {
    fn from(facts: Facts) -> Self {
        Self {
            repository_id: facts.repository_id,
            item_id: facts.item_id,
            kind: facts.kind.map(|kind| match kind {
                SubjectKind::Issue => KindRow::Issue,
                SubjectKind::PullRequest => KindRow::PullRequest,
            }),
            open: facts.open,
            updated_at: facts.updated_at,
            closed_at: facts.closed_at,
            head: facts.head.map(|head| HeadOfRow { branch: head.branch, sha: head.sha, own: head.in_base_repository }),
            moved_to: facts.moved_to,
        }
    }
}

impl From<FactsRow> for Facts {
    fn from(row: FactsRow) -> Self {
        Self {
            repository_id: row.repository_id,
            item_id: row.item_id,
            kind: row.kind.map(|kind| match kind {
                KindRow::Issue => SubjectKind::Issue,
                KindRow::PullRequest => SubjectKind::PullRequest,
            }),
            open: row.open,
            updated_at: row.updated_at,
            closed_at: row.closed_at,
            head: row.head.map(|head| Head { branch: head.branch, sha: head.sha, in_base_repository: head.own }),
            moved_to: row.moved_to,
        }
    }
}

impl From<Sections> for SectionsRow {
    fn from(sections: Sections) -> Self {
        Self {
            control: sections.control.map(Into::into),
            ended: sections.ended.map(|ended| EndedRow { at: ended.at, reason: ended.reason }),
            commanded_at: sections.commanded_at,
            has_poll: sections.has_poll,
            last_polled_at: sections.last_polled_at,
        }
    }
}

impl From<SectionsRow> for Sections {
    fn from(row: SectionsRow) -> Self {
        Self {
            control: row.control.map(Into::into),
            ended: row.ended.map(|ended| Ended { at: ended.at, reason: ended.reason }),
            commanded_at: row.commanded_at,
            has_poll: row.has_poll,
            last_polled_at: row.last_polled_at,
        }
    }
}

impl From<Control> for ControlRow {
    fn from(control: Control) -> Self {
        Self {
            command: control.command.as_str().to_owned(),
            source: match control.source {
                Source::Comment => "comment".to_owned(),
                Source::Cli => "cli".to_owned(),
                Source::Other(word) => word,
            },
            actor: control.actor,
            requested_at: match control.requested_at {
                RequestedAt::At(at) => RequestedRow::At(at),
                RequestedAt::Unreadable(text) => RequestedRow::Unreadable(text),
            },
            note: control.note,
            extra: control.extra,
        }
    }
}

impl From<ControlRow> for Control {
    fn from(row: ControlRow) -> Self {
        Self {
            command: match row.command.as_str() {
                "start" => Command::Start,
                "stop" => Command::Stop,
                "pause" => Command::Pause,
                "resume" => Command::Resume,
                _ => Command::Other(row.command),
            },
            source: match row.source.as_str() {
                "comment" => Source::Comment,
                "cli" => Source::Cli,
                _ => Source::Other(row.source),
            },
            actor: row.actor,
            requested_at: match row.requested_at {
                RequestedRow::At(at) => RequestedAt::At(at),
                RequestedRow::Unreadable(text) => RequestedAt::Unreadable(text),
            },
            note: row.note,
            extra: row.extra,
        }
    }
}
