//! The names a repository has had. GitHub's numeric id stays when the name changes, so the id finds them.

use super::reference::{RepoRef, WorkItemRef};

/// Former names that are kept; older ones are forgotten.
const MAX_FORMER: usize = 16;

/// The present name of a repository and the ones before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    /// What it is called now, as far as was heard.
    pub current: RepoRef,
    /// What it was called before, oldest first.
    pub former: Vec<RepoRef>,
}

impl Names {
    /// A repository with one name so far.
    pub fn new(current: RepoRef) -> Self {
        Self { current, former: Vec::new() }
    }

    /// Whether `name` was left behind.
    pub fn was(&self, name: &RepoRef) -> bool {
        self.former.iter().any(|former| former.is_same(name))
    }

    /// All names, the present one first.
    pub fn all(&self) -> impl Iterator<Item = &RepoRef> {
        std::iter::once(&self.current).chain(&self.former)
    }

    /// The names after `to` became the present one, `from` being one of those before.
    #[must_use]
    pub fn renamed(&self, from: &RepoRef, to: &RepoRef) -> Self {
        let mut former = self.former.clone();
        former.extend([self.current.clone(), from.clone()]);
        former.retain(|name| !name.is_same(to));
        let mut kept: Vec<RepoRef> = Vec::new();
        for name in former {
            if !kept.iter().any(|earlier| earlier.is_same(&name)) {
                kept.push(name);
            }
        }
        let forget = kept.len().saturating_sub(MAX_FORMER);
        Self { current: to.clone(), former: kept.split_off(forget) }
    }

    /// `item` under the present name, when it goes by a former one.
    pub fn present(&self, item: &WorkItemRef) -> Option<WorkItemRef> {
        self.was(item.repo()).then(|| self.current.item(item.number()).ok()).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repo(name: &str) -> RepoRef {
        RepoRef::parse(name).unwrap()
    }

    #[test]
    fn a_name_that_comes_back_is_no_former_one() {
        let names = Names::new(repo("octo/a")).renamed(&repo("octo/a"), &repo("octo/b"));
        assert!(names.was(&repo("Octo/A")));
        let back = names.renamed(&repo("octo/b"), &repo("octo/a"));
        assert_eq!((back.current, back.former), (repo("octo/a"), vec![repo("octo/b")]));
    }

    #[test]
    fn the_oldest_names_are_forgotten() {
        let mut names = Names::new(repo("octo/n0"));
        for n in 1..40 {
            names = names.renamed(&names.current.clone(), &repo(&format!("octo/n{n}")));
        }
        assert_eq!((names.former.len(), names.former[15].clone()), (MAX_FORMER, repo("octo/n38")));
    }

    #[test]
    fn items_are_found_under_the_present_name() {
        let names = Names::new(repo("octo/a")).renamed(&repo("octo/a"), &repo("octo/b"));
        let item = |text: &str| WorkItemRef::parse(text).unwrap();
        assert_eq!(names.present(&item("github:octo/a#7")), Some(item("github:octo/b#7")));
        assert_eq!(names.present(&item("github:octo/b#7")), None);
        assert_eq!(names.present(&item("github:octo/c#7")), None);
    }
}
