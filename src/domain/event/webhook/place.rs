//! Where an event happened: host, repository and its id.

use super::payload::{Payload, Repo};
use crate::domain::event::{Identity, Repository};
use crate::domain::reference::{DEFAULT_HOST, RepoRef};

const PROVIDER: &str = "github";

/// The repository of a payload, when it names one.
pub(super) fn repository(payload: &Payload) -> Option<Repository> {
    let repo = payload.repository.as_ref()?;
    let enterprise = payload.enterprise.as_ref().and_then(|enterprise| enterprise.html_url.as_deref());
    let host = host(repo).or_else(|| enterprise.and_then(host_of)).unwrap_or_else(|| DEFAULT_HOST.to_owned());
    Some(Repository { reference: reference(repo, &host)?, id: repo.id.unwrap_or(0) })
}

/// Another repository a payload speaks of; without an address of its own it is on the same host.
pub(super) fn beside(repo: &Repo, here: &Repository) -> Option<RepoRef> {
    reference(repo, &host(repo).unwrap_or_else(|| here.reference.host().to_owned()))
}

/// A repository on the same host under a former owner or name.
pub(super) fn formerly(here: &Repository, owner: Option<&str>, name: Option<&str>) -> Option<RepoRef> {
    let now = &here.reference;
    RepoRef::new(PROVIDER, now.host(), owner.unwrap_or(now.owner()), name.unwrap_or(now.name())).ok()
}

/// Whether a repository object is this repository; by id where both have one, else by name.
pub(super) fn is_here(repo: &Repo, here: &Repository) -> bool {
    match (repo.id, here.id) {
        (Some(id), known) if known != 0 => id == known,
        _ => beside(repo, here).is_some_and(|repo| repo.is_same(&here.reference)),
    }
}

/// The identity of something that speaks here. Without a repository id its name keeps repositories apart.
pub(super) fn identity(here: &Repository, kind: &str, id: &str) -> Identity {
    let host = here.reference.host();
    match here.id {
        0 => Identity::new(host, 0, kind, &format!("{}/{}/{id}", here.reference.owner(), here.reference.name())),
        repository => Identity::new(host, repository, kind, id),
    }
}

fn reference(repo: &Repo, host: &str) -> Option<RepoRef> {
    let (owner, name) = match repo.full_name.as_deref().and_then(|full| full.split_once('/')) {
        Some(parts) => parts,
        None => (repo.owner.as_ref()?.login.as_deref()?, repo.name.as_deref()?),
    };
    RepoRef::new(PROVIDER, host, owner, name).ok()
}

fn host(repo: &Repo) -> Option<String> {
    [&repo.html_url, &repo.url].into_iter().find_map(|url| host_of(url.as_deref()?))
}

/// The host of a page or an API address, with its port when that is not the scheme's own: the API of github.com and
/// of `ghe.com` lives under `api.`, that of an Enterprise server beside its pages.
pub(super) fn host_of(url: &str) -> Option<String> {
    let (rest, default_port) = match (url.strip_prefix("https://"), url.strip_prefix("http://")) {
        (Some(rest), _) => (rest, ":443"),
        (_, Some(rest)) => (rest, ":80"),
        _ => return None,
    };
    let authority = rest.split(['/', '?', '#']).next()?.to_ascii_lowercase();
    let authority = authority.strip_suffix(default_port).unwrap_or(&authority);
    let host = match authority.strip_prefix("api.") {
        Some(site) if site == DEFAULT_HOST || site.ends_with(".ghe.com") => site,
        _ => authority,
    };
    (!host.is_empty() && RepoRef::new(PROVIDER, host, "o", "r").is_ok()).then(|| host.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_come_from_pages_and_from_api_addresses() {
        for (url, host) in [
            ("https://github.com/octo/hello", Some("github.com")),
            ("https://api.github.com/repos/octo/hello", Some("github.com")),
            ("https://GHE.corp.example:8443/octo/hello", Some("ghe.corp.example:8443")),
            ("https://ghe.corp.example/api/v3/repos/octo/hello", Some("ghe.corp.example")),
            ("https://ghe.corp.example:443/x", Some("ghe.corp.example")),
            ("http://ghe.corp.example:80", Some("ghe.corp.example")),
            ("https://api.octo.ghe.com/repos/a/b", Some("octo.ghe.com")),
            ("https://api.corp.example/repos/a/b", Some("api.corp.example")),
            ("https://user@evil.example/x", None),
            ("ftp://github.com/x", None),
            ("octo/hello", None),
            ("https:///x", None),
        ] {
            assert_eq!(host_of(url).as_deref(), host, "{url}");
        }
    }
}
