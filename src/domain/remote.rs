//! What the address of a git remote names: a repository on a host, or something on this machine.
//!
//! Three forms are read, as git reads them: `scheme://[user@]host[:port]/path`, `[user@]host:path` of scp, and paths.
//! A user part may hold a password: it is dropped before anything else happens and never leaves this module. `C:/x` is a
//! path here, though git on Linux takes `C` for a host; nobody means that.

use std::fmt;

use super::reference::{DEFAULT_HOST, RepoRef};

/// A repository on a host. Two are equal when they are one repository, however their addresses are written.
#[derive(Debug, Clone)]
pub struct Remote {
    scheme: Scheme,
    host: String,
    port: Option<u16>,
    path: String,
}

/// How a host is reached; decides which port is none and which belongs to another service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scheme {
    Web,
    Ssh,
    Git,
}

impl Scheme {
    fn parse(text: &str) -> Option<Self> {
        match text.to_ascii_lowercase().as_str() {
            "https" | "http" => Some(Self::Web),
            "ssh" | "git+ssh" | "ssh+git" => Some(Self::Ssh),
            "git" => Some(Self::Git),
            _ => None,
        }
    }

    const fn default_ports(self) -> &'static [u16] {
        match self {
            Self::Web => &[443, 80],
            Self::Ssh => &[22],
            Self::Git => &[9418],
        }
    }
}

impl Remote {
    /// What `address` names on a host; `None` for what lies on this machine, and for what is no address.
    pub fn parse(address: &str) -> Option<Self> {
        let address = address.trim();
        if address.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return None;
        }
        let (scheme, authority, path) = match address.split_once("://") {
            Some((scheme, rest)) => {
                let (authority, path) = rest.split_once('/')?;
                (Scheme::parse(scheme)?, authority, path)
            }
            // A colon before any slash, and no drive letter: `host:path`.
            None => {
                let (authority, path) = scp(address)?;
                return Self::new(Scheme::Ssh, authority, None, path);
            }
        };
        let (host, port) = split_port(without_user(authority))?;
        Self::new(scheme, host, port.filter(|port| !scheme.default_ports().contains(port)), path)
    }

    fn new(scheme: Scheme, host: &str, port: Option<u16>, path: &str) -> Option<Self> {
        let host = host.to_ascii_lowercase();
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
        let is_host = host.contains('.') || port.is_some() || host == "localhost";
        let is_address = host.starts_with('[') && host.ends_with(']');
        if !(is_host && host.chars().all(is_name) || is_address) {
            return None;
        }
        let path = path.split(['?', '#']).next()?.trim_matches('/');
        let path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/');
        if path.is_empty() || path.split('/').any(|part| part == "..") {
            return None;
        }
        Some(Self { scheme, host, port, path: path.to_owned() })
    }

    /// The repository as work items name it, when the path is `owner/name`. The port of ssh and of git is another service's.
    pub fn repository(&self) -> Option<RepoRef> {
        let (owner, name) = self.path.split_once('/')?;
        let host = match self.port.filter(|_| self.scheme == Scheme::Web) {
            Some(port) => format!("{}:{port}", self.host),
            None => self.host.clone(),
        };
        RepoRef::new("github", &host, owner, name).ok()
    }
}

impl fmt::Display for Remote {
    /// `host[:port]/path`: equal exactly when two addresses name one repository.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.host)?;
        if let Some(port) = self.port {
            write!(f, ":{port}")?;
        }
        // GitHub compares owner and name without case; of other hosts nobody knows.
        match self.host == DEFAULT_HOST {
            true => write!(f, "/{}", self.path.to_ascii_lowercase()),
            false => write!(f, "/{}", self.path),
        }
    }
}

