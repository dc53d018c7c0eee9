//! One entry of a record that nobody can read: it degrades alone, and it is kept.

use the_loop::app::App;
use the_loop::domain::event::{Content, ItemFact, SubjectKind};
use the_loop::domain::log::EventName;
use the_loop::domain::reference::WorkItemRef;
use the_loop::store::View as _;
use the_loop::store::testing::{UNREADABLE, endpoint_row, spoil_endpoint};

use crate::github::{GitHub, marker};
use crate::second::daemon;
use crate::terminal::{Temper, Terminal};

struct Place {
    app: App,
    terminal: Terminal,
    github: GitHub,
}

impl Place {
    fn reference(&mut self, number: u64) -> WorkItemRef {
        let at = self.github.later();
        self.github.subject(number, SubjectKind::Issue, at).reference
    }

    /// Says this and has everything done; the numbers of the panes that heard it.
    fn said(&mut self, number: u64, text: &str, linked: bool) -> Vec<u64> {
        let at = self.github.later();
        let kind = if number > 100 { SubjectKind::PullRequest } else { SubjectKind::Issue };
        let mut arrival = self.github.comment(number, kind, at, text, "mona");
        if let (Content::Speech(speech), false) = (&mut arrival.event.content, linked)
            && let Some(subject) = &mut speech.subject
        {
            (subject.body, subject.head) = (String::new(), None);
        }
        self.app.ingest(&arrival).unwrap();
        for lane in [1, 2].map(|number| self.reference(number).key()) {
            self.app.advance(&lane, true, 100).unwrap();
        }
        let mark = marker(&arrival.event.delivery);
        let panes = self.terminal.0.lock().unwrap().panes.clone();
        let heard = panes.values().filter(|pane| pane.submitted.iter().any(|text| text.contains(&mark)));
        heard.map(|pane| pane.request.reference.number()).collect()
    }
}

#[test]
fn k47_an_entry_that_cannot_be_read_is_kept_named_and_troubles_nobody_else() {
    let (dir, terminal) = (tempfile::tempdir().unwrap(), Terminal::new(0, Temper::default()));
    let app = daemon(&dir.path().join("state.redb"), &terminal, 1).unwrap();
    let mut place = Place { app, terminal, github: GitHub::new(2, 2, false, 0) };
    for number in [1, 2] {
        assert_eq!(place.said(number, "the-loop start\nplease", true), [number]);
    }
    for pull in [101, 201] {
        let at = place.github.later();
        let subject = place.github.subject(pull, SubjectKind::PullRequest, at);
        let opened = place.github.fact("pull_request", subject, ItemFact::Opened { transferred_from: None });
        place.app.ingest(&opened).unwrap();
    }
    let (owner, pull) = (place.reference(1).key(), place.reference(101).key());
    let (row_of, entry_of) = (owner.clone(), pull.clone());
    place.app.store().write(move |tx| spoil_endpoint(tx, &row_of, &entry_of)).unwrap();
    for linked in [true, false] {
        assert_eq!(place.said(101, "to the record", linked), [1]);
        assert_eq!(place.said(201, "to its own", linked), [201]);
        assert_eq!(place.said(1, "to the item", linked), [1]);
        assert_eq!(place.said(2, "to the other", linked), [2]);
    }
    let (row, journal) =
        place.app.store().read(|tx| Ok((endpoint_row(tx, &owner, &pull)?, tx.journal(0, usize::MAX)?))).unwrap();
    assert_eq!(row.as_deref(), Some(UNREADABLE), "it is kept as it is");
    let failed = journal.iter().filter(|(_, _, entry)| entry.event == EventName::SessionLinkFailed);
    let named = |fields: &serde_json::Map<_, _>| fields["pullRequest"].as_str().is_some_and(|pr| pr.ends_with("#101"));
    assert_eq!(failed.filter(|(_, _, entry)| named(&entry.fields)).count(), 2);
}
