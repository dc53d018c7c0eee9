//! References to work items, their database keys, URLs and file-name slugs (`state` rules, section 1).
//!
//! A reference is `<provider>:[<host>/]<owner>/<repo>#<number>`. It keeps GitHub's own spelling for display and
//! file names; identity ignores ASCII case and lives in [`RefKey`].

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

/// The host that is never written out.
pub const DEFAULT_HOST: &str = "github.com";
/// Largest work-item number: 2^53 - 1, what every JSON reader can hold.
pub const MAX_NUMBER: u64 = (1 << 53) - 1;
/// Longest slug in bytes, so that `<slug>.<8 hex>.json`, a random infix and `.tmp` fit in a 255-byte file name.
pub const MAX_SLUG_BYTES: usize = 200;

/// Why a text is not a reference; names the part that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a work item reference: {reason}")]
pub struct RefError {
    text: String,
    reason: &'static str,
}

/// A repository on a host, in GitHub's spelling. A decision copies it many times, so copies share its parts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepoRef(Arc<Parts>);

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Parts {
    provider: String,
    host: String,
    owner: String,
    name: String,
    /// Follows from the others, and is asked for more often than they are.
    key: String,
}

/// A work item: an issue or a pull request of one repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkItemRef {
    repo: RepoRef,
    number: u64,
}

/// The lower-cased reference: the identity of a work item and its key in the store.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RefKey(String);

/// A file-name-safe name for a work item. Not injective: a file belongs to the reference inside it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slug(String);

impl RepoRef {
    /// A repository on `host` (`github.com` when empty), parts checked against GitHub's alphabet.
    pub fn new(provider: &str, host: &str, owner: &str, name: &str) -> Result<Self, RefError> {
        let text = || format!("{provider}:{host}/{owner}/{name}");
        let fail = |reason| Err(RefError { text: text(), reason });
        let host = if host.is_empty() { DEFAULT_HOST } else { host };
        if !is_provider(provider) {
            return fail("the provider is lower-case letters, digits and `-`, beginning with a letter");
        }
        if !is_host(host) {
            return fail("the host is a dotted name, or a bare name with a port");
        }
        if !is_segment(owner) || !is_segment(name) {
            return fail("owner and repository are letters, digits, `.`, `_` and `-`, and not `.` or `..`");
        }
        let host = if host.eq_ignore_ascii_case(DEFAULT_HOST) { DEFAULT_HOST } else { host };
        let mut key = spelled(provider, host, owner, name);
        key.make_ascii_lowercase();
        let [provider, host, owner, name] = [provider, host, owner, name].map(str::to_owned);
        Ok(Self(Arc::new(Parts { provider, host, owner, name, key })))
    }

    /// Parses `owner/repo` or `host/owner/repo`, with or without a leading `provider:`.
    pub fn parse(text: &str) -> Result<Self, RefError> {
        let trimmed = text.trim();
        let (provider, path) = match trimmed.split_once(':') {
            Some((provider, path)) if is_provider(provider) && path.contains('/') => (provider, path),
            _ => ("github", trimmed),
        };
        let fail = |reason| Err(RefError { text: trimmed.to_owned(), reason });
        match path.split('/').collect::<Vec<_>>().as_slice() {
            [owner, name] => Self::new(provider, "", owner, name),
            [host, owner, name] if is_host(host) => Self::new(provider, host, owner, name),
            [_, _, _] => fail("with three parts the first is a host: a dotted name, or a bare name with a port"),
            _ => fail("it is `owner/repo#number`, with a host in front when it is not github.com"),
        }
        .map_err(|error| RefError { text: trimmed.to_owned(), reason: error.reason })
    }

    /// The item of this repository with this number.
    pub fn item(&self, number: u64) -> Result<WorkItemRef, RefError> {
        if number == 0 || number > MAX_NUMBER {
            return Err(RefError { text: format!("{self}#{number}"), reason: NUMBER_RULE });
        }
        Ok(WorkItemRef { repo: self.clone(), number })
    }

    /// Lower-case identity of the repository: `github:octo/repo`, with the host when it is not github.com.
    pub fn key(&self) -> String {
        self.0.key.clone()
    }

    /// Who hosts it: `github`.
    pub fn provider(&self) -> &str {
        &self.0.provider
    }

    /// The host, `github.com` included.
    pub fn host(&self) -> &str {
        &self.0.host
    }

    /// The owner in GitHub's spelling.
    pub fn owner(&self) -> &str {
        &self.0.owner
    }

    /// The repository's name in GitHub's spelling.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Whether both name the same repository, ASCII case aside.
    pub fn is_same(&self, other: &RepoRef) -> bool {
        self.0.key == other.0.key
    }
}

