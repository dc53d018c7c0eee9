//! What texts in the configuration must satisfy, each test with the sentence that explains it.

use std::net::IpAddr;

use crate::domain::reference::RepoRef;

use super::schema::TextRule;

/// A rule that a static table can hold.
macro_rules! rule {
    ($(#[$doc:meta])* $name:ident: $must:literal, $holds:expr) => {
        $(#[$doc])*
        pub static $name: TextRule = TextRule { must: $must, holds: $holds };
    };
}

rule!(
    /// Something a person can see.
    FILLED: "not be empty, and stand on one line",
    |text| !text.trim().is_empty() && one_line(text)
);
rule!(
    /// Possibly empty.
    LINE: "stand on one line", one_line
);
rule!(
    /// A path that must be there.
    PATH: "be a path", |text| !text.trim().is_empty() && one_line(text)
);
rule!(
    /// A file, or empty for the default. The earlier system took templates as text, which shows by its lines.
    FILE: "be a path, or empty", one_line
);
rule!(
    /// A host to listen on.
    BIND: "be a host name or an address", |text| {
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b':' | b'[' | b']' | b'_'))
    }
);
rule!(
    /// The path the receiver answers.
    URL_PATH: "begin with `/` and hold letters, digits, `/`, `-`, `_`, `.` and `~` only", |text| {
        text.starts_with('/')
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'-' | b'_' | b'.' | b'~'))
    }
);
rule!(
    /// The address of an API: a token goes there, so it is `https` except on this machine.
    API_URL: "be an `https://` address without user, query or fragment (`http://` only on this machine)", is_api_url
);
rule!(
    /// An API of another host, or empty for its usual address.
    HOST_API_URL: "be empty or an `https://` address without user, query or fragment (`http://` only on this machine)",
    |text| text.is_empty() || is_api_url(text)
);
rule!(
    /// The name of an environment variable.
    VARIABLE: "be the name of an environment variable: letters, digits and `_`, not beginning with a digit",
    is_variable
);
rule!(
    /// The name of an environment variable, or empty for none.
    VARIABLE_OR_NONE: "be empty or the name of an environment variable: letters, digits and `_`, not beginning with a digit",
    |text| text.is_empty() || is_variable(text)
);
rule!(
    /// A GitHub event.
    EVENT: "be the name of a GitHub event such as `issue_comment`", |text| {
        text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    }
);
rule!(
    /// A host with a configuration of its own.
    HOST: "be a host other than github.com: a dotted name with an optional port, or a bare name with a port", |text| {
        RepoRef::new("github", text, "o", "r").is_ok_and(|repo| repo.host() != crate::domain::reference::DEFAULT_HOST)
            && !text.is_empty()
    }
);
rule!(
    /// The name of a harness.
    HARNESS: "be lower-case letters, digits and `-`, beginning with a letter", |text| {
        text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    }
);
rule!(
    /// One argument; a NUL cannot stand in one.
    ARGUMENT: "hold no NUL", |text| !text.contains('\0')
);
rule!(
    /// One argument of a harness's command line.
    TEMPLATE: "hold no placeholder other than `{conversation}`, `{ref}` and `{cwd}`, and no NUL", is_template
);
rule!(
    /// A pattern that tmux looks for on the screen, inside a format: what ends the format or runs a command is refused.
    DIALOG: "not be empty, stand on one line, and hold none of `}` `,` `'` `#`", |text| {
        !text.trim().is_empty() && one_line(text) && !text.contains(['}', ',', '\'', '#'])
    }
);
rule!(
    /// The name of a tmux socket, empty for the user's own server.
    SOCKET: "be empty or letters, digits, `.`, `_` and `-`, not beginning with `.` or `-`", |text| {
        !text.starts_with(['.', '-']) && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
    }
);

/// GitHub's reactions; empty posts none.
pub const REACTIONS: &[&str] = &["", "+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"];

fn one_line(text: &str) -> bool {
    !text.chars().any(char::is_control)
}

