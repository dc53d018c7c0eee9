//! Another machine: it changes portable files between the steps, as a pull, a checkout or a bad merge would.

use std::collections::{BTreeMap, BTreeSet};

use the_loop::app::App;
use the_loop::domain::portable::{Command, Control, Ended, Poll, Record, RequestedAt, Section, render};
use the_loop::domain::reference::WorkItemRef;
use the_loop::domain::time::Time;
use the_loop::store::View as _;

use crate::folder::Folder;
use crate::github::GitHub;
use crate::rng::Rng;

/// What the other machine did, and what has to follow from it.
#[derive(Default)]
pub struct Machine {
    next_comment: u64,
    /// Comments it wrote into a file that nobody took away since, by item.
    pub told: BTreeMap<WorkItemRef, BTreeSet<String>>,
    /// What an older file disturbed.
    pub violations: Vec<String>,
}

impl Machine {
    /// Does something to one of the files.
    pub fn act(&mut self, rng: &mut Rng, folder: &Folder, github: &mut GitHub, app: &App) -> String {
        let (item, at) = github.some_item(rng);
        let name = item.slug().file_name();
        let Some(record) = folder.record(&item) else {
            // A merge that somebody finishes by hand: the file is gone, or whole again.
            folder.remove(&name);
            return format!("git: {name} is gone");
        };
        match rng.below(10) {
            0 => {
                github.commanded(&item, at, false);
                self.write(folder, armed(record, Command::Start, "mona", at))
            }
            1 => {
                let control = record.control.present().and_then(Control::at);
                github.commanded(&item, at, true);
                // An ending that is no later than a command of this machine beats nothing.
                let ended = Ended { at: control.map_or(at, |known| known.max(at)), reason: "closed".into() };
                self.write(folder, Record { ended: Some(ended), ..record })
            }
            2 => {
                github.commanded(&item, at, true);
                self.write(folder, armed(record, Command::Stop, "anybody", at))
            }
            3 | 4 => self.write(folder, armed(record, Command::Start, "stranger", at.plus_seconds(1))),
            5 | 6 => self.write(folder, record),
            7 => {
                self.forget(app, &item);
                folder.put(&name, &format!("<<<<<<< HEAD\n{}=======\n{{}}\n>>>>>>> other\n", render(&record)));
                format!("git: {name} is a conflict")
            }
            8 => {
                self.forget(app, &item);
                folder.remove(&name);
                format!("git: {name} is deleted")
            }
            _ => self.checkout(rng, folder, app, &item),
        }
    }

    /// A newer file: what it said, and one more comment.
    fn write(&mut self, folder: &Folder, mut record: Record) -> String {
        self.next_comment += 1;
        let comment = format!("IC_other{}", self.next_comment);
        let mut poll = record.poll.present().cloned().unwrap_or_else(Poll::default);
        poll.seen_comments.insert(comment.clone());
        record.poll = Section::Present(poll);
        self.told.entry(record.reference.clone()).or_default().insert(comment);
        let (name, text) = (record.reference.slug().file_name(), render(&record));
        folder.put(&name, &text);
        format!("git: {name} says {:?} {:?}", record.control.present(), record.ended)
    }

    /// An older version comes back: nothing may follow from it.
    fn checkout(&mut self, rng: &mut Rng, folder: &Folder, app: &App, item: &WorkItemRef) -> String {
        let name = item.slug().file_name();
        let earlier = folder.earlier(&name);
        // What the file said last is taken in first: only then is what comes back known for older.
        if earlier.is_empty() || app.adopt_items(std::slice::from_ref(item)).is_err() {
            return String::new();
        }
        self.forget(app, item);
        let before = known(app, item);
        folder.put(&name, rng.pick::<String>(&earlier));
        let adopted = app.adopt_items(std::slice::from_ref(item));
        let after = known(app, item);
        if adopted.is_ok() && before != after {
            self.violations.push(format!("an older file disturbs nothing: {before:?} became {after:?}"));
        }
        format!("git: {name} is an older one")
    }

    /// Git takes a file away: what nobody here has read of it is gone.
    fn forget(&mut self, app: &App, item: &WorkItemRef) {
        let seen = app.store().read(|tx| tx.seen(&item.key())).unwrap_or_default();
        if let Some(told) = self.told.get_mut(item) {
            told.retain(|comment| seen.contains(comment));
        }
    }
}

type Row = (Option<the_loop::domain::item::Item>, BTreeSet<String>, bool);

fn known(app: &App, item: &WorkItemRef) -> Option<Row> {
    let key = item.key();
    app.store().read(|tx| Ok((tx.item(&key)?, tx.seen(&key)?, tx.mark(&key)?.is_some()))).ok()
}

fn armed(record: Record, command: Command, actor: &str, at: Time) -> Record {
    let control = Control {
        command,
        source: the_loop::domain::portable::Source::Comment,
        actor: actor.into(),
        requested_at: RequestedAt::At(at),
        note: None,
        extra: serde_json::Map::new(),
    };
    let commanded_at = record.commanded_at.max(Some(at));
    Record { control: Section::Present(control), commanded_at, ..record }
}
