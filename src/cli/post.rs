//! One HTTP/1.1 request over a plain connection, for trying the receiver: no TLS, no redirects, no reuse.

use std::io::{self, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use crate::domain::config::GhWebhookConfig;

const CONNECT: Duration = Duration::from_secs(5);
/// Longest silence while sending or waiting for the answer.
const SILENCE: Duration = Duration::from_secs(30);
/// Most of an answer that is read, bytes.
const MAX_ANSWER: u64 = 1 << 20;

/// Where a payload goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Host without brackets.
    host: String,
    /// Port.
    port: u16,
    /// Path, beginning with `/`.
    path: String,
}

impl Target {
    /// Parses `http://host[:port][/path]`; the text of an error completes "the address …".
    pub fn parse(url: &str) -> Result<Self, &'static str> {
        let rest = url.strip_prefix("http://").ok_or("must begin with `http://`; there is no TLS here")?;
        if !rest.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("must hold no white space and no letters outside ASCII");
        }
        let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        if authority.contains('@') || path.contains('#') {
            return Err("must hold no user and no fragment");
        }
        let (host, port) = match authority.rsplit_once(':').filter(|(_, port)| !port.ends_with(']')) {
            Some((host, port)) => (host, port.parse().ok().filter(|port| *port > 0).ok_or("has no port like that")?),
            None => (authority, 80),
        };
        let host = bare(host);
        if host.is_empty() {
            return Err("names no host");
        }
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Ok(Self { host: host.to_owned(), port, path })
    }

    /// The receiver of a configuration, as this machine reaches it; `None` when its port is chosen at start.
    pub fn receiver(hook: &GhWebhookConfig) -> Option<Self> {
        let host = bare(&hook.host).to_owned();
        (hook.port != 0).then(|| Self { host, port: hook.port, path: hook.path.clone() }.on_loopback())
    }

    /// The same as this machine reaches it when it listens on every address.
    pub fn on_loopback(self) -> Self {
        let host = match self.host.as_str() {
            "0.0.0.0" => "127.0.0.1",
            "::" => "::1",
            host => host,
        };
        Self { host: host.to_owned(), ..self }
    }

    /// The address as a URL.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.authority(), self.path)
    }

    fn authority(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }
}

fn bare(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

/// What the other side said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The words beside it.
    pub reason: String,
    /// The body; bytes that are no UTF-8 are replaced.
    pub body: String,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum PostError {
    /// Nobody listens there, or the way is closed.
    #[error("could not reach it: {0}")]
    Unreachable(io::Error),
    /// The connection ended without an answer.
    #[error("it did not answer: {0}")]
    Silent(io::Error),
    /// What came back is not HTTP.
    #[error("its answer is not HTTP")]
    NotHttp,
}

/// Posts `body` and waits for the answer. Names and values of headers hold no line ends: the caller made them.
pub fn post(target: &Target, headers: &[(&str, String)], body: &[u8]) -> Result<Answer, PostError> {
    let mut stream = connect(target).map_err(PostError::Unreachable)?;
    let mut head = format!("POST {} HTTP/1.1\r\nHost: {}\r\n", target.path, target.authority());
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!("Content-Length: {}\r\nConnection: close\r\n\r\n", body.len()));
    let sent = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
    // A receiver may answer and hang up before it has read everything; its answer counts, not the failed write.
    let mut raw = Vec::new();
    let read = stream.take(MAX_ANSWER).read_to_end(&mut raw);
    match (sent, read, raw.is_empty()) {
        (Err(error), _, true) | (Ok(()), Err(error), true) => Err(PostError::Silent(error)),
        (Ok(()), Ok(_), true) => Err(PostError::Silent(io::ErrorKind::UnexpectedEof.into())),
        _ => answer(&raw).ok_or(PostError::NotHttp),
    }
}

/// Asks whether the receiver at `target` lives: `GET /healthz`, each step within `limit`.
pub fn health(target: &Target, limit: Duration) -> Result<Answer, PostError> {
    let mut stream = connect_within(target, limit, limit).map_err(PostError::Unreachable)?;
    let head = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", target.authority());
    stream.write_all(head.as_bytes()).map_err(PostError::Silent)?;
    let mut raw = Vec::new();
    stream.take(MAX_ANSWER).read_to_end(&mut raw).map_err(PostError::Silent)?;
    answer(&raw).ok_or(PostError::NotHttp)
}

