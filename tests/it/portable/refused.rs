//! Files that are no records: nothing follows from them, nothing happens to them, people hear of them once.

use std::fs;

use the_loop::domain::log::EventName;
use the_loop::domain::portable::{Command, render};

use super::{Place, commanded, control, reference};

const CONFLICT: &str = "{\n  \"ref\": \"github:octo/repo#15\",\n<<<<<<< HEAD\n  \"control\": null\n=======\n  \"control\": {}\n>>>>>>> other\n}\n";
const TWICE: &str = "{\"ref\":\"github:octo/repo#15\",\"control\":null,\"control\":{\"command\":\"start\",\"source\":\"comment\",\"actor\":\"mona\",\"requestedAt\":\"2029-01-01T00:00:00Z\"}}";

/// Holds an item's export by `bytes` in its file, and repairs it.
fn is_refused(bytes: &[u8], words: &str) {
    let place = Place::new();
    let (item, other) = (reference(15), reference(16));
    place.put(&item, bytes);
    assert!(place.adopt(&item).changed.is_empty());
    assert!(place.item(&item).is_none(), "nothing recorded");
    for number in [&item, &other] {
        place.change(number, |row| row.sections.control = Some(control(Command::Stop, "mona", 10)));
    }
    assert_eq!(place.export(), ["github-octo-repo-16.json"], "others are exported");
    for _ in 0..2 {
        assert!(place.export().is_empty() && place.is_marked(&item));
        assert!(place.adopt(&item).changed.is_empty());
        let held = place.app.export_all().unwrap().exported.held;
        assert!(held[0].reason.starts_with("github-octo-repo-15.json: ") && held[0].reason.contains(words), "{held:?}");
        assert_eq!(place.app.export_check().unwrap().held, held);
    }
    assert_eq!(fs::read(place.path(&item)).unwrap(), bytes, "kept as it is");
    let said = place.journal(EventName::ExportHeld);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].fields["reason"].as_str().unwrap().contains(words), "{said:?}");
    place.put(&item, render(&commanded(&item, Command::Start, "mona", 5)));
    assert_eq!(place.export(), ["github-octo-repo-15.json"]);
    assert!(!place.is_marked(&item) && !place.record(&item).is_armed());
    place.put(&item, bytes);
    place.adopt(&item);
    assert_eq!(place.journal(EventName::ExportHeld).len(), 2, "the trouble is back");
}

#[test]
fn f04_conflict_markers_are_refused_with_their_line() {
    is_refused(CONFLICT.as_bytes(), "line 3: unresolved merge conflict");
}

#[test]
fn j01_k56_a_key_that_stands_twice_is_refused() {
    is_refused(TWICE.as_bytes(), "duplicate key");
}

#[test]
fn f10_k53_files_without_content_are_refused() {
    is_refused(b"", "empty");
    is_refused(&[0; 1879], "NUL");
}

#[test]
fn k53_what_cannot_be_read_is_never_overwritten() {
    for (bytes, words) in [
        (&b"{\"ref\":\"github:octo/repo#15\""[..], ""),
        (b"[]", "not a JSON object"),
        (b"\xff\xfe", "UTF-8"),
        (b"{\"control\":null}", "ref"),
        (b"{\"ref\":\"github:octo/repo#15\",\"control\":7}", "control"),
        (b"{\"ref\":\"github:else/where#15\",\"control\":null}", "else/where"),
    ] {
        is_refused(bytes, words);
    }
}

#[test]
fn f10_a_file_that_is_being_written_is_read_again_later() {
    let place = Place::new();
    place.live_now();
    let item = reference(15);
    for half in [&b""[..], b"{\"ref\":\"github", CONFLICT.as_bytes()] {
        place.put(&item, half);
        assert!(place.adopt(&item).changed.is_empty());
        place.change(&item, |row| row.sections.has_poll = true);
        assert!(place.export().is_empty() && place.is_marked(&item));
        assert_eq!(fs::read(place.path(&item)).unwrap(), half);
    }
    assert!(place.journal(EventName::ExportHeld).is_empty(), "it passes by itself");
    place.put_record(&commanded(&item, Command::Start, "mona", 10));
    assert_eq!(place.adopt(&item).changed, [item.key()]);
}
