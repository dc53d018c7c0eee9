//! From the bytes of a request to JSON that says one thing only (events rules, section 1).
//!
//! Media type, size, UTF-8, one object without duplicate keys. A lone surrogate, which no UTF-8 text can hold,
//! becomes U+FFFD and the event lives.

use std::borrow::Cow;

use serde::Deserialize;

use crate::domain::json::{self, Index, JsonError};
use crate::domain::signature::TrustedBody;

/// Largest JSON taken: GitHub sends none above 25 MB.
pub const MAX_JSON_BYTES: usize = 25 * 1024 * 1024;
/// Largest form on the wire: every byte of the JSON may be percent-encoded.
pub const MAX_FORM_BYTES: usize = FIELD.len() + 1 + 3 * MAX_JSON_BYTES;

const FIELD: &str = "payload";
const BOM: &[u8] = b"\xef\xbb\xbf";

/// The two ways GitHub sends a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediaType {
    /// `application/json`.
    Json,
    /// `application/x-www-form-urlencoded` with one field `payload`.
    Form,
}

/// Why a body is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// No media type, or one that is neither JSON nor form.
    #[error("content type `{0}` is neither application/json nor application/x-www-form-urlencoded")]
    Unsupported(String),
    /// Above the cap.
    #[error("the payload is larger than {MAX_JSON_BYTES} bytes of JSON")]
    TooLarge,
    /// No bytes at all; a redirect on the way often loses them.
    #[error("empty body; was the request redirected?")]
    Empty,
    /// A form without exactly one payload.
    #[error("the form has {0} fields named `payload` instead of one")]
    Payloads(usize),
    /// A byte-order mark in front.
    #[error("the body begins with a byte-order mark")]
    Bom,
    /// Not UTF-8.
    #[error("the body is not UTF-8 from byte {0} on")]
    Utf8(usize),
    /// Not one unambiguous JSON value.
    #[error("the body is not JSON we read: {0}")]
    Json(#[from] JsonError),
    /// JSON, but no object.
    #[error("the JSON is not an object")]
    NotAnObject,
}

/// The kinds of refusal, one HTTP status each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyFault {
    /// 400.
    Malformed,
    /// 413.
    TooLarge,
    /// 415.
    Unsupported,
}

impl BodyError {
    /// The kind of this refusal.
    pub const fn fault(&self) -> BodyFault {
        match self {
            Self::Unsupported(_) => BodyFault::Unsupported,
            Self::TooLarge => BodyFault::TooLarge,
            _ => BodyFault::Malformed,
        }
    }
}

impl MediaType {
    /// Reads `Content-Type`; case and parameters do not matter, none at all is not guessed at.
    pub fn parse(content_type: Option<&str>) -> Result<Self, BodyError> {
        let text = content_type.unwrap_or("");
        let essence = text.split(';').next().unwrap_or("").trim();
        if essence.eq_ignore_ascii_case("application/json") {
            Ok(Self::Json)
        } else if essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            Ok(Self::Form)
        } else {
            Err(BodyError::Unsupported(essence.chars().take(100).collect()))
        }
    }

    /// The most bytes to read from the wire.
    pub const fn max_wire_bytes(self) -> usize {
        match self {
            Self::Json => MAX_JSON_BYTES,
            Self::Form => MAX_FORM_BYTES,
        }
    }
}

/// One JSON object without duplicate keys, from a body that was let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedJson<'b> {
    text: Cow<'b, str>,
    index: Option<Index>,
}

impl CheckedJson<'static> {
    /// A payload of our own making.
    pub fn of(payload: &serde_json::Value) -> Self {
        Self { text: Cow::Owned(payload.to_string()), index: None }
    }
}

impl CheckedJson<'_> {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The same, which `serde_json` reads from end to end.
    #[cfg(test)]
    pub(super) fn without_index(&self) -> Self {
        Self { text: self.text.clone(), index: None }
    }

    /// Reads a type from it.
    ///
    /// # Errors
    /// The type does not fit.
    pub fn parse<'j, T: Deserialize<'j>>(&'j self) -> serde_json::Result<T> {
        match &self.index {
            Some(index) => index.read(&self.text),
            None => serde_json::from_str(&self.text),
        }
    }
}

/// Reads a body that was let in.
pub fn read(media: MediaType, body: &TrustedBody) -> Result<CheckedJson<'_>, BodyError> {
    let bytes = body.as_bytes();
    if bytes.len() > media.max_wire_bytes() {
        return Err(BodyError::TooLarge);
    }
    let json = match media {
        MediaType::Json => Cow::Borrowed(bytes),
        MediaType::Form if bytes.is_empty() => return Err(BodyError::Empty),
        MediaType::Form => form_payload(bytes)?,
    };
    checked(json)
}

