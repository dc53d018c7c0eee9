//! Which items of a repository are followed, and which of them have to be asked for by number.

use std::collections::BTreeMap;

use crate::domain::event::SubjectKind;
use crate::domain::item::Item;
use crate::domain::portable::Control;
use crate::domain::time::Time;

use super::Progress;

/// How far back a thread is read before the last poll of another machine, seconds.
const TAKE_OVER_SECONDS: i64 = 24 * 3600;
/// Most items that one cycle asks for by number, or whose threads it reads whole.
pub const MOST_BY_NUMBER: usize = 100;

/// An item that is followed: armed, with a session that lives, or a pull request that a live record lists. Labelled ones
/// are found in the lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Followed {
    /// Its number.
    pub number: u64,
    /// Whether its session lives, paused or not; for a pull request of another record, that record's.
    pub lives: bool,
    /// Whether it is a pull request: of another record, or with a record of its own.
    pub is_pull: bool,
    /// Whether it is a pull request of another record.
    pub is_owned: bool,
    /// When it was armed, when it is.
    pub armed_at: Option<Time>,
    /// When its present life began: it was armed, or its session started.
    pub life: Option<Time>,
    /// From when its thread is read when this machine takes it over: somebody has seen its comments until then.
    pub take_over: Option<Time>,
}

impl Followed {
    /// An open pull request that a live record lists; its thread is taken over with its owner's.
    pub fn owned(number: u64, owner: Option<&Self>) -> Self {
        let (life, take_over) = (owner.and_then(|owner| owner.life), owner.and_then(|owner| owner.take_over));
        Self { number, lives: true, is_pull: true, is_owned: true, armed_at: None, life, take_over }
    }
}

/// The item as one that is followed; `None` when it is not. What ended or moved away is not.
pub fn follow(item: &Item) -> Option<Followed> {
    let sections = &item.sections;
    let lives = item.live_session().is_some();
    let control = sections.control.as_ref();
    let armed = control.filter(|control| control.arms_after(sections.ended.as_ref()));
    if item.facts.moved_to.is_some() || !(lives || armed.is_some()) {
        return None;
    }
    let armed_at = armed.and_then(Control::at);
    let life = armed_at.max(item.baseline);
    let since = sections.last_polled_at.or(life).map(|at| at.plus_seconds(-TAKE_OVER_SECONDS));
    let take_over = since.filter(|_| sections.has_poll);
    let is_pull = item.facts.kind == Some(SubjectKind::PullRequest);
    Some(Followed { number: item.reference.number(), lives, is_pull, is_owned: false, armed_at, life, take_over })
}

/// Until when an item's comments are known on this machine, in GitHub's time: the last whole cycle, in which it was
/// followed and its thread had been taken over. `None` when that cannot be said.
pub fn polled_at(item: &Item, progress: &Progress) -> Option<Time> {
    let followed = follow(item)?;
    let number = followed.number;
    let is_known = taken_over(&[followed], &progress.taken_over).is_empty() && !progress.again.contains_key(&number);
    progress.polled_at.filter(|_| is_known)
}

/// The followed items that no list shows and whose state has to be known, each once: those that began before the first
/// cycle, those that were armed since without a session, and pull requests whose head nobody has seen.
pub fn wanted(followed: &[Followed], progress: &Progress) -> Vec<u64> {
    let is_new = |item: &&Followed| progress.asked.get(&item.number) < item.armed_at.or(progress.first).as_ref();
    let lacks_head = |item: &&Followed| item.is_pull && item.lives && !progress.heads.contains_key(&item.number);
    let is_unseen = |item: &&Followed| !item.lives || item.life <= progress.first || lacks_head(item);
    followed
        .iter()
        .filter(|item| is_new(item) && is_unseen(item))
        .map(|item| item.number)
        .take(MOST_BY_NUMBER)
        .collect()
}

