//! What keeps a checkout from being removed. Whatever could hold work that lies nowhere else does.

use std::fmt;

/// Why a checkout stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keep {
    /// Tracked files differ from what is committed.
    Changed,
    /// Files that git does not know.
    Untracked,
    /// Files whose changes git was told not to see.
    Hidden,
    /// A merge, a rebase or the like is under way; the word for it.
    UnderWay(&'static str),
    /// Commits that no remote-tracking branch contains.
    Unpushed,
    /// A stash that was made on its branch.
    Stashed,
    /// Repositories within it.
    Nested,
    /// It is a link, or does not lie where ours do.
    Outside,
    /// git would not remove it; what it said.
    Refused(String),
}

impl Keep {
    /// The word used in the log.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Untracked => "untracked",
            Self::Hidden => "hidden",
            Self::UnderWay(_) => "under-way",
            Self::Unpushed => "unpushed",
            Self::Stashed => "stashed",
            Self::Nested => "nested",
            Self::Outside => "outside",
            Self::Refused(_) => "refused",
        }
    }
}

impl fmt::Display for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed => f.write_str("it has changes that are not committed"),
            Self::Untracked => f.write_str("it has files that git does not know"),
            Self::Hidden => f.write_str("git was told not to look at changes of some of its files"),
            Self::UnderWay(what) => write!(f, "a {what} is under way in it"),
            Self::Unpushed => f.write_str("it has commits that no remote is known here to have"),
            Self::Stashed => f.write_str("something is stashed that was made on its branch"),
            Self::Nested => f.write_str("there are other repositories in it"),
            Self::Outside => f.write_str("it is a link, or does not lie where ours are made"),
            Self::Refused(said) => write!(f, "git does not remove it: {said}"),
        }
    }
}

/// What `git status --porcelain=v2 -z` says against removing.
pub fn judge_status(status: &str) -> Option<Keep> {
    let mut entries = status.split_terminator('\0').filter(|entry| !entry.starts_with('#'));
    let first = entries.next()?;
    // Changes come before what is unknown.
    Some(if first.starts_with("? ") { Keep::Untracked } else { Keep::Changed })
}

/// Files in the directory of git's own that say that something is under way, and what.
const STEPS: [(&str, &str); 8] = [
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
    ("sequencer", "sequence of picks"),
    ("index.lock", "command of git"),
];

/// What is under way; `has` tells whether the directory of git's own holds this name.
pub fn under_way(has: impl Fn(&str) -> bool) -> Option<Keep> {
    STEPS.iter().find(|(file, _)| has(file)).map(|(_, what)| Keep::UnderWay(what))
}

/// Whether `git ls-files -v -z` shows a file whose changes are not looked at, `exists` telling whether it is there: a lower
/// case letter, or `S` on a file that is there.
pub fn hidden(listed: &str, exists: impl Fn(&str) -> bool) -> Option<Keep> {
    let is_hidden = |entry: &str| match entry.split_once(' ') {
        Some(("S", path)) => exists(path),
        Some((tag, _)) => tag.starts_with(|c: char| c.is_ascii_lowercase()),
        None => false,
    };
    listed.split_terminator('\0').any(is_hidden).then_some(Keep::Hidden)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::clean("", None)]
    #[case::headers_only("# branch.oid 1\0# branch.head x\0", None)]
    #[case::changed("1 .M N... 100644 100644 100644 a b src/a.rs\0", Some(Keep::Changed))]
    #[case::renamed("2 R. N... 1 1 1 a b R100 new\0old\0", Some(Keep::Changed))]
    #[case::conflict("u UU N... 1 1 1 1 a b c f\0", Some(Keep::Changed))]
    #[case::submodule("1 .M S..U 160000 160000 160000 a b sub\0", Some(Keep::Changed))]
    #[case::untracked("? notes.txt\0", Some(Keep::Untracked))]
    #[case::both("1 .M N... 1 1 1 a b f\0? notes.txt\0", Some(Keep::Changed))]
    fn only_what_has_nothing_of_its_own_is_clean(#[case] status: &str, #[case] want: Option<Keep>) {
        assert_eq!(judge_status(status), want);
    }

    #[test]
    fn what_is_under_way_or_hidden_is_seen() {
        for (file, _) in STEPS {
            assert!(matches!(under_way(|name| name == file), Some(Keep::UnderWay(_))), "{file}");
        }
        assert_eq!(under_way(|name| name == "HEAD"), None);
        let there = |path: &str| path == "there";
        for (listed, want) in [
            ("H a\0H b\0", None),
            ("H a\0h b\0", Some(Keep::Hidden)),
            ("S gone\0", None),
            ("S there\0", Some(Keep::Hidden)),
            ("s gone\0", Some(Keep::Hidden)),
        ] {
            assert_eq!(hidden(listed, there), want, "{listed:?}");
        }
    }

    #[test]
    fn every_reason_has_a_word_and_a_sentence() {
        for why in [Keep::Changed, Keep::UnderWay("merge"), Keep::Refused("no".into()), Keep::Outside, Keep::Nested] {
            assert!(why.to_string().len() > 15 && !why.as_str().contains(' '));
        }
    }
}