fn checked(bytes: Cow<'_, [u8]>) -> Result<CheckedJson<'_>, BodyError> {
    match bytes.len() {
        0 => return Err(BodyError::Empty),
        n if n > MAX_JSON_BYTES => return Err(BodyError::TooLarge),
        _ if bytes.starts_with(BOM) => return Err(BodyError::Bom),
        _ => {}
    }
    let text = match bytes {
        Cow::Borrowed(bytes) => std::str::from_utf8(bytes).map(Cow::Borrowed),
        Cow::Owned(bytes) => String::from_utf8(bytes).map(Cow::Owned).map_err(|error| error.utf8_error()),
    };
    let text = text.map_err(|error| BodyError::Utf8(error.valid_up_to()))?;
    // Nearly every body is plain, and there are no surrogates in what is.
    let (text, index) = match json::plain(&text) {
        Some(index) => (text, index),
        None => {
            let text = without_lone_surrogates(text);
            json::check_thoroughly(&text)?;
            (text, None)
        }
    };
    if text.trim_start().starts_with('{') { Ok(CheckedJson { text, index }) } else { Err(BodyError::NotAnObject) }
}

/// The one field `payload`, decoded to bytes: whether they are UTF-8 is asked afterwards, never papered over.
fn form_payload(form: &[u8]) -> Result<Cow<'_, [u8]>, BodyError> {
    let mut payloads = form.split(|byte| *byte == b'&').filter_map(|field| {
        let split = field.iter().position(|byte| *byte == b'=').unwrap_or(field.len());
        let (name, value) = field.split_at(split);
        (decode(name).as_ref() == FIELD.as_bytes()).then(|| value.get(1..).unwrap_or_default())
    });
    match (payloads.next(), payloads.count()) {
        (Some(value), 0) => Ok(decode(value)),
        (first, more) => Err(BodyError::Payloads(usize::from(first.is_some()) + more)),
    }
}

/// `+` is a space, `%hh` a byte (URL Standard, application/x-www-form-urlencoded).
fn decode(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.contains(&b'+') {
        return percent_encoding::percent_decode(text).into();
    }
    let spaced: Vec<u8> = text.iter().map(|byte| if *byte == b'+' { b' ' } else { *byte }).collect();
    Cow::Owned(percent_encoding::percent_decode(&spaced).collect())
}

