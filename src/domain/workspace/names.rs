//! Names of directories and branches. Two items whose slugs are equal get two.

use crate::domain::reference::WorkItemRef;

/// The names an item's directory can have, in the order they are tried: the second when the first belongs to another
/// item whose slug is the same.
pub fn names(item: &WorkItemRef) -> [String; 2] {
    let slug = item.slug();
    let other = format!("{}.{}", slug.as_str(), item.key().short_hash());
    [slug.as_str().to_owned(), other]
}

/// The folder of the branches we make: `loop/<slug>`.
const BRANCH_FOLDER: &str = "loop/";

/// The branch of the directory `name`. A name with dots in a row is no branch's: they become one `-`.
pub fn branch(name: &str) -> String {
    let mut branch = String::from(BRANCH_FOLDER);
    let mut rest = name;
    while let Some(at) = rest.find("..") {
        branch.push_str(&rest[..at]);
        branch.push('-');
        rest = rest[at..].trim_start_matches('.');
    }
    branch.push_str(rest);
    branch
}

/// What lies under one of an item's names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Nothing.
    Vacant,
    /// A complete checkout, or a beginning of one, of the item that is named.
    Of {
        /// As its mark says.
        item: WorkItemRef,
        /// Whether it is complete.
        ready: bool,
    },
    /// Something that is not ours.
    Strange,
}

/// Who has the names of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rival {
    /// Other items.
    Items,
    /// Something that is not ours.
    Strange,
}

/// What an item gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// The directory of this name is there.
    Ready(usize),
    /// It is to be made under this name; `true` when a beginning of it is to be removed first.
    Make(usize, bool),
    /// None of its names is free.
    Taken(Rival),
}

/// Chooses among the [`names`] of an item by what lies under them. What is complete is used, whichever name it has; else
/// the first name that is free or that an interrupted beginning of this very item has.
pub fn choose(item: &WorkItemRef, places: &[Place]) -> Choice {
    let is_own = |of: &WorkItemRef| of.key() == item.key();
    let at = |wanted: &dyn Fn(&Place) -> bool| places.iter().position(wanted);
    if let Some(at) = at(&|place| matches!(place, Place::Of { item, ready: true } if is_own(item))) {
        return Choice::Ready(at);
    }
    if let Some(at) = at(&|place| matches!(place, Place::Of { item, ready: false } if is_own(item))) {
        return Choice::Make(at, true);
    }
    if let Some(at) = at(&|place| *place == Place::Vacant) {
        return Choice::Make(at, false);
    }
    let strange = places.contains(&Place::Strange);
    Choice::Taken(if strange { Rival::Strange } else { Rival::Items })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn item(text: &str) -> WorkItemRef {
        WorkItemRef::parse(text).unwrap()
    }

    #[test]
    fn k44_equal_slugs_get_two_directories_and_two_branches() {
        let (one, other) = (item("github:a/b-c#1"), item("github:a-b/c#1"));
        assert_eq!(names(&one)[0], names(&other)[0]);
        assert_ne!(names(&one)[1], names(&other)[1]);
        assert_eq!(branch(&names(&one)[0]), "loop/github-a-b-c-1");
        let of = |item: &WorkItemRef, ready| Place::Of { item: item.clone(), ready };
        assert_eq!(choose(&one, &[Place::Vacant, Place::Vacant]), Choice::Make(0, false));
        assert_eq!(choose(&other, &[of(&one, true), Place::Vacant]), Choice::Make(1, false));
        assert_eq!(choose(&other, &[of(&one, false), Place::Vacant]), Choice::Make(1, false), "theirs, half-made");
        assert_eq!(choose(&other, &[Place::Vacant, of(&other, true)]), Choice::Ready(1), "the other one is gone");
    }

    #[rstest]
    #[case::complete(&[Some(true), None], Choice::Ready(0))]
    #[case::half_made(&[Some(false), None], Choice::Make(0, true))]
    #[case::complete_beside_half_made(&[Some(false), Some(true)], Choice::Ready(1))]
    fn k44_what_is_half_made_is_never_taken_for_complete(#[case] ready: &[Option<bool>], #[case] want: Choice) {
        let own = item("github:octo/hello#7");
        // The case of letters is no other item.
        let spelled = item("github:Octo/Hello#7");
        let place = |ready: &Option<bool>| match ready {
            Some(ready) => Place::Of { item: spelled.clone(), ready: *ready },
            None => Place::Vacant,
        };
        assert_eq!(choose(&own, &ready.iter().map(place).collect::<Vec<_>>()), want);
    }

    #[test]
    fn what_is_not_ours_is_left_alone() {
        let (own, other) = (item("github:octo/hello#7"), item("github:octo-hello/x#7"));
        assert_eq!(choose(&own, &[Place::Strange, Place::Vacant]), Choice::Make(1, false));
        assert_eq!(choose(&own, &[Place::Strange, Place::Strange]), Choice::Taken(Rival::Strange));
        let others = Place::Of { item: other, ready: true };
        assert_eq!(choose(&own, &[others.clone(), others]), Choice::Taken(Rival::Items));
    }

    proptest! {
        /// git's own rules for the names of branches, as far as a slug could break them.
        #[test]
        fn any_item_has_a_branch_that_git_takes(owner in "[A-Za-z0-9._-]{1,12}", name in "[A-Za-z0-9._-]{1,120}", n in 1_u64..99999) {
            prop_assume!(![".", ".."].contains(&owner.as_str()) && ![".", ".."].contains(&name.as_str()));
            for name in names(&item(&format!("github:{owner}/{name}#{n}"))) {
                let branch = branch(&name);
                prop_assert!(!branch.contains("..") && !branch.ends_with(".lock") && !branch.ends_with('.'), "{branch}");
                prop_assert!(branch.starts_with("loop/github-"), "{branch}");
                prop_assert!(branch.bytes().all(|b| b.is_ascii_alphanumeric() || b"/._-".contains(&b)), "{branch}");
                prop_assert!(name.len() < 200 && !name.starts_with('.') && !name.contains('/'), "{name}");
            }
        }
    }
}