/// The followed items whose threads are to be read whole, because this machine takes them over: once for every life of
/// theirs, with the time from which on.
pub fn taken_over(followed: &[Followed], read: &BTreeMap<u64, Time>) -> Vec<(u64, Time, Time)> {
    let taken = followed.iter().filter_map(|item| {
        let (life, since) = (item.life?, item.take_over?);
        (read.get(&item.number) != Some(&life)).then_some((item.number, life, since))
    });
    taken.take(MOST_BY_NUMBER).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::portable::{Command, Ended, RequestedAt, Source};
    use crate::domain::reference::WorkItemRef;

    fn at(second: i64) -> Time {
        Time::from_millis(1_700_000_000_000).plus_seconds(second)
    }

    fn item(command: Command, second: i64) -> Item {
        let mut item = Item::new(WorkItemRef::parse("github:octo/hello#7").unwrap());
        item.sections.control = Some(Control {
            command,
            source: Source::Comment,
            actor: "mona".into(),
            requested_at: RequestedAt::At(at(second)),
            note: None,
            extra: serde_json::Map::new(),
        });
        item
    }

    #[test]
    fn armed_items_are_followed_and_ended_ones_are_not() {
        assert_eq!(follow(&Item::new(item(Command::Start, 1).reference)), None);
        assert_eq!(follow(&item(Command::Stop, 1)), None);
        let mut ended = item(Command::Start, 1);
        ended.sections.ended = Some(Ended { at: at(2), reason: "closed".into() });
        assert_eq!(follow(&ended), None);
        let armed = follow(&item(Command::Start, 5)).unwrap();
        assert_eq!((armed.armed_at, armed.life, armed.lives, armed.take_over), (Some(at(5)), Some(at(5)), false, None));
    }

    #[test]
    fn a_thread_that_somebody_followed_is_read_once_for_every_life() {
        let mut taken = item(Command::Start, 1000);
        taken.sections.has_poll = true;
        let since = |item: &Item, read: &[(u64, i64)]| {
            let read = read.iter().map(|(number, second)| (*number, at(*second))).collect();
            taken_over(&[follow(item).unwrap()], &read).first().map(|(_, _, since)| *since)
        };
        assert_eq!(since(&taken, &[]), Some(at(1000 - 86_400)), "it was never polled");
        taken.sections.last_polled_at = Some(at(1500));
        assert_eq!(since(&taken, &[]), Some(at(1500 - 86_400)));
        assert_eq!(since(&taken, &[(7, 1000)]), None, "read in this life");
        assert_eq!(since(&taken, &[(7, 900)]), Some(at(1500 - 86_400)), "armed again");
    }

    #[test]
    fn what_is_armed_without_a_session_is_asked_for_once() {
        let owned = |number| Followed::owned(number, None);
        let armed = |number, lives| Followed {
            lives,
            is_pull: false,
            is_owned: false,
            armed_at: Some(at(5)),
            life: Some(at(5)),
            ..owned(number)
        };
        let followed = [armed(1, true), armed(2, false)];
        let progress = |asked: &[(u64, i64)]| Progress {
            first: Some(at(0)),
            asked: asked.iter().map(|(number, second)| (*number, at(*second))).collect(),
            ..Progress::default()
        };
        assert_eq!(wanted(&followed, &progress(&[])), [2]);
        assert_eq!(wanted(&followed, &progress(&[(2, 5)])), [0; 0]);
        assert_eq!(wanted(&followed, &progress(&[(2, 4)])), [2], "armed again");
        let later = |asked: &[(u64, i64)]| Progress { first: Some(at(9)), ..progress(asked) };
        assert_eq!(wanted(&followed, &later(&[])), [1, 2], "they began before the first cycle");
        assert_eq!(wanted(&followed, &later(&[(1, 5), (2, 5)])), [0; 0]);
        assert_eq!(wanted(&[owned(3)], &progress(&[])), [3]);
        assert_eq!(wanted(&[owned(3)], &progress(&[(3, 0)])), [0; 0]);
        let own = Followed { is_pull: true, ..armed(4, true) };
        assert_eq!(wanted(std::slice::from_ref(&own), &progress(&[])), [4], "nobody has seen its head");
        assert_eq!(wanted(&[own], &progress(&[(4, 5)])), [0; 0]);
    }
}