fn is_variable(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

fn is_api_url(text: &str) -> bool {
    let plain =
        text.bytes().all(|b| b.is_ascii_graphic() && !matches!(b, b'@' | b'?' | b'#' | b'\\' | b'"' | b'<' | b'>'));
    let (rest, secure) = match (text.strip_prefix("https://"), text.strip_prefix("http://")) {
        (Some(rest), _) => (rest, true),
        (_, Some(rest)) => (rest, false),
        _ => return false,
    };
    let authority = rest.split('/').next().unwrap_or_default();
    let (host, port) = split_port(authority);
    let port_ok = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
    plain && !host.is_empty() && port_ok && (secure || is_loopback(host))
}

/// Host and port of an authority; the brackets of an IPv6 address stay with the host.
fn split_port(authority: &str) -> (&str, Option<&str>) {
    let end_of_host = authority.rfind(']').map_or(0, |at| at + 1);
    match authority[end_of_host..].find(':') {
        Some(at) => (&authority[..end_of_host + at], Some(&authority[end_of_host + at + 1..])),
        None => (authority, None),
    }
}

/// Whether a host means this machine only: `localhost`, 127.0.0.0/8 or `::1`.
pub fn is_loopback(host: &str) -> bool {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    match bare.parse::<IpAddr>() {
        Ok(IpAddr::V6(address)) => address.to_canonical().is_loopback(),
        Ok(IpAddr::V4(address)) => address.is_loopback(),
        Err(_) => bare.eq_ignore_ascii_case("localhost"),
    }
}

/// Every `{word}` is one that is filled in; other braces are text.
fn is_template(text: &str) -> bool {
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        rest = &rest[open + 1..];
        let Some(close) = rest.find('}') else { break };
        let word = rest[..close].trim();
        let is_word = !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
        if is_word && !matches!(&rest[..close], "conversation" | "ref" | "cwd") {
            return false;
        }
    }
    !text.contains('\0')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (rule, texts it takes, texts it refuses)
    type Row = (&'static TextRule, &'static [&'static str], &'static [&'static str]);

    const TABLE: &[Row] = &[
        (&FILLED, &["the-loop: auto"], &["", "  ", "a\nb"]),
        (&FILE, &["", "prompts/a.md"], &["line\nline", "a\0"]),
        (&BIND, &["127.0.0.1", "::1", "[::1]", "my-host.x"], &["", "a b", "a/b"]),
        (&URL_PATH, &["/", "/gh-webhook", "/a/b~c"], &["", "gh", "/a b", "/a?x", "/a#x", "/%2f"]),
        (
            &API_URL,
            &["https://api.github.com", "https://ghe.x:8443/api/v3", "http://127.0.0.1:9/x", "http://[::1]:80"],
            &[
                "",
                "api.github.com",
                "http://ghe.x",
                "https://",
                "https://a:0",
                "https://u:p@h",
                "https://h?x",
                "ftp://h",
                "https://h:x",
                "http://localhost.evil.example",
                "https://:80",
            ],
        ),
        (&HOST_API_URL, &["", "https://ghe.x/api/v3"], &["http://ghe.x"]),
        (&VARIABLE, &["A", "_a1"], &["", "1A", "A-B", "A=B"]),
        (&EVENT, &["issue_comment", "push"], &["", "Push", "issue-comment", "_x"]),
        (&HOST, &["ghe.corp.example:8443", "ghe:80"], &["github.com", "GitHub.com", "ghe", "", "a/b"]),
        (&HARNESS, &["claude", "my-agent2"], &["", "Claude", "-x", "a b"]),
        (
            &TEMPLATE,
            &["--resume={conversation}", "{ref}{cwd}", "{\"a\": 1}", "{", "{}"],
            &["{session}", "{ conversation }", "{Ref}", "x{cwd}{home}", "a\0"],
        ),
        (&DIALOG, &["Do you want to proceed?"], &["", "a}", "a,b", "it's", "#(date)", "a\nb"]),
        (&SOCKET, &["", "the-loop"], &["a/b", "-x", "..", "a b"]),
    ];

    #[test]
    fn every_rule_takes_and_refuses_what_it_says() {
        for (rule, good, bad) in TABLE {
            good.iter().for_each(|text| assert!((rule.holds)(text), "{text:?} must {}", rule.must));
            bad.iter().for_each(|text| assert!(!(rule.holds)(text), "{text:?} must {}", rule.must));
        }
    }

    #[test]
    fn loopback_is_this_machine_only() {
        for here in ["localhost", "LOCALHOST", "127.0.0.1", "127.9.9.9", "::1", "[::1]", "::ffff:127.0.0.1"] {
            assert!(is_loopback(here), "{here}");
        }
        for elsewhere in ["0.0.0.0", "::", "10.0.0.1", "localhost.evil.example", "127.0.0.1.evil.example", ""] {
            assert!(!is_loopback(elsewhere), "{elsewhere}");
        }
    }
}