/// As it is shown.
fn spelled(provider: &str, host: &str, owner: &str, name: &str) -> String {
    match host {
        DEFAULT_HOST => [provider, ":", owner, "/", name].concat(),
        _ => [provider, ":", host, "/", owner, "/", name].concat(),
    }
}

const NUMBER_RULE: &str = "the number is 1 to 9007199254740991, digits only";

/// Whether a text is the number of an item.
fn is_number(text: &str) -> bool {
    let digits = !text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit());
    digits && text.parse().is_ok_and(|number: u64| (1..=MAX_NUMBER).contains(&number))
}

impl WorkItemRef {
    /// Parses a reference; surrounding white space is trimmed.
    pub fn parse(text: &str) -> Result<Self, RefError> {
        let trimmed = text.trim();
        let fail = |reason| RefError { text: trimmed.to_owned(), reason };
        let (path, number) = trimmed.rsplit_once('#').ok_or_else(|| fail("it ends in `#` and a number"))?;
        let (provider, _) = path.split_once(':').ok_or_else(|| fail("it begins with a provider such as `github:`"))?;
        if !is_provider(provider) {
            return Err(fail("the provider is lower-case letters, digits and `-`, beginning with a letter"));
        }
        if !is_number(number) {
            return Err(fail(NUMBER_RULE));
        }
        let number: u64 = number.parse().map_err(|_| fail(NUMBER_RULE))?;
        let repo = RepoRef::parse(path).map_err(|error| fail(error.reason))?;
        repo.item(number).map_err(|error| fail(error.reason))
    }

    /// The repository.
    pub fn repo(&self) -> &RepoRef {
        &self.repo
    }

    /// The number on the ticket.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Identity, ASCII case ignored.
    pub fn key(&self) -> RefKey {
        RefKey([&self.repo.0.key, "#", &self.number.to_string()].concat())
    }

    /// `https://<host>/<owner>/<repo>/issues/<number>`; GitHub redirects it for pull requests.
    pub fn url(&self) -> String {
        let Parts { host, owner, name, .. } = self.repo.0.as_ref();
        format!("https://{host}/{owner}/{name}/issues/{}", self.number)
    }

    /// The file-name slug: `github-octo-repo-15`.
    pub fn slug(&self) -> Slug {
        let path = self.to_string();
        let (repo, _) = path.rsplit_once('#').unwrap_or((&path, ""));
        let (provider, path) = repo.split_once(':').unwrap_or(("", repo));
        let full = squeeze(&format!("{provider}-{}-{}", path.replace('/', "-"), self.number));
        if full.len() <= MAX_SLUG_BYTES {
            return Slug(full);
        }
        let tail = format!(".{}-{}", self.key().short_hash(), self.number);
        Slug(format!("{}{tail}", &full[..MAX_SLUG_BYTES - tail.len()]))
    }
}

impl RefKey {
    /// A key out of its own text: what [`WorkItemRef::parse`] reads and makes the same key of. Tables are full of keys,
    /// and this makes nothing but the one.
    pub fn parse(text: &str) -> Option<Self> {
        let (path, number) = text.rsplit_once('#')?;
        let (provider, path) = path.split_once(':')?;
        let mut parts = path.rsplitn(3, '/');
        let (name, owner, host) = (parts.next()?, parts.next()?, parts.next());
        let lower = !text.bytes().any(|byte| byte.is_ascii_uppercase());
        let is_key = lower
            && is_provider(provider)
            && host.is_none_or(|host| is_host(host) && host != DEFAULT_HOST)
            && is_segment(owner)
            && is_segment(name)
            && is_number(number);
        is_key.then(|| Self(text.to_owned()))
    }

    /// The key as text: the lower-cased reference.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// First 8 hex digits of SHA-256 of the key; tells equal slugs apart.
    pub fn short_hash(&self) -> String {
        hex(&Sha256::digest(self.0.as_bytes())[..4])
    }
}

impl Slug {
    /// The slug as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// `<slug>.json`, the portable file's usual name.
    pub fn file_name(&self) -> String {
        format!("{}.json", self.0)
    }

    /// `<slug>.<hash>.json`, used when the usual name belongs to another reference.
    pub fn file_name_with(&self, key: &RefKey) -> String {
        format!("{}.{}.json", self.0, key.short_hash())
    }
}

/// Lower-case hex of bytes.
pub fn hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

