//! Rows: the pinned format, and everything a domain value can hold survives it.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use super::super::rows::{self, EffectRow, ItemRow, SessionRow};
use super::*;
use crate::domain::event::{Head, SubjectKind};
use crate::domain::ids::ConversationId;
use crate::domain::item::{Facts, Sections};
use crate::domain::portable::{Command, Control, Ended, RequestedAt, Source};
use crate::domain::session::{Breaker, EndReason, Life};

fn encode(table: TableId, row: &impl serde::Serialize) -> Result<Vec<u8>, StoreError> {
    let mut out = Vec::new();
    rows::encode_into(table, row, &mut out).map(|()| out)
}

fn life() -> Life {
    Life {
        socket: "the-loop".into(),
        server_pid: 7,
        server_started: 1_772_439_000,
        session: "loop-x".into(),
        pane: "%3".into(),
        pane_pid: 99,
    }
}

fn full_item() -> Item {
    let extra = serde_json::from_str(r#"{"x":123456789012345678901234567890.5e400,"a":{"b":[1,null]}}"#).unwrap();
    Item {
        reference: reference(15),
        version: 3,
        facts: Facts {
            repository_id: Some(u64::MAX),
            item_id: Some(9_007_199_254_740_993),
            kind: Some(SubjectKind::PullRequest),
            open: Some(false),
            updated_at: Some(NOW),
            closed_at: Some(NOW),
            head: Some(Head { branch: "loop/x".into(), sha: "ab12".into(), in_base_repository: true }),
            moved_to: None,
        },
        sections: Sections {
            control: Some(Control {
                command: Command::Other("hibernate".into()),
                source: Source::Other("api".into()),
                actor: "mona".into(),
                requested_at: RequestedAt::Unreadable(Some("\"soon\"".into())),
                note: Some("Grüße".into()),
                extra,
            }),
            ended: Some(Ended { at: NOW, reason: "closed".into() }),
            commanded_at: Some(NOW),
            has_poll: true,
            last_polled_at: Some(NOW),
        },
        session: Some(session(15)),
        baseline: Some(NOW),
        held_by_adoption: true,
    }
}

#[test]
fn items_survive_their_row_whole() {
    for item in [full_item(), Item::new(reference(1)), item(2)] {
        let bytes = encode(TableId::Items, &ItemRow::from(item.clone())).unwrap();
        let back: Item = serde_json::from_slice::<ItemRow>(&bytes).unwrap().into();
        assert_eq!(back, item);
    }
}

#[test]
fn sessions_survive_their_row_in_every_state() {
    let states = [
        SessionState::Recorded,
        SessionState::Starting,
        SessionState::Live(life()),
        SessionState::Paused(None),
        SessionState::Paused(Some(life())),
        SessionState::Closing(EndReason::Transferred),
        SessionState::Closed { at: NOW, reason: EndReason::SpawnFailed },
    ];
    for state in states {
        let full = Session {
            conversation: Some(ConversationId::parse("0b1f-7").unwrap()),
            cwd: Some(OsString::from_vec(b"/srv/\xff/x".to_vec()).into()),
            failed_spawns: 2,
            last_event_at: Some(NOW),
            breaker: Breaker { login: Some("mona".into()), times: vec![NOW], tripped: true },
            state,
            ..session(4)
        };
        let bytes = encode(TableId::Endpoints, &SessionRow::from(full.clone())).unwrap();
        assert_eq!(Session::from(serde_json::from_slice::<SessionRow>(&bytes).unwrap()), full);
    }
}

/// These texts lie in files in the field. A change here is a new schema version with a step in `migrations/store/`.
#[test]
fn the_format_is_pinned() {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    insta::assert_snapshot!(text(encode(TableId::Items, &ItemRow::from(full_item())).unwrap()));
    let live = Session { state: SessionState::Live(life()), ..session(4) };
    insta::assert_snapshot!(text(encode(TableId::Endpoints, &SessionRow::from(live)).unwrap()));
    let bodies = [
        deliver(1, 2).body,
        EffectBody::Spawn {
            endpoint: EndpointRef::PullRequest(reference(4)),
            generation: 2,
            resume: true,
            asked_by: None,
        },
        EffectBody::End {
            endpoint: EndpointRef::Item,
            life: Some(life()),
            reason: EndReason::Stopped,
            keep_pane: None,
        },
    ];
    for body in bodies {
        insta::assert_snapshot!(text(encode(TableId::Effects, &EffectRow::new(body, NOW)).unwrap()));
    }
    let store = memory();
    store.write(|tx| accept(tx, 1, 2)).unwrap();
    let mut small = String::new();
    let tables = [TableId::Identities, TableId::Deliveries, TableId::Marks, TableId::Journal];
    store
        .read(|view| {
            for table in tables {
                view.scan(table, &Span::all(), &mut |_, value| {
                    small += &format!("{} {}\n", table.name(), String::from_utf8_lossy(value));
                    Flow::Continue(())
                })?;
            }
            Ok(())
        })
        .unwrap();
    insta::assert_snapshot!(small);
}

#[test]
fn the_pages_of_the_versions_name_every_table_and_show_a_real_row() {
    let page = include_str!("../../../migrations/store/0001-first.md");
    let later = concat!(
        include_str!("../../../migrations/store/0002-asking-and-telling.md"),
        include_str!("../../../migrations/store/0003-long-effects.md"),
        include_str!("../../../migrations/store/0004-packed-effects.md"),
    );
    for table in TableId::ALL {
        let row = format!("\n| `{}` |", table.name());
        assert!(page.contains(&row) != later.contains(&row), "{}", table.name());
    }
    let (_, example) = page.split_once("```json\n").unwrap();
    let (example, _) = example.split_once("\n```").unwrap();
    let row: ItemRow = serde_json::from_str(example).unwrap();
    assert_eq!(String::from_utf8(encode(TableId::Items, &row).unwrap()).unwrap(), example);
}
