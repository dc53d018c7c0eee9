//! Which project a run belongs to, in a form that can be written to a file: no user, no password, no token.

use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::domain::reference::hex;
use crate::domain::remote::Remote;

/// How a project is told from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoteKind {
    /// By the repository its `origin` names on a host.
    Hosted,
    /// By its path: there is no `origin`, or it lies on this machine.
    Path,
}

impl RemoteKind {
    /// The word in the file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Hosted => "hosted",
            Self::Path => "path",
        }
    }

    /// The kind of a word.
    pub fn by_word(word: &str) -> Option<Self> {
        [Self::Hosted, Self::Path].into_iter().find(|kind| kind.word() == word)
    }
}

/// The project as it is found today.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// Canonical path of its root.
    pub root: String,
    /// `origin` as the configuration has it; none without one.
    pub origin: Option<String>,
    /// The same after git's own rewriting (`insteadOf`); asked only when the raw one has no host.
    pub expanded: Option<String>,
    /// The branch; none on a detached head, or outside of git.
    pub branch: Option<String>,
    /// The commit; none before the first.
    pub head: Option<String>,
}

impl Project {
    /// Its identity. The raw address counts; the expanded one only where the raw one names no host, so that two machines
    /// of which one rewrites addresses agree.
    pub fn identity(&self) -> Identity {
        let remote = |address: &Option<String>| address.as_deref().and_then(Remote::parse);
        let (kind, named) = match remote(&self.origin).or_else(|| remote(&self.expanded)) {
            Some(remote) => (RemoteKind::Hosted, remote.to_string()),
            None => (RemoteKind::Path, self.root.clone()),
        };
        Identity {
            root: self.root.clone(),
            kind,
            fingerprint: hex(&Sha256::digest(named.as_bytes())),
            branch: self.branch.clone(),
            head: self.head.clone(),
        }
    }
}

/// What of a project is written into a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Canonical path of the root at the last write.
    pub root: String,
    /// How the project is told from others.
    pub kind: RemoteKind,
    /// SHA-256 of `host[:port]/path`, or of the root, in hex.
    pub fingerprint: String,
    /// The branch at the last write.
    pub branch: Option<String>,
    /// The commit at the last write.
    pub head: Option<String>,
}

/// Why a run is not of this project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    what: &'static str,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the run belongs to another project: {} differs", self.what)
    }
}

impl Identity {
    /// Whether `today` is the project this was written in. Branch and commit may differ: that is for the gates.
    ///
    /// # Errors
    /// What differs. A hosted project may lie in another folder (it was cloned again); one known by its path may not.
    pub fn check(&self, today: &Self) -> Result<(), Mismatch> {
        match (self.kind == today.kind, self.fingerprint == today.fingerprint) {
            (true, true) => Ok(()),
            (false, _) => Err(Mismatch { what: "whether it has a remote on a host" }),
            (true, false) if self.kind == RemoteKind::Path => Err(Mismatch { what: "its path" }),
            (true, false) => Err(Mismatch { what: "its remote" }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(origin: Option<&str>, expanded: Option<&str>) -> Project {
        let own = |text: Option<&str>| text.map(str::to_owned);
        Project { root: "/p".into(), origin: own(origin), expanded: own(expanded), branch: None, head: None }
    }

    #[test]
    fn u03_spellings_with_and_without_users_are_one_and_nothing_of_a_user_is_kept() {
        let plain = project(Some("https://github.com/octo/hello"), None).identity();
        for origin in ["git@github.com:octo/hello.git", "https://user:p@ss@github.com/Octo/Hello.git"] {
            let identity = project(Some(origin), None).identity();
            assert_eq!(identity, plain, "{origin}");
            assert!(!format!("{identity:?}").contains("p@ss"));
        }
    }

    #[test]
    fn u05_the_raw_address_counts_unless_it_names_no_host() {
        let plain = project(Some("git@github.com:octo/hello.git"), None).identity();
        let rewritten = project(Some("git@github.com:octo/hello.git"), Some("git@gh-work:octo/hello.git")).identity();
        let short = project(Some("gh:octo/hello"), Some("https://github.com/octo/hello")).identity();
        assert_eq!((&rewritten, &short), (&plain, &plain));
        assert_eq!(project(Some("gh:octo/hello"), Some("gh:octo/hello")).identity().kind, RemoteKind::Path);
    }

    #[test]
    fn u08_without_a_host_the_path_counts() {
        for origin in [None, Some("/srv/git/hello.git"), Some("C:/repos/hello")] {
            let identity = project(origin, origin).identity();
            assert_eq!(identity.kind, RemoteKind::Path);
            let elsewhere = Project { root: "/q".into(), ..project(origin, origin) }.identity();
            assert!(identity.check(&elsewhere).is_err());
        }
        let hosted = project(Some("https://h.x/a/b"), None);
        let moved = Project { root: "/q".into(), branch: Some("x".into()), ..hosted.clone() };
        assert_eq!(hosted.identity().check(&moved.identity()), Ok(()));
        assert!(hosted.identity().check(&project(None, None).identity()).is_err());
    }

    #[test]
    fn a_mismatch_says_what_differs() {
        let (hosted, other) = (project(Some("https://h.x/a/b"), None), project(Some("https://h.x/a/c"), None));
        let path = project(None, None);
        let moved = Project { root: "/q".into(), ..path.clone() };
        for (then, today, what) in [
            (&hosted, &path, "whether it has a remote on a host"),
            (&hosted, &other, "its remote"),
            (&path, &moved, "its path"),
        ] {
            let said = then.identity().check(&today.identity()).unwrap_err().to_string();
            assert_eq!(said, format!("the run belongs to another project: {what} differs"));
        }
    }
}
