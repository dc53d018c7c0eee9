//! Where a request may go: only to the API of the host it is for, written out as it is sent.

use std::fmt;

use ureq::http::Uri;

use crate::domain::config::is_loopback;
use crate::domain::github::Target;

/// The base of one host's REST API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Base {
    origin: Origin,
    /// Without a slash at its end; empty for `https://api.github.com`.
    path: String,
}

/// Scheme, host and port of an address: what a token belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Origin {
    is_secure: bool,
    host: String,
    port: u16,
}

/// An address that the token of its host may be sent to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address(String);

/// An address outside the API, by its origin; for one that cannot be read, what is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Outside(pub String);

impl Origin {
    /// The origin and the path of an address; `None` for what is none, or carries a user.
    fn of(address: &str) -> Option<(Self, String)> {
        let uri: Uri = address.parse().ok()?;
        let is_secure = match uri.scheme_str()? {
            "https" => true,
            "http" => false,
            _ => return None,
        };
        let authority = uri.authority()?;
        let port = match authority.port() {
            Some(port) => port.as_str().parse().ok()?,
            None => {
                if is_secure {
                    443
                } else {
                    80
                }
            }
        };
        let host = authority.host().to_ascii_lowercase();
        let plain = !host.is_empty() && !authority.as_str().contains('@');
        plain.then(|| (Self { is_secure, host, port }, uri.path().to_owned()))
    }

    fn is_local(&self) -> bool {
        is_loopback(&self.host)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, usual) = if self.is_secure { ("https", 443) } else { ("http", 80) };
        match self.port == usual {
            true => write!(f, "{scheme}://{}", self.host),
            false => write!(f, "{scheme}://{}:{}", self.host, self.port),
        }
    }
}

impl Base {
    /// The base as configured; `None` for no address, or one that would carry a token over a network in clear.
    pub fn parse(address: &str) -> Option<Self> {
        let (origin, path) = Origin::of(address)?;
        let safe = (origin.is_secure || origin.is_local()) && is_plain(&path) && !address.contains(['?', '#']);
        safe.then(|| Self { path: path.trim_end_matches('/').to_owned(), origin })
    }

    /// Whether it is on this machine: such an address is never asked through a proxy.
    pub fn is_local(&self) -> bool {
        self.origin.is_local()
    }

    /// The address of `target`.
    pub fn address(&self, target: &Target) -> Result<Address, Outside> {
        match target {
            // The check is the same: a path that does not begin with a slash would change the host.
            Target::Path(path) => self.below(format!("{}{}{path}", self.origin, self.path)),
            // A link is a reference (RFC 8288, section 3.1): without a host it is of the API it stands in.
            Target::Link(path) if path.starts_with('/') && !path.starts_with("//") => {
                self.below(format!("{}{path}", self.origin))
            }
            Target::Link(address) => self.below(address.clone()),
            Target::GraphQl => {
                let above = self.path.strip_suffix("/v3").filter(|path| path.ends_with("/api"));
                Ok(Address(format!("{}{}/graphql", self.origin, above.unwrap_or(&self.path))))
            }
        }
    }

    /// Where a redirect leads: the origin is the same, or the token does not go there. `None` when the header names no
    /// place we follow to.
    pub fn redirect(&self, location: &str) -> Option<Result<Address, Outside>> {
        let address = match location.as_bytes() {
            [b'/', b'/', ..] => format!("{}:{location}", if self.origin.is_secure { "https" } else { "http" }),
            [b'/', ..] => format!("{}{location}", self.origin),
            _ if location.contains("://") => location.to_owned(),
            _ => return None,
        };
        Some(match Origin::of(&address) {
            Some((origin, _)) if origin == self.origin => Ok(Address(address)),
            other => Err(outside(other)),
        })
    }

    /// The address as it is, when it is of this API.
    fn below(&self, address: String) -> Result<Address, Outside> {
        match Origin::of(&address) {
            Some((origin, path))
                if origin == self.origin
                    && path.strip_prefix(&self.path).is_some_and(|rest| rest.starts_with('/'))
                    && is_plain(&path) =>
            {
                Ok(Address(address))
            }
            other => Err(outside(other)),
        }
    }
}

impl Address {
    /// As it is sent.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn outside(found: Option<(Origin, String)>) -> Outside {
    Outside(found.map_or_else(|| "which cannot be read".to_owned(), |(origin, _)| format!("`{origin}`")))
}