/// Writes `\ufffd` over every `\uXXXX` that is half of a pair. Both are six bytes, so nothing moves.
pub(in crate::domain) fn without_lone_surrogates(text: Cow<'_, str>) -> Cow<'_, str> {
    // Most bodies hold no such escape at all, and the search for one is much faster than the walk.
    let lone = if text.contains("\\u") { lone_surrogates(text.as_bytes()) } else { Vec::new() };
    if lone.is_empty() {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for at in lone {
        out.push_str(&text[copied..at]);
        out.push_str("\\ufffd");
        copied = at + 6;
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// Where escapes of lone surrogates begin. A backslash is only legal in strings, so strings need no tracking.
fn lone_surrogates(text: &[u8]) -> Vec<usize> {
    let mut lone = Vec::new();
    let mut at = 0;
    while let Some(next) = text[at..].iter().position(|byte| *byte == b'\\') {
        at += next;
        match escaped_unit(text, at) {
            None => at += 2,
            Some(0xd800..=0xdbff) if matches!(escaped_unit(text, at + 6), Some(0xdc00..=0xdfff)) => at += 12,
            Some(0xd800..=0xdfff) => {
                lone.push(at);
                at += 6;
            }
            Some(_) => at += 6,
        }
        if at >= text.len() {
            break;
        }
    }
    lone
}

/// The UTF-16 unit of a `\uXXXX` at `at`.
fn escaped_unit(text: &[u8], at: usize) -> Option<u32> {
    let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |unit, digit| Some(unit << 4 | char::from(*digit).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use proptest::prelude::*;

    use super::*;

    fn trusted(bytes: impl Into<Vec<u8>>) -> TrustedBody {
        TrustedBody::from_own_request(Bytes::from(bytes.into()))
    }

    fn json(bytes: impl Into<Vec<u8>>) -> Result<String, BodyError> {
        read(MediaType::Json, &trusted(bytes)).map(|json| json.as_str().to_owned())
    }

    fn form(bytes: impl Into<Vec<u8>>) -> Result<String, BodyError> {
        read(MediaType::Form, &trusted(bytes)).map(|json| json.as_str().to_owned())
    }

    #[test]
    fn w03_a_form_is_decoded_by_the_url_standard() {
        let body = "payload=%7B%22title%22%3A%22a%2Bb+%26%3D+%E2%98%83%22%7D";
        assert_eq!(form(body).unwrap(), r#"{"title":"a+b &= ☃"}"#);
        assert_eq!(form(format!("x=1&{body}&&y")).unwrap(), r#"{"title":"a+b &= ☃"}"#);
        assert_eq!(form("%70ayload=%7B%7D").unwrap(), "{}");
        assert_eq!(form("a=1"), Err(BodyError::Payloads(0)));
        assert_eq!(form("payload=%7B%7D&payload=%7B%7D&payload"), Err(BodyError::Payloads(3)));
        assert_eq!(form("payload=%7B%22a%22%3A%22%FF%22%7D"), Err(BodyError::Utf8(6)));
        assert_eq!(form("payload="), Err(BodyError::Empty));
    }

    #[test]
    fn w10_an_empty_body_has_its_own_reason() {
        assert_eq!(json(""), Err(BodyError::Empty));
        assert_eq!(form(""), Err(BodyError::Empty));
        assert_eq!(BodyError::Empty.fault(), BodyFault::Malformed);
    }

    #[test]
    fn w11_a_byte_order_mark_is_refused() {
        assert_eq!(json("\u{feff}{}"), Err(BodyError::Bom));
        assert_eq!(form("payload=%EF%BB%BF%7B%7D"), Err(BodyError::Bom));
    }

    #[test]
    fn w12_the_cap_counts_json_and_a_form_may_be_longer() {
        let big = |n: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(n - 8));
        assert!(json(big(MAX_JSON_BYTES)).is_ok());
        assert_eq!(json(big(MAX_JSON_BYTES + 1)).unwrap_err().fault(), BodyFault::TooLarge);
        let encoded = |n: usize| format!("payload=%7B%22a%22%3A%22{}%22%7D", "%78".repeat(n - 8));
        assert!(form(encoded(MAX_JSON_BYTES)).is_ok());
        assert_eq!(form(encoded(MAX_JSON_BYTES + 1)), Err(BodyError::TooLarge));
        assert_eq!(form(format!("payload={}", big(MAX_JSON_BYTES + 1))), Err(BodyError::TooLarge));
    }

    #[test]
    fn w17_media_types_ignore_case_and_parameters() {
        for good in ["application/json", "Application/JSON; charset=UTF-8", " application/json ;x"] {
            assert_eq!(MediaType::parse(Some(good)), Ok(MediaType::Json), "{good}");
        }
        let form = "application/X-WWW-form-urlencoded;charset=utf-8";
        assert_eq!(MediaType::parse(Some(form)), Ok(MediaType::Form));
        for bad in [None, Some(""), Some("text/plain"), Some("application/json, text/plain"), Some("application/jsonx")]
        {
            assert_eq!(MediaType::parse(bad).unwrap_err().fault(), BodyFault::Unsupported, "{bad:?}");
        }
    }

    #[test]
    fn j01_j06_what_is_not_plain_json_is_malformed() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        for bad in [r#"{"number":7,"number":8}"#, "{", "[1]", "7", "null", "{} {}", "hello", &deep] {
            assert_eq!(json(bad).unwrap_err().fault(), BodyFault::Malformed, "{}", &bad[..bad.len().min(30)]);
        }
        assert_eq!(json("[1]"), Err(BodyError::NotAnObject));
        assert_eq!(json(b"{\"a\":\"\xff\"}".to_vec()), Err(BodyError::Utf8(6)));
    }

    #[test]
    fn j05_lone_surrogates_become_replacement_characters() {
        for (raw, repaired) in [
            (r#"{"a":"\ud83d"}"#, r#"{"a":"\ufffd"}"#),
            (r#"{"a":"\uD83D\uDE00"}"#, r#"{"a":"\uD83D\uDE00"}"#),
            (r#"{"a":"\ude00\ud83d"}"#, r#"{"a":"\ufffd\ufffd"}"#),
            (r#"{"a":"\ud83d\ud83d\ude00"}"#, r#"{"a":"\ufffd\ud83d\ude00"}"#),
            (r#"{"a":"\\ud83d"}"#, r#"{"a":"\\ud83d"}"#),
            (r#"{"a":"\\\ud83d"}"#, r#"{"a":"\\\ufffd"}"#),
            (r#"{"\udc00":"\ud83d\n"}"#, r#"{"\ufffd":"\ufffd\n"}"#),
        ] {
            assert_eq!(json(raw).as_deref(), Ok(repaired), "{raw}");
        }
        assert!(json(r#"{"\ud800":1,"\udfff":2}"#).is_err(), "both keys read the same");
    }

    proptest! {
        #[test]
        fn reading_never_panics_and_never_lets_bad_json_in(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            for media in [MediaType::Json, MediaType::Form] {
                if let Ok(json) = read(media, &trusted(bytes.clone())) {
                    prop_assert!(serde_json::from_str::<serde_json::Value>(json.as_str()).unwrap().is_object());
                }
            }
        }

        #[test]
        fn backslashes_never_panic(text in r#"\{"a":"[\\ud8cDf0u]{0,40}"\}"#) {
            let fine = serde_json::from_str::<serde_json::Value>(&text).is_ok();
            prop_assert!(!fine || json(text).is_ok());
        }
    }
}
