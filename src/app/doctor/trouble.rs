//! A store that cannot be looked into: the right words for each kind, and what is not lost.

use std::path::Path;

use crate::domain::findings::{Finding, Fix};
use crate::store::StoreError;

/// What `error` means for the store at `path`; `owner` says who owns it, when somebody does.
pub fn trouble(path: &Path, error: &StoreError, owner: Option<&str>) -> Finding {
    let file = path.display();
    let kept = "it was left as it is; what was armed stands in the portable files too";
    match error {
        StoreError::Missing => Finding::note("store.missing", "there is none yet; the daemon makes it"),
        StoreError::Busy | StoreError::Overloaded | StoreError::Closed => {
            let by = owner.unwrap_or("a process that does not say who it is");
            Finding::error("store.busy", format!("`{file}` is in use by {by} and could not be read beside it"))
                .because("nothing else can be known of it meanwhile")
                .todo("ask again in a moment; the finding about the daemon tells whether its owner gets on")
        }
        StoreError::Damaged(text) => {
            let finding = Finding::error("store.damaged", format!("it is damaged: {text}"))
                .because(format!("the daemon refuses it, so that nothing of it is lost; {kept}"));
            match owner {
                Some(owner) => finding.todo(format!("end {owner}, then look again: it may hold what can be saved")),
                None => finding
                    .todo("`the-loop doctor --fix` tries a repair of a copy; when that fails, move the file away and start again")
                    .fixed_by(Fix::RepairStore { path: path.to_owned() }),
            }
        }
        StoreError::Foreign(text) => {
            Finding::error("store.foreign", format!("something else lies in its place: {text}"))
                .because("it is not ours, so it is neither read nor written")
                .todo("move it away, or choose another `routing.registryDir`")
        }
        StoreError::Newer { .. } => {
            Finding::error("store.newer", error.to_string()).because(kept).todo("use the newer the-loop that wrote it")
        }
        StoreError::Older { .. } => Finding::warning("store.older", error.to_string())
            .because("it is migrated by the next start, after a copy of it was made")
            .todo("`the-loop start`; beside a running daemon of the older version, `the-loop restart`"),
        StoreError::FormatUpgrade(_) => Finding::error("store.format", error.to_string())
            .because(kept)
            .todo("start the version that wrote it once more, or move the file away and start again"),
        StoreError::BadRow { .. } => Finding::error("store.row", error.to_string())
            .because("what this row says is not acted upon; every other row is")
            .todo("the item it is about can be reset, which writes the row anew"),
        StoreError::Io { .. } | StoreError::Bug(_) => {
            Finding::error("store.unreadable", format!("it cannot be read: {error}"))
                .because("the daemon cannot read it either")
                .todo("look at the disk and at the permissions of the folder")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_trouble_has_its_words() {
        let io = || std::io::Error::from(std::io::ErrorKind::PermissionDenied);
        for (error, id, says, todo) in [
            (StoreError::Missing, "store.missing", "none yet", ""),
            (StoreError::Busy, "store.busy", "the daemon with pid 7", "ask again"),
            (StoreError::Damaged("cut short".into()), "store.damaged", "cut short", "end the daemon with pid 7"),
            (StoreError::Foreign("a text".into()), "store.foreign", "a text", "move it away"),
            (StoreError::Newer { found: 9, supported: 1 }, "store.newer", "schema 9", "newer the-loop"),
            (StoreError::Older { found: 0, supported: 1 }, "store.older", "schema 0", "the-loop start"),
            (StoreError::FormatUpgrade(2), "store.format", "redb format 2", "move the file away"),
            (
                StoreError::BadRow { table: "items", key: "k".into(), reason: "r".into() },
                "store.row",
                "row `k` of table `items`",
                "reset",
            ),
            (StoreError::Io { path: "/s".into(), source: io() }, "store.unreadable", "/s", "permissions"),
        ] {
            let found = trouble(Path::new("/s"), &error, Some("the daemon with pid 7"));
            assert_eq!(found.id, id);
            assert!(found.what.contains(says), "{found:?}");
            assert!(found.todo.unwrap_or_default().contains(todo), "{id}");
            // Beside an owner nothing is repaired.
            assert_eq!(found.fix, None, "{id}");
        }
    }

    #[test]
    fn k53_a_damaged_store_that_nobody_owns_can_be_repaired_and_nothing_else_can() {
        let damaged = trouble(Path::new("/s"), &StoreError::Damaged("x".into()), None);
        assert_eq!(damaged.fix, Some(Fix::RepairStore { path: "/s".into() }));
        for error in [StoreError::Foreign("x".into()), StoreError::FormatUpgrade(2), StoreError::Busy] {
            assert_eq!(trouble(Path::new("/s"), &error, None).fix, None, "{error:?}");
        }
    }
}
