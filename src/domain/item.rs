//! Everything the store knows about one work item.

use super::event::{Head, SubjectKind};
use super::portable::{Control, Ended, Source};
use super::reference::WorkItemRef;
use super::session::{EndReason, Session};
use super::time::Time;

/// One issue or pull request: what GitHub last said of it, its portable sections, and this machine's session.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// GitHub's own spelling.
    pub reference: WorkItemRef,
    /// Raised by every change to what is exported; the exporter clears a mark only for the version it wrote.
    pub version: u64,
    /// What GitHub last said.
    pub facts: Facts,
    /// The live portable sections, `seenComments` aside (a table of its own).
    pub sections: Sections,
    /// This machine's record; absent when the item never had a session here.
    pub session: Option<Session>,
    /// What was created before it is seen, not new.
    pub baseline: Option<Time>,
    /// A portable change of another machine disarmed it: deliveries are held until a person says more.
    pub held_by_adoption: bool,
}

/// What GitHub last said about an item.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    /// GitHub's repository id.
    pub repository_id: Option<u64>,
    /// GitHub's id of the issue or pull request object.
    pub item_id: Option<u64>,
    /// Issue or pull request, once known.
    pub kind: Option<SubjectKind>,
    /// Open, closed or not yet told.
    pub open: Option<bool>,
    /// The `updated_at` that `open` was taken from; an older fact never undoes a newer one.
    pub updated_at: Option<Time>,
    /// The last close.
    pub closed_at: Option<Time>,
    /// Head of a pull request, for checks that only name a commit.
    pub head: Option<Head>,
    /// Where it lives now, after it was transferred or its repository changed its name.
    pub moved_to: Option<WorkItemRef>,
}

/// The portable sections as the store holds them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sections {
    /// The last control command, with unknown keys of other versions.
    pub control: Option<Control>,
    /// The last ending.
    pub ended: Option<Ended>,
    /// The latest `requestedAt` known.
    pub commanded_at: Option<Time>,
    /// Whether there is a poll section (seen comments, cursor time), so that an empty one is not invented.
    pub has_poll: bool,
    /// When a poll cycle last saw the item; volatile.
    pub last_polled_at: Option<Time>,
}

/// How far ahead of everything else a time of a machine's own clock may be, seconds. Beyond a day the clock was wrong;
/// what it dated would stand over every later word until then.
const WRONG_CLOCK_SECONDS: i64 = 24 * 3600;

impl Sections {
    /// Without the command and the ending that a wrong clock dated: more than a day after `latest`, the later of our
    /// clock and of the word that is judged. Comments have GitHub's clock, and so have moves: they stay.
    #[must_use]
    pub fn believed(&self, latest: Time) -> Self {
        let limit = latest.plus_seconds(WRONG_CLOCK_SECONDS);
        let mut believed = self.clone();
        let said_here = |control: &Control| control.source == Source::Cli;
        believed.control.take_if(|control| said_here(control) && control.at().is_some_and(|at| at > limit));
        let moved = [EndReason::Transferred, EndReason::Renamed, EndReason::Deleted].map(EndReason::as_str);
        believed.ended.take_if(|ended| ended.at > limit && !moved.contains(&ended.reason.as_str()));
        if believed.control.is_none() {
            believed.commanded_at.take_if(|at| *at > limit);
        }
        believed
    }
}

impl Item {
    /// An item nothing is known about yet.
    pub fn new(reference: WorkItemRef) -> Self {
        Self {
            reference,
            version: 0,
            facts: Facts::default(),
            sections: Sections::default(),
            session: None,
            baseline: None,
            held_by_adoption: false,
        }
    }

    /// Its session, when events can go to it.
    pub fn live_session(&self) -> Option<&Session> {
        self.session.as_ref().filter(|session| session.is_live())
    }
}
