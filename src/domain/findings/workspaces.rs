//! Directories of work items that nobody works in.

use super::Finding;
use crate::domain::workspace::{Checkout, CheckoutState, Keep};

/// What the record of a checkout's item says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Somebody works in it, or may again: it runs, or was stopped and is open.
    Wanted,
    /// Its item ended.
    Ended,
    /// Its item has no session here.
    Unknown,
}

/// What is to be said of a checkout. `keeps` is why it was not removed: nothing, a reason, or why nobody could see.
pub fn checkout(checkout: &Checkout, standing: Standing, keeps: Result<Option<Keep>, String>) -> Option<Finding> {
    let path = checkout.path.display();
    let item = match &checkout.state {
        CheckoutState::Ready(item) => item,
        CheckoutState::HalfMade => {
            return Some(
                Finding::note("workspaces.half-made", format!("`{path}` is not complete"))
                    .because("it is being made right now, or its making was interrupted")
                    .todo("nothing needs to be done: the next start of its item makes it anew"),
            );
        }
        CheckoutState::Strange => {
            return Some(
                Finding::note(
                    "workspaces.strange",
                    format!("`{path}` is no checkout of ours, or its repository is gone"),
                )
                .because("it is neither used nor ever removed")
                .todo("see what is in it, and put it elsewhere"),
            );
        }
    };
    let whose = match standing {
        Standing::Wanted => return None,
        Standing::Ended => format!("`{path}` is still there, and {item} ended"),
        Standing::Unknown => format!("`{path}` is still there, and {item} has no session here"),
    };
    Some(match keeps {
        Ok(None) => Finding::note("workspaces.idle", format!("{whose}; everything in it is committed and pushed"))
            .because("`routing.workspace.keepCheckoutOnClose` keeps it, or nobody got to it yet"),
        Ok(Some(why)) => Finding::warning("workspaces.kept", format!("{whose}: {why}"))
            .because("what is in it lies nowhere else")
            .todo("commit and push what is needed, or take it out; a later start of the item goes on in it"),
        Err(error) => Finding::warning("workspaces.kept", format!("{whose}, and cannot be looked at: {error}"))
            .because("what is in it may lie nowhere else")
            .todo("see what is wrong with it"),
    })
}

/// All of them in order.
pub fn sound(count: usize) -> Finding {
    Finding::ok("workspaces.sound", format!("working directories of items: {count}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::reference::WorkItemRef;

    #[test]
    fn k40_what_an_ended_item_left_is_named_with_its_reason() {
        let ready = CheckoutState::Ready(WorkItemRef::parse("github:octo/hello#7").unwrap());
        for (state, standing, keeps, want) in [
            (&ready, Standing::Wanted, Ok(Some(Keep::Changed)), None),
            (&ready, Standing::Ended, Ok(Some(Keep::Unpushed)), Some(("workspaces.kept", true))),
            (&ready, Standing::Unknown, Ok(Some(Keep::Untracked)), Some(("workspaces.kept", true))),
            (&ready, Standing::Ended, Err("no git".to_owned()), Some(("workspaces.kept", true))),
            (&ready, Standing::Ended, Ok(None), Some(("workspaces.idle", false))),
            (&CheckoutState::HalfMade, Standing::Unknown, Ok(None), Some(("workspaces.half-made", false))),
            (&CheckoutState::Strange, Standing::Unknown, Ok(None), Some(("workspaces.strange", false))),
        ] {
            let found = checkout(&Checkout { path: "/w/x".into(), state: state.clone() }, standing, keeps);
            assert_eq!(found.as_ref().map(|found| (found.id, found.is_bad())), want);
            assert!(found.is_none_or(|found| found.what.contains("/w/x")));
        }
    }
}