impl PartialEq for Remote {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for Remote {}

/// Host and path of the form of scp.
fn scp(address: &str) -> Option<(&str, &str)> {
    let bracketed = address.split_once('[').and_then(|(user, rest)| rest.split_once(']').map(|(host, _)| (user, host)));
    let colon = match bracketed {
        Some((user, host)) if user.is_empty() || user.ends_with('@') => user.len() + host.len() + 2,
        _ => address.find(':')?,
    };
    let (authority, rest) = address.split_at(colon);
    let path = rest.strip_prefix(':')?;
    (!authority.contains(['/', '\\'])).then_some((without_user(authority), path))
}

/// Host and port; the brackets of an IPv6 address stay with the host. `None` for a port that is none.
fn split_port(authority: &str) -> Option<(&str, Option<u16>)> {
    let end_of_host = authority.rfind(']').map_or(0, |at| at + 1);
    match authority[end_of_host..].find(':') {
        None => Some((authority, None)),
        Some(at) => {
            let port = &authority[end_of_host + at + 1..];
            let number = if port.is_empty() { None } else { Some(port.parse().ok()?) };
            Some((&authority[..end_of_host + at], number))
        }
    }
}

/// The last `@` ends the user part.
fn without_user(authority: &str) -> &str {
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLASSES: &str = include_str!("../../tests/data/git-url-classes.tsv");

    fn rows() -> Vec<(&'static str, &'static str)> {
        let lines = CLASSES.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        lines.map(|line| line.split_once('\t').expect("class and address")).collect()
    }

    #[test]
    fn u01_u04_u10_addresses_of_one_class_are_one_and_classes_differ() {
        let mut seen: Vec<(&str, String)> = Vec::new();
        for (class, address) in rows().into_iter().filter(|(class, _)| *class != "LOCAL") {
            let spelling = Remote::parse(address).unwrap_or_else(|| panic!("{address}")).to_string();
            for (other, known) in &seen {
                assert_eq!(*other == class, *known == spelling, "{address}: {spelling} beside {known}");
            }
            seen.push((class, spelling));
        }
        assert!(seen.len() > 20);
        let spelled = |address| Remote::parse(address).map(|remote| remote.to_string());
        assert_ne!(spelled("ssh://git@code.example/srv/A.git"), spelled("ssh://git@code.example/srv/a.git"));
        assert_eq!(spelled("https://github.com/Octo/Hello"), spelled("git@github.com:octo/hello"));
    }

    #[test]
    fn u08_what_lies_on_this_machine_has_no_host() {
        for (_, address) in rows().into_iter().filter(|(class, _)| *class == "LOCAL") {
            assert_eq!(Remote::parse(address), None, "{address}");
        }
        for address in ["", "gh:octo/hello", "https://github.com", "https://github.com/", "x y@h.x:a/b", "ext::sh -c x"]
        {
            assert_eq!(Remote::parse(address), None, "{address}");
        }
    }

    #[test]
    fn u02_a_port_is_no_path_and_a_path_is_no_port() {
        let spelled = |address: &str| Remote::parse(address).map(|remote| remote.to_string());
        assert_eq!(spelled("ssh://git@github.com:2222/octo/hello.git").as_deref(), Some("github.com:2222/octo/hello"));
        assert_eq!(spelled("git@github.com:2222/octo/hello.git").as_deref(), Some("github.com/2222/octo/hello"));
        assert_eq!(spelled("https://h.x:99999/a/b"), None);
        assert_eq!(spelled("git@[2001:db8::1]:a/b").as_deref(), Some("[2001:db8::1]/a/b"));
        assert_eq!(spelled("ssh://git@[2001:db8::1]:22/a/b").as_deref(), Some("[2001:db8::1]/a/b"));
    }

    #[test]
    fn u03_a_user_part_leaves_nothing_behind() {
        let plain = Remote::parse("https://github.com/octo/hello").unwrap();
        for user in ["user:p@ss@", "x-access-token:ghs_1@", "ghp_1@", "user:p%40ss@", ":@"] {
            let remote = Remote::parse(&format!("https://{user}github.com/octo/hello")).unwrap();
            assert_eq!(remote, plain, "{user}");
            assert!(!format!("{remote:?}").contains("ss"), "{user}");
        }
    }

    #[test]
    fn a_repository_is_named_as_work_items_name_it() {
        for (address, want) in [
            ("https://github.com/octo/hello.git", Some("github:octo/hello")),
            ("ssh://git@github.com:2222/octo/hello.git", Some("github:octo/hello")),
            ("https://ghe.example:8443/octo/hello", Some("github:ghe.example:8443/octo/hello")),
            ("company@company.ghe.example:octo/hello.git", Some("github:company.ghe.example/octo/hello")),
            ("git@github.com:2222/octo/hello.git", None),
            ("https://github.com/octo", None),
            ("https://github.com/Octo/Hello", Some("github:Octo/Hello")),
        ] {
            let repository = Remote::parse(address).and_then(|remote| remote.repository());
            assert_eq!(repository.map(|repo| repo.to_string()).as_deref(), want, "{address}");
        }
    }
}
