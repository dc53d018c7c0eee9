//! Requests taken apart, and answers in the making: one object, a page of many, a redirect, a refusal.

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::{Value, json};

use super::Asked;

/// A request whose token is known, below the base of the API.
#[derive(Debug, Clone)]
pub(super) struct Call {
    /// Whether it only reads.
    pub is_read: bool,
    /// The parts of the path, decoded.
    pub path: Vec<String>,
    /// The query, decoded.
    pub query: Vec<(String, String)>,
    /// The JSON that came along; null without.
    pub body: Value,
    /// Whose token it is.
    pub login: String,
}

impl Call {
    /// Takes a request apart; `prefix` is the base of the API on its host.
    pub fn parse(asked: &Asked, prefix: &str, login: &str) -> Self {
        let (path, query) = asked.path_and_query.split_once('?').unwrap_or((&asked.path_and_query, ""));
        // Outside of the base nothing is known, which an empty part says.
        let below = path.strip_prefix(prefix).unwrap_or("//");
        Self {
            is_read: asked.method == "GET",
            path: below.trim_start_matches('/').split('/').map(decoded).collect(),
            query: query
                .split('&')
                .filter_map(|pair| pair.split_once('='))
                .map(|(k, v)| (decoded(k), decoded(v)))
                .collect(),
            body: serde_json::from_slice(&asked.body).unwrap_or_default(),
            login: login.to_owned(),
        }
    }

    /// A parameter of the query.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    fn number(&self, name: &str, otherwise: usize) -> usize {
        self.parameter(name).and_then(|text| text.parse().ok()).filter(|number| *number > 0).unwrap_or(otherwise)
    }

    /// Items on a page: 30, at most 100.
    pub fn per_page(&self) -> usize {
        self.number("per_page", 30).min(100)
    }

    /// The query again, with these parameters in place of theirs.
    pub fn query_with(&self, other: &[(&str, String)]) -> String {
        let kept = self.query.iter().filter(|(key, _)| other.iter().all(|(name, _)| name != key));
        let kept = kept.map(|(key, value)| (key.as_str(), value.clone()));
        let pairs = kept.chain(other.iter().cloned());
        let pairs: Vec<_> = pairs.map(|(key, value)| format!("{}={}", encoded(key), encoded(&value))).collect();
        pairs.join("&")
    }
}

fn decoded(text: &str) -> String {
    percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned()
}

fn encoded(text: &str) -> String {
    const KEPT: percent_encoding::AsciiSet = NON_ALPHANUMERIC.remove(b'_').remove(b'-').remove(b'.');
    utf8_percent_encode(text, &KEPT).to_string()
}

/// An answer before it has headers.
#[derive(Debug, Clone)]
pub(super) struct Reply {
    /// HTTP status.
    pub status: u16,
    /// The JSON; null is no body.
    pub body: Value,
    /// `Link`.
    pub link: Option<String>,
    /// `Location`.
    pub location: Option<String>,
}

impl Reply {
    /// With this status and body.
    pub fn new(status: u16, body: Value) -> Self {
        Self { status, body, link: None, location: None }
    }

    /// 200.
    pub fn ok(body: Value) -> Self {
        Self::new(200, body)
    }

    /// A refusal in GitHub's shape.
    pub fn refused(status: u16, message: &str) -> Self {
        let body = json!({"message": message, "documentation_url": "https://docs.github.com/rest",
            "status": status.to_string()});
        Self::new(status, body)
    }

    /// 404.
    pub fn not_found() -> Self {
        Self::refused(404, "Not Found")
    }

    /// What was asked for is at `location` now: 301, which may be followed with `GET` alone, or 307.
    pub fn moved(call: &Call, location: String) -> Self {
        let (status, message) = if call.is_read { (301, "Moved Permanently") } else { (307, "Temporary Redirect") };
        let body = json!({"message": message, "url": location, "documentation_url": "https://docs.github.com/rest"});
        Self { location: Some(location), ..Self::new(status, body) }
    }

    /// 422 for a field.
    pub fn invalid(resource: &str, field: &str) -> Self {
        let mut reply = Self::refused(422, "Validation Failed");
        reply.body["errors"] = json!([{"resource": resource, "code": "invalid", "field": field}]);
        reply
    }
}

/// One page of `items`, shown by `show`; `key` wraps them as `{"total_count": …, key: […]}`. `url` is where the list
/// is, without its query.
pub(super) fn page<T>(call: &Call, url: &str, items: &[T], key: Option<&str>, show: impl Fn(&T) -> Value) -> Reply {
    let (per_page, page) = (call.per_page(), call.number("page", 1));
    let last = items.len().div_ceil(per_page).max(1);
    let here: Vec<Value> = items.iter().skip((page - 1).saturating_mul(per_page)).take(per_page).map(show).collect();
    let body = match key {
        None => Value::Array(here),
        Some(key) => json!({"total_count": items.len(), key: here}),
    };
    let to =
        |page: usize, rel: &str| format!("<{url}?{}>; rel=\"{rel}\"", call.query_with(&[("page", page.to_string())]));
    let mut links = Vec::new();
    if page > 1 {
        links.push(to((page - 1).min(last), "prev"));
    }
    if page < last {
        links.extend([to(page + 1, "next"), to(last, "last")]);
    }
    if page > 1 {
        links.push(to(1, "first"));
    }
    Reply { link: Some(links.join(", ")).filter(|links| !links.is_empty()), ..Reply::ok(body) }
}
