//! Remotes: which one is a work item's, how its repository is cloned, and addresses in what git says.

use crate::domain::config::CloneProtocol;
use crate::domain::reference::RepoRef;
use crate::domain::remote::Remote;

/// The names of remotes that come before others that are the item's too.
const FIRST: [&str; 2] = ["origin", "upstream"];

/// The remote that is `repo`, among names with their addresses as the configuration has them. An address that names no
/// host is looked at as git would use it (`expanded` asks for that); one that does is not, so that a mirror nearby does
/// not hide whose repository it is.
pub fn remote_of<'r>(
    repo: &RepoRef,
    remotes: &'r [(String, String)],
    expanded: impl Fn(&str) -> Option<String>,
) -> Option<&'r str> {
    let is_own = |remote: &Remote| remote.repository().is_some_and(|found| found.is_same(repo));
    let own = remotes.iter().filter(|(name, raw)| {
        let remote = Remote::parse(raw).or_else(|| Remote::parse(&expanded(name)?));
        remote.as_ref().is_some_and(is_own)
    });
    let rank = |name: &str| FIRST.iter().position(|first| *first == name).unwrap_or(FIRST.len());
    own.map(|(name, _)| name.as_str()).min_by_key(|name| rank(name))
}

/// The address a repository is cloned from; it never holds a credential.
pub fn address(repo: &RepoRef, protocol: CloneProtocol) -> String {
    let (host, owner, name) = (repo.host(), repo.owner(), repo.name());
    match protocol {
        CloneProtocol::Https => format!("https://{host}/{owner}/{name}.git"),
        // A port of the web is none of ssh.
        CloneProtocol::Ssh => format!("git@{}:{owner}/{name}.git", host.split(':').next().unwrap_or(host)),
    }
}

/// The branch new work begins at: what the remote calls its default, as last fetched, else its `main`, else its `master`.
/// `head` is what `refs/remotes/<remote>/HEAD` points to, `has` tells whether there is a reference.
pub fn default_branch(remote: &str, head: Option<&str>, has: impl Fn(&str) -> bool) -> Option<String> {
    let usual = ["main", "master"].map(|name| format!("refs/remotes/{remote}/{name}"));
    head.map(str::to_owned).into_iter().chain(usual).find(|name| has(name))
}

/// What git said, without what stands before the host in an address: it can be a credential.
pub fn scrub(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        clean.push_str(before);
        let end = after.find(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '`')).unwrap_or(after.len());
        // The last one: a password that was not encoded may hold both `@` and `/`.
        let user = after[..end].rfind('@').map_or(0, |at| at + 1);
        rest = &after[user..];
    }
    clean.push_str(rest);
    clean
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::own(&[("origin", "https://github.com/octo/hello.git")], Some("origin"))]
    #[case::fork(&[("origin", "git@github.com:mona/hello.git"), ("upstream", "https://github.com/Octo/Hello")], Some("upstream"))]
    #[case::both(&[("zzz", "https://github.com/octo/hello"), ("origin", "git@github.com:octo/hello")], Some("origin"))]
    #[case::any_name(&[("company", "ssh://git@github.com/octo/hello")], Some("company"))]
    #[case::with_a_credential(&[("origin", "https://x:y@github.com/octo/hello")], Some("origin"))]
    #[case::u05_expanded(&[("origin", "gh:octo/hello")], Some("origin"))]
    #[case::local(&[("origin", "/srv/mirror/hello.git")], None)]
    #[case::another(&[("origin", "https://github.com/octo/hello-world")], None)]
    #[case::another_host(&[("origin", "https://ghe.example/octo/hello")], None)]
    #[case::none(&[], None)]
    fn the_remote_of_an_item_is_found_by_what_it_names(#[case] remotes: &[(&str, &str)], #[case] want: Option<&str>) {
        let repo = RepoRef::parse("github:octo/hello").unwrap();
        let remotes: Vec<_> = remotes.iter().map(|(name, raw)| ((*name).to_owned(), (*raw).to_owned())).collect();
        let expanded = |name: &str| {
            let (_, raw) = remotes.iter().find(|(known, _)| known == name)?;
            Some(raw.replace("gh:", "https://github.com/"))
        };
        assert_eq!(remote_of(&repo, &remotes, expanded), want);
    }

    #[test]
    fn u05_an_address_that_names_a_host_is_not_expanded() {
        let repo = RepoRef::parse("github:octo/hello").unwrap();
        let remotes = [("origin".to_owned(), "https://github.com/octo/hello".to_owned())];
        let never = |name: &str| panic!("{name} was expanded");
        assert_eq!(remote_of(&repo, &remotes, never), Some("origin"));
    }

    #[test]
    fn a_clone_is_made_from_an_address_that_names_the_item() {
        for (repo, https, ssh) in [
            ("github:octo/hello", "https://github.com/octo/hello.git", "git@github.com:octo/hello.git"),
            ("github:ghe.example:8443/a/b", "https://ghe.example:8443/a/b.git", "git@ghe.example:a/b.git"),
        ] {
            let repo = RepoRef::parse(repo).unwrap();
            assert_eq!(address(&repo, CloneProtocol::Https), https);
            assert_eq!(address(&repo, CloneProtocol::Ssh), ssh);
        }
    }

    #[rstest]
    #[case(Some("refs/remotes/up/trunk"), &["refs/remotes/up/trunk", "refs/remotes/up/main"], Some("refs/remotes/up/trunk"))]
    #[case::dangling(Some("refs/remotes/up/gone"), &["refs/remotes/up/master"], Some("refs/remotes/up/master"))]
    #[case(None, &["refs/remotes/up/master", "refs/remotes/up/main"], Some("refs/remotes/up/main"))]
    #[case::of_another(None, &["refs/remotes/origin/main", "refs/heads/main"], None)]
    fn work_begins_at_the_default_branch_of_that_remote(
        #[case] head: Option<&str>,
        #[case] there: &[&str],
        #[case] want: Option<&str>,
    ) {
        assert_eq!(default_branch("up", head, |name| there.contains(&name)).as_deref(), want);
    }

    #[test]
    fn u03_what_git_says_is_told_without_credentials() {
        for (said, told) in [
            (
                "unable to access 'https://u:p@ss/w@host.example/a/b.git/': 403",
                "unable to access 'https://host.example/a/b.git/': 403",
            ),
            ("ssh://git@h/a and http://t@h/b", "ssh://h/a and http://h/b"),
            ("nothing here @ all", "nothing here @ all"),
            ("https://host/plain", "https://host/plain"),
        ] {
            assert_eq!(scrub(said), told);
        }
    }

    proptest! {
        #[test]
        fn u03_no_secret_stays_whatever_is_around_it(before in "[a-z: ']{0,9}", secret in "Q[A-Z/:@%]{3,12}", after in "[a-z/.]{0,9}") {
            let told = scrub(&format!("{before}https://user:{secret}@host.example/{after}"));
            prop_assert!(!told.contains('Q'), "{told}");
            prop_assert!(told.contains("host.example"), "{told}");
        }
    }
}