/// Whether no part of the path climbs out of its place, however it is written.
fn is_plain(path: &str) -> bool {
    let climbs = |part: &str| matches!(part.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..");
    !path.contains('\\') && !path.split('/').any(climbs)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const GHE: &str = "https://ghe.example/api/v3";
    const DOT_COM: &str = "https://api.github.com";

    fn sent(base: &str, target: &Target) -> Result<String, String> {
        let found = Base::parse(base).unwrap().address(target);
        found.map(|address| address.as_str().to_owned()).map_err(|outside| outside.0)
    }

    #[rstest]
    #[case(DOT_COM, "/repos/o/r/issues?state=all", "https://api.github.com/repos/o/r/issues?state=all")]
    #[case("https://api.github.com/", "/rate_limit", "https://api.github.com/rate_limit")]
    #[case(GHE, "/repos/o/r", "https://ghe.example/api/v3/repos/o/r")]
    #[case("https://GHE.example:8443/api/v3/", "/x", "https://ghe.example:8443/api/v3/x")]
    #[case("http://[::1]:80/x", "/y", "http://[::1]/x/y")]
    fn a_path_is_below_the_base(#[case] base: &str, #[case] path: &str, #[case] want: &str) {
        assert_eq!(sent(base, &Target::Path(path.into())), Ok(want.to_owned()));
    }

    #[rstest]
    #[case(DOT_COM, ".evil.example/x")]
    #[case(DOT_COM, "@evil.example/x")]
    #[case(DOT_COM, ":8080/x")]
    #[case(GHE, "")]
    #[case(GHE, "/../../login")]
    #[case(GHE, "/%2E%2e/login")]
    #[case(GHE, "x")]
    #[case(GHE, "/a b")]
    fn a_path_changes_neither_host_nor_api(#[case] base: &str, #[case] path: &str) {
        assert!(sent(base, &Target::Path(path.into())).is_err());
    }

    #[rstest]
    #[case(DOT_COM, "https://api.github.com/graphql")]
    #[case(GHE, "https://ghe.example/api/graphql")]
    #[case("https://ghe.example/x/api/v3/", "https://ghe.example/x/api/graphql")]
    #[case("http://127.0.0.1:9/v3", "http://127.0.0.1:9/v3/graphql")]
    fn graphql_has_its_own_place(#[case] base: &str, #[case] want: &str) {
        assert_eq!(sent(base, &Target::GraphQl), Ok(want.to_owned()));
    }

    #[rstest]
    #[case(GHE, "https://ghe.example/api/v3/repositories/101/issues?page=2")]
    #[case(GHE, "https://GHE.example:443/api/v3/repositories/101/issues?page=%32")]
    #[case(DOT_COM, "https://api.github.com/repositories/101/issues?after=Y%3D%3D")]
    fn q11_a_link_is_sent_exactly_as_written(#[case] base: &str, #[case] link: &str) {
        assert_eq!(sent(base, &Target::Link(link.into())), Ok(link.to_owned()));
    }

    #[test]
    fn q11_a_link_without_a_host_is_of_its_own_api() {
        let link = Target::Link("/api/v3/repositories/101/issues?page=2".into());
        assert_eq!(sent(GHE, &link), Ok("https://ghe.example/api/v3/repositories/101/issues?page=2".into()));
    }

    #[rstest]
    #[case(GHE, "https://evil.example/api/v3/x", "`https://evil.example`")]
    #[case(GHE, "https://ghe.example.evil/api/v3/x", "`https://ghe.example.evil`")]
    #[case(GHE, "https://ghe.example:444/api/v3/x", "`https://ghe.example:444`")]
    #[case(GHE, "http://ghe.example/api/v3/x", "`http://ghe.example`")]
    #[case(GHE, "https://ghe.example/api/v3evil/x", "`https://ghe.example`")]
    #[case(GHE, "https://ghe.example/login", "`https://ghe.example`")]
    #[case(GHE, "https://ghe.example/api/v3/../../login", "`https://ghe.example`")]
    #[case(GHE, "https://ghe.example@evil.example/api/v3/x", "which cannot be read")]
    #[case(GHE, "https://user@ghe.example/api/v3/x", "which cannot be read")]
    #[case(GHE, "https://evil.example\\@ghe.example/api/v3/x", "which cannot be read")]
    #[case(GHE, "//ghe.example/api/v3/x", "which cannot be read")]
    #[case(GHE, "/login", "`https://ghe.example`")]
    #[case(GHE, "/api/v3/../../login", "`https://ghe.example`")]
    #[case(GHE, "/\\evil.example/api/v3/x", "`https://ghe.example`")]
    #[case(GHE, "?page=2", "which cannot be read")]
    #[case(GHE, "ftp://ghe.example/api/v3/x", "which cannot be read")]
    #[case(DOT_COM, "https://github.com/x", "`https://github.com`")]
    fn k72_a_link_to_another_place_is_refused(#[case] base: &str, #[case] link: &str, #[case] origin: &str) {
        assert_eq!(sent(base, &Target::Link(link.into())), Err(origin.to_owned()));
    }

    #[rstest]
    #[case("/api/v3/repositories/7", Some(Ok("https://ghe.example/api/v3/repositories/7")))]
    #[case("https://ghe.example/api/v3/repositories/7", Some(Ok("https://ghe.example/api/v3/repositories/7")))]
    #[case("//evil.example/x", Some(Err("`https://evil.example`")))]
    #[case("https://api.github.com/repositories/7", Some(Err("`https://api.github.com`")))]
    #[case("http://ghe.example/api/v3/x", Some(Err("`http://ghe.example`")))]
    #[case("https://ghe.example:1/x", Some(Err("`https://ghe.example:1`")))]
    #[case("javascript://x", Some(Err("which cannot be read")))]
    #[case("issues/5", None)]
    #[case("", None)]
    fn k72_a_redirect_stays_at_its_origin(#[case] location: &str, #[case] want: Option<Result<&str, &str>>) {
        let found = Base::parse(GHE).unwrap().redirect(location);
        let found =
            found.as_ref().map(|found| found.as_ref().map(Address::as_str).map_err(|outside| outside.0.as_str()));
        assert_eq!(found, want);
    }

    #[test]
    fn a_token_is_not_sent_in_clear_over_a_network() {
        for address in
            ["http://ghe.example/api/v3", "ghe.example", "https://u:p@ghe.example", "https://h/../x", "https://h?x"]
        {
            assert_eq!(Base::parse(address), None, "{address}");
        }
        assert!(Base::parse("http://127.0.0.1:9").unwrap().is_local());
        assert!(!Base::parse(GHE).unwrap().is_local());
    }
}
