//! Work done by a command that owns the store only for moments: claimed in one, done while nobody is held up, settled in
//! another.
//!
//! Only quick work is done so. Whoever owns the store meanwhile sees by the claim's instance that a living process is at
//! it and leaves it alone; an ending he may do too, since a life that ended never comes back.

use super::App;
use super::in_flight::TurnGuard;
use super::perform::{Allow, Claimed, Look};
use crate::domain::lane::Done;
use crate::domain::reference::RefKey;
use crate::store::StoreError;

/// A claimed piece of quick work.
pub struct Errand {
    lane: RefKey,
    claimed: Box<Claimed>,
    turn: TurnGuard,
}

/// One that was done, or tried.
pub struct Returned {
    errand: Errand,
    done: Done,
}

impl App {
    /// Claims the quick work that comes next in the lane, if there is some.
    ///
    /// # Errors
    /// The store did not answer.
    pub fn next_errand(&self, lane: &RefKey) -> Result<Option<Errand>, StoreError> {
        let turn = self.in_flight.begin();
        let mut looking = self.looking(lane, Allow::Quick, turn.turn());
        let look = self.parts.store.write(move |tx| looking.look(tx))?;
        Ok(errand(lane, look, turn))
    }

    /// Does it. Touches no store: nobody has to own it meanwhile.
    pub fn run_errand(&self, errand: Errand) -> Returned {
        let Claimed { item, work, claim, recovering } = errand.claimed.as_ref();
        let done = match recovering {
            true => self.recover_work(item, work, &claim.batch),
            false => self.do_work(item, work, &claim.batch),
        };
        Returned { errand, done }
    }

    /// Settles it, if nobody else did, and claims the next of the lane.
    ///
    /// # Errors
    /// The store did not answer; then the claim is recovered by whoever owns it once this process has ended.
    pub fn settle_errand(&self, returned: Returned) -> Result<Option<Errand>, StoreError> {
        let Returned { errand: Errand { lane, claimed, turn }, done } = returned;
        let looking = self.looking(&lane, Allow::Quick, turn.turn());
        let look = self.settle(*claimed, done, looking, false)?;
        Ok(errand(&lane, look, turn))
    }
}

fn errand(lane: &RefKey, look: Look, turn: TurnGuard) -> Option<Errand> {
    match look {
        Look::Claimed(claimed) => Some(Errand { lane: lane.clone(), claimed, turn }),
        Look::Progress(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, RwLock};

    use super::super::moving::{item, say, world};
    use super::super::perform::Progress;
    use super::super::{App, Parts};
    use crate::domain::ids::InstanceId;
    use crate::domain::portable::Command;
    use crate::domain::ports::Ids;
    use crate::store::testing::CountingIds;

    /// Ids by which every other process lives, or none does.
    struct Others(CountingIds, bool);

    impl Ids for Others {
        fn uuid(&self) -> String {
            format!("9{}", &self.0.uuid()[1..])
        }

        fn below(&self, bound: u64) -> u64 {
            self.0.below(bound)
        }

        fn is_living(&self, _: &InstanceId) -> bool {
            self.1
        }
    }

    /// Another process over the same store.
    fn another(app: &App, sees_others_live: bool) -> App {
        let parts = &app.parts;
        App::new(Parts {
            store: parts.store.clone(),
            runner: Arc::clone(&parts.runner),
            portable: Arc::clone(&parts.portable),
            earlier: Arc::new(()),
            github: Arc::new(()),
            harness_files: Arc::clone(&parts.harness_files),
            clock: Arc::clone(&parts.clock),
            ids: Arc::new(Others(CountingIds::default(), sees_others_live)),
            instance: InstanceId("another".into()),
            settings: RwLock::new(app.settings()),
        })
    }

    #[test]
    fn k73_a_delivery_that_a_living_command_is_at_is_left_to_it_and_an_ending_is_not() {
        let (app, runner) = world();
        let seven = item("octo/hello", 7);
        say(&app, 10, &seven, 101, "the-loop start");
        app.advance(&seven.key(), true, 100).unwrap();
        let typed = || runner.typed.lock().unwrap().len();
        let before = typed();
        say(&app, 11, &seven, 101, "for one of two");
        let errand = app.next_errand(&seven.key()).unwrap().expect("a delivery");
        let left = another(&app, true).advance(&seven.key(), true, 100).unwrap();
        assert!(matches!(left, Progress::Waiting(Some(_))), "{left:?}");
        assert_eq!(typed(), before);
        let returned = app.run_errand(errand);
        assert!(app.settle_errand(returned).unwrap().is_none());
        assert_eq!(typed(), before + 1);
        // A process that is gone is no obstacle, and an ending is done by whoever comes.
        say(&app, 12, &seven, 101, "left behind");
        drop(app.next_errand(&seven.key()).unwrap().expect("a delivery"));
        another(&app, false).advance(&seven.key(), true, 100).unwrap();
        assert_eq!(typed(), before + 2);
        app.command(&seven, &Command::Stop, "mona").unwrap();
        drop(app.next_errand(&seven.key()).unwrap().expect("an ending"));
        assert_eq!(another(&app, true).advance(&seven.key(), true, 100).unwrap(), Progress::Idle);
        assert_eq!(runner.ended.lock().unwrap().len(), 1);
    }
}
