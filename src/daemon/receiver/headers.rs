//! What the listener takes from a request's headers, and how.

use warp::http::header::{CONTENT_LENGTH, CONTENT_TYPE, HOST};
use warp::http::{HeaderMap, HeaderName, HeaderValue, Request};

use super::DoorHeaders;

/// The signature that counts.
const SIGNATURE: HeaderName = HeaderName::from_static("x-hub-signature-256");
/// The one that does not.
const SIGNATURE_SHA1: HeaderName = HeaderName::from_static("x-hub-signature");
const EVENT: HeaderName = HeaderName::from_static("x-github-event");
const DELIVERY: HeaderName = HeaderName::from_static("x-github-delivery");
const HOOK: HeaderName = HeaderName::from_static("x-github-hook-id");

/// The headers a webhook is made of, unjudged.
pub(super) fn door_headers(headers: &HeaderMap) -> DoorHeaders {
    DoorHeaders {
        content_type: single(headers, &CONTENT_TYPE),
        signatures: headers.get_all(&SIGNATURE).iter().map(text).collect(),
        sha1_present: headers.contains_key(&SIGNATURE_SHA1),
        event: single(headers, &EVENT),
        delivery: single(headers, &DELIVERY),
        hook: single(headers, &HOOK),
    }
}

/// A field that should be single; several lines are one list, as RFC 9110, section 5.3 has it.
fn single(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let mut values = headers.get_all(name).iter();
    let mut whole = text(values.next()?);
    for value in values {
        whole.push_str(", ");
        whole.push_str(&text(value));
    }
    Some(whole)
}

fn text(value: &HeaderValue) -> String {
    String::from_utf8_lossy(value.as_bytes()).into_owned()
}

/// Whether the body says it is a form, which may be longer on the wire. The door judges the media type itself; this
/// only chooses the cap.
pub(super) fn is_form(headers: &HeaderMap) -> bool {
    let media = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    let essence = media.split(';').next().unwrap_or("").trim();
    essence.eq_ignore_ascii_case("application/x-www-form-urlencoded")
}

/// The declared length; hyper has refused requests whose lengths contradict each other.
pub(super) fn declared_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.trim().parse().ok()
}

/// Whether the request was sent to a name of this machine that no name server can give to somebody else.
pub(super) fn names_this_machine<B>(request: &Request<B>) -> bool {
    let mut hosts = request.headers().get_all(HOST).iter();
    let (host, only) = (hosts.next().and_then(|value| value.to_str().ok()), hosts.next().is_none());
    only && host.is_some_and(is_loopback_name)
}

/// `localhost` or a loopback address, with or without a port.
fn is_loopback_name(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(""),
        None => host.split(':').next().unwrap_or(""),
    };
    let address = name.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback());
    address || name.eq_ignore_ascii_case("localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(lines: &[(HeaderName, &[u8])]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(name, HeaderValue::from_bytes(value).unwrap());
        }
        headers
    }

    #[test]
    fn every_signature_line_is_handed_on_and_single_fields_are_joined() {
        let headers = map(&[(SIGNATURE, b"sha256=a"), (DELIVERY, b"one"), (SIGNATURE, b"b"), (DELIVERY, b"two")]);
        let seen = door_headers(&headers);
        assert_eq!(seen.signatures, ["sha256=a", "b"]);
        assert_eq!(seen.delivery.as_deref(), Some("one, two"));
        assert_eq!((seen.event, seen.content_type, seen.hook, seen.sha1_present), (None, None, None, false));
    }

    #[test]
    fn r10_empty_and_absent_fields_are_not_the_same() {
        assert_eq!(door_headers(&map(&[])).delivery, None);
        assert_eq!(door_headers(&map(&[(DELIVERY, b"")])).delivery.as_deref(), Some(""));
        assert_eq!(door_headers(&map(&[(DELIVERY, b"\xff")])).delivery.as_deref(), Some("\u{fffd}"));
    }

    #[test]
    fn w17_forms_are_known_in_any_case_and_with_parameters() {
        let is = |value: &[u8]| is_form(&map(&[(CONTENT_TYPE, value)]));
        assert!(is(b"Application/X-WWW-Form-Urlencoded ; charset=UTF-8"));
        assert!(!is(b"application/json") && !is(b"application/x-www-form-urlencodedx") && !is(b"\xff"));
        assert!(!is_form(&map(&[])));
    }

    #[test]
    fn k30_only_names_nobody_else_can_own_are_this_machine() {
        for good in ["localhost", "LocalHost:8787", "127.0.0.1", "127.0.0.1:80", "[::1]:8787", "[::1]"] {
            assert!(is_loopback_name(good), "{good}");
        }
        for bad in
            ["", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "0.0.0.0", "[::2]", "10.0.0.1:1"]
        {
            assert!(!is_loopback_name(bad), "{bad}");
        }
        let two = Request::builder().header(HOST, "localhost").header(HOST, "evil.example").body(()).unwrap();
        assert!(!names_this_machine(&two) && !names_this_machine(&Request::new(())));
    }
}
