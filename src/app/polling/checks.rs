//! Checks and statuses of the heads of pull requests we own: one that ends does not change the pull request.

use serde_json::Value;

use super::round::{Round, number};
use crate::app::asking::pages;
use crate::domain::event::listed;
use crate::domain::github::{Seen, Trouble, Validators};
use crate::domain::polling::{Watched, due};

impl Round<'_> {
    /// Asks for the heads whose turn it is.
    pub(super) fn read_checks(&mut self) {
        let followed: Vec<u64> = self.followed.iter().map(|item| item.number).collect();
        self.progress.heads.retain(|number, _| followed.contains(number));
        for number in due(&self.progress.heads, self.progress.turn) {
            let Some(head) = self.progress.heads.get(&number).filter(|_| !self.is_stopped()).cloned() else { return };
            match self.read_head(&head) {
                Ok(next) => {
                    if head.settled {
                        self.progress.turn = number;
                    }
                    self.progress.heads.insert(number, next);
                }
                // A commit that is gone has no checks any more (GitHub says 422 of it); another one is the head by now.
                Err(Trouble::Gone { .. } | Trouble::Odd { seen: Seen { status: 422, .. }, .. }) => {
                    self.progress.heads.insert(number, Watched { settled: true, ..head });
                }
                Err(trouble @ Trouble::Refused { .. }) => {
                    self.progress.turn = number;
                    self.note(trouble);
                }
                Err(trouble) => self.item_failed(number, trouble),
            }
        }
    }

    fn read_head(&mut self, head: &Watched) -> Result<Watched, Trouble> {
        // Whether it settles is seen from all there is.
        let known = if head.settled { head.validators.clone() } else { Validators::default() };
        let base = format!("/commits/{}", head.sha);
        let list = |rest: &str| pages::list(self.github, self.host(), &self.path(&format!("{base}{rest}")), &known);
        let (runs, statuses) = (list("/check-runs?per_page=100")?, list("/status?per_page=100")?);
        let mut next = head.clone();
        next.validators = runs.validators;
        next.validators.pages.extend(statuses.validators.pages);
        let settled = head.settles(&runs.items, &statuses.items, self.now);
        next.settled = match head.settled {
            true => runs.is_unchanged && statuses.is_unchanged,
            false => settled,
        };
        self.found_checks(head, &runs.items, &statuses.items);
        Ok(next)
    }

    fn found_checks(&mut self, head: &Watched, runs: &[Value], statuses: &[Value]) {
        let repository = self.payload();
        for run in runs {
            if let Some(listed) = listed::check_run(&repository, run) {
                self.found_said(&listed, &format!("k{}", number(run, "id").unwrap_or(0)), self.listed());
            }
        }
        for status in statuses {
            let listed = listed::status(&repository, &head.sha, status);
            self.found_said(&listed, &format!("s{}", number(status, "id").unwrap_or(0)), self.listed());
        }
    }
}