fn is_provider(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

fn is_segment(text: &str) -> bool {
    !text.is_empty() && text != "." && text != ".." && text.bytes().all(is_name_byte)
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-')
}

/// A dotted name with an optional port, or a bare name with a port.
fn is_host(text: &str) -> bool {
    let (name, port) = match text.split_once(':') {
        Some((name, port)) => (name, Some(port)),
        None => (text, None),
    };
    let labels_ok = name.split('.').all(|label| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    });
    let port_ok = port.is_none_or(|port| {
        !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|p| p > 0)
    });
    labels_ok && port_ok && (name.contains('.') || port.is_some())
}

/// Every run outside `[A-Za-z0-9._-]` becomes one `-`.
fn squeeze(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut in_run = false;
    for byte in text.bytes() {
        if is_name_byte(byte) {
            out.push(char::from(byte));
            in_run = false;
        } else if !in_run {
            out.push('-');
            in_run = true;
        }
    }
    out
}

impl fmt::Display for RepoRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts { provider, host, owner, name, .. } = self.0.as_ref();
        f.write_str(&spelled(provider, host, owner, name))
    }
}

impl fmt::Display for WorkItemRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.repo, self.number)
    }
}

impl fmt::Display for RefKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Slug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for WorkItemRef {
    type Err = RefError;
    fn from_str(text: &str) -> Result<Self, RefError> {
        Self::parse(text)
    }
}

impl Serialize for WorkItemRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for WorkItemRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

impl Serialize for RepoRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RepoRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_references_print_as_they_are_written() {
        for text in [
            "github:octo/repo#15",
            "github:ghe.corp.example:8443/octo/repo#15",
            "github:ghe:8443/octo/repo#1",
            "gitlab-x:Octo/He.l_l-o#9007199254740991",
        ] {
            assert_eq!(WorkItemRef::parse(&format!(" {text}\n")).unwrap().to_string(), text);
        }
        let spelled_out = WorkItemRef::parse("github:GitHub.com/octo/repo#15").unwrap();
        assert_eq!(spelled_out.to_string(), "github:octo/repo#15");
    }

    #[test]
    fn bad_references_are_errors() {
        for text in [
            "",
            "octo/repo#15",
            "github:octo/repo",
            "github:octo/repo#0",
            "github:octo/repo#-1",
            "github:octo/repo#+1",
            "github:octo/repo#9007199254740992",
            "github:octo/repo/sub#15",
            "github:octo#15",
            "github:../repo#15",
            "github:octo/.#15",
            "GitHub:octo/repo#1",
            "github:octo/re po#1",
            "github:octo/repo#1#2",
            "github:ghe/octo/repo#1",
            "github:a.b:0/octo/repo#1",
            "github:octo/repo#015",
            "github:.x.y/octo/repo#1",
            "github:octo/réo#1",
            "github:octo/repo#1x",
        ] {
            assert!(WorkItemRef::parse(text).is_err(), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_key_is_read_where_a_reference_would_make_it(
            text in "(github|x-1|1|G|):?((ghe\\.x|github\\.com|ghe:80|a|)/)?(octo|O|\\.|a b)/(he\\.l|\\.\\.|B)?(#|/)(0|1|15|01|-1|x|)( |#1)?",
        ) {
            let made = WorkItemRef::parse(&text).ok().map(|reference| reference.key());
            let wanted = made.filter(|key| key.as_str() == text);
            proptest::prop_assert_eq!(RefKey::parse(&text), wanted, "{}", text);
        }
    }

    #[test]
    fn identity_ignores_case_and_slugs_do_not_hide_it() {
        let a = WorkItemRef::parse("github:Octo/Hello#1").unwrap();
        let b = WorkItemRef::parse("github:octo/hello#1").unwrap();
        assert_eq!(a.key(), b.key());
        assert_eq!(a.slug().as_str(), "github-Octo-Hello-1");
        let c = WorkItemRef::parse("github:a/b-c#1").unwrap();
        let d = WorkItemRef::parse("github:a-b/c#1").unwrap();
        assert_eq!(c.slug(), d.slug());
        assert_ne!(c.slug().file_name_with(&c.key()), d.slug().file_name_with(&d.key()));
    }

    #[test]
    fn f14_long_names_fit_and_stay_apart() {
        let long = "x".repeat(300);
        let a = WorkItemRef::parse(&format!("github:octo/{long}a#7")).unwrap();
        let b = WorkItemRef::parse(&format!("github:octo/{long}b#7")).unwrap();
        assert!(a.slug().as_str().len() <= MAX_SLUG_BYTES);
        assert_ne!(a.slug(), b.slug());
        assert_eq!(
            WorkItemRef::parse("github:ghe.x:8443/octo/repo#15").unwrap().slug().as_str(),
            "github-ghe.x-8443-octo-repo-15"
        );
    }
}