fn connect(target: &Target) -> io::Result<TcpStream> {
    connect_within(target, CONNECT, SILENCE)
}

fn connect_within(target: &Target, limit: Duration, silence: Duration) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for address in (target.host.as_str(), target.port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, limit) {
            Ok(stream) => {
                stream.set_read_timeout(Some(silence))?;
                stream.set_write_timeout(Some(silence))?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Parses an answer; interim ones (1xx) are passed over.
fn answer(raw: &[u8]) -> Option<Answer> {
    let end = raw.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&raw[..end]).into_owned();
    let body = &raw[end + 4..];
    let mut lines = head.lines();
    let mut words = lines.next()?.strip_prefix("HTTP/1.")?.splitn(3, ' ');
    let status: u16 = words.nth(1)?.parse().ok()?;
    if (100..200).contains(&status) {
        return answer(body);
    }
    let chunked = lines.any(|line| {
        line.split_once(':').is_some_and(|(name, value)| {
            name.eq_ignore_ascii_case("transfer-encoding") && value.trim().eq_ignore_ascii_case("chunked")
        })
    });
    let body = if chunked { unchunk(body) } else { body.to_vec() };
    let reason = words.next().unwrap_or_default().trim().to_owned();
    Some(Answer { status, reason, body: String::from_utf8_lossy(&body).into_owned() })
}

/// Joins the chunks of a body; a broken one ends it.
fn unchunk(mut rest: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    while let Some(end) = rest.windows(2).position(|window| window == b"\r\n") {
        let size = std::str::from_utf8(&rest[..end]).ok().and_then(|line| line.split(';').next());
        let size = size.and_then(|size| usize::from_str_radix(size.trim(), 16).ok()).unwrap_or(0);
        let Some(chunk) = rest.get(end + 2..).and_then(|rest| rest.get(..size)).filter(|_| size > 0) else { break };
        out.extend_from_slice(chunk);
        rest = rest.get(end + 2 + size + 2..).unwrap_or_default();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_parsed_or_refused() {
        for (url, want) in [
            ("http://h", "http://h:80/"),
            ("http://h:8787/gh-webhook?x=1", "http://h:8787/gh-webhook?x=1"),
            ("http://[::1]:9/a", "http://[::1]:9/a"),
            ("http://[::1]", "http://[::1]:80/"),
            ("http://h?x", "http://h:80/?x"),
        ] {
            assert_eq!(Target::parse(url).map(|target| target.url()).as_deref(), Ok(want), "{url}");
        }
        for bad in [
            "https://h",
            "h:80",
            "http://",
            "http://:80",
            "http://h:0",
            "http://h:x",
            "http://u@h",
            "http://h/\r\nX: y",
            "http://h/#a",
        ] {
            assert!(Target::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_receiver_is_reached_where_this_machine_reaches_it() {
        let url = |host: &str, port| {
            let hook = GhWebhookConfig { host: host.into(), port, ..GhWebhookConfig::default() };
            Target::receiver(&hook).map(|target| target.url())
        };
        assert_eq!(url("0.0.0.0", 8787).as_deref(), Some("http://127.0.0.1:8787/gh-webhook"));
        assert_eq!(url("::", 1).as_deref(), Some("http://[::1]:1/gh-webhook"));
        assert_eq!(url("[::1]", 1).as_deref(), Some("http://[::1]:1/gh-webhook"));
        assert_eq!(url("127.0.0.1", 0), None);
    }

    #[test]
    fn answers_are_read_whole_chunked_and_after_an_interim_one() {
        let body = |raw: &str| answer(raw.as_bytes()).map(|answer| (answer.status, answer.reason, answer.body));
        let want = |status, reason: &str, body: &str| Some((status, reason.to_owned(), body.to_owned()));
        assert_eq!(body("HTTP/1.1 202 Accepted\r\nA: b\r\n\r\nok"), want(202, "Accepted", "ok"));
        assert_eq!(body("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 401\r\n\r\n"), want(401, "", ""));
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n2;x\r\nde\r\n0\r\n\r\n";
        assert_eq!(body(chunked), want(200, "OK", "abcde"));
        assert_eq!(
            body("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nab"),
            want(200, "OK", "")
        );
        for bad in ["", "SSH-2.0\r\n\r\n", "HTTP/1.1 x y\r\n\r\n", "HTTP/1.1 200 OK\r\n"] {
            assert_eq!(answer(bad.as_bytes()), None, "{bad}");
        }
    }
}
