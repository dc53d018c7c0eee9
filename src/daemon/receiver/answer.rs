//! Every answer of the listener: one table from what happened to HTTP status and JSON body.

use bytes::Bytes;
use serde_json::json;
use warp::http::header::{ALLOW, CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use warp::http::{Response, StatusCode};

/// Seconds a client is asked to wait when nobody knows better.
const RETRY_SECONDS: u32 = 5;

/// What the [`super::Door`] says about a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Decided and committed, whatever the decision was.
    Accepted,
    /// Its id was decided before, or waits.
    Duplicate,
    /// GitHub's `ping`.
    Pong,
    /// Signature missing, malformed, several, or of other bytes: one answer for all.
    BadSignature,
    /// Authentic, but nothing an event can be made of; the reason is for the sender.
    Bad {
        /// What is wrong, on what.
        reason: String,
    },
    /// Neither JSON nor a form, or no media type at all.
    Unsupported {
        /// What it should have been.
        reason: String,
    },
    /// The JSON is over the cap.
    TooLarge,
    /// The store is full, failing or busy: nothing was decided.
    Busy {
        /// Seconds to wait before the redelivery.
        retry_after: u32,
    },
}

/// What the listener says, on behalf of the door or on its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reply {
    /// The door's word.
    Door(Answer),
    /// The process lives.
    Alive,
    /// Deliveries can be decided.
    Ready,
    /// They cannot, and why.
    NotReady(String),
    /// No such path.
    NotFound,
    /// The path takes other methods: these.
    MethodNotAllowed(&'static str),
    /// Asked under a name that is not this machine's.
    Misdirected,
    /// Not HTTP/1, cut short, or a body whose framing is broken.
    Malformed,
    /// The head is too large, or declares a length no number holds.
    HeadTooLarge,
    /// The head or the body took too long to come.
    Slow,
    /// A body over the cap, refused before it was read whole: the connection cannot go on.
    CutOff,
    /// Too much is in hand.
    Full,
    /// The door did not answer in time.
    Silent,
    /// The door broke.
    Failed,
}

/// Status, the word in `status`, a reason, a header, and whether the connection ends with it.
struct Row {
    status: StatusCode,
    word: &'static str,
    reason: Option<String>,
    header: Option<(HeaderName, HeaderValue)>,
    last: bool,
}

impl Row {
    fn new(status: StatusCode, word: &'static str) -> Self {
        Self { status, word, reason: None, header: None, last: false }
    }

    fn because(self, reason: impl Into<String>) -> Self {
        Self { reason: Some(reason.into()), ..self }
    }

    fn retry(self, seconds: u32) -> Self {
        Self { header: Some((RETRY_AFTER, HeaderValue::from(seconds))), ..self }
    }

    fn last(self) -> Self {
        Self { last: true, ..self }
    }
}

impl Reply {
    fn row(self) -> Row {
        use StatusCode as S;
        match self {
            Self::Door(answer) => answer.row(),
            Self::Alive => Row::new(S::OK, "alive"),
            Self::Ready => Row::new(S::OK, "ready"),
            Self::NotReady(reason) => {
                Row::new(S::SERVICE_UNAVAILABLE, "not-ready").because(reason).retry(RETRY_SECONDS)
            }
            Self::NotFound => Row::new(S::NOT_FOUND, "not-found"),
            Self::MethodNotAllowed(allowed) => Row {
                header: Some((ALLOW, HeaderValue::from_static(allowed))),
                ..Row::new(S::METHOD_NOT_ALLOWED, "method-not-allowed")
            },
            Self::Misdirected => Row::new(S::MISDIRECTED_REQUEST, "misdirected"),
            Self::Malformed => Row::new(S::BAD_REQUEST, "bad-request").because("not a complete HTTP/1 request").last(),
            Self::HeadTooLarge => Row::new(S::REQUEST_HEADER_FIELDS_TOO_LARGE, "too-large").last(),
            Self::Slow => Row::new(S::REQUEST_TIMEOUT, "timeout").last(),
            Self::CutOff => Answer::TooLarge.row().last(),
            Self::Full => Answer::Busy { retry_after: RETRY_SECONDS }.row().last(),
            Self::Silent => Answer::Busy { retry_after: RETRY_SECONDS }.row(),
            Self::Failed => Row::new(S::INTERNAL_SERVER_ERROR, "error"),
        }
    }

    /// The answer as a response.
    pub(super) fn response(self) -> Response<Bytes> {
        let row = self.row();
        let mut response = Response::new(body(row.word, row.reason));
        *response.status_mut() = row.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some((name, value)) = row.header {
            headers.insert(name, value);
        }
        if row.last {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }

    /// The answer as bytes, for a connection whose request never became one: it always ends the connection.
    pub(super) fn raw(self) -> Vec<u8> {
        let row = self.row();
        let body = body(row.word, row.reason);
        let mut bytes = format!(
            "HTTP/1.1 {}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
            row.status,
            body.len()
        )
        .into_bytes();
        bytes.extend_from_slice(&body);
        bytes
    }
}

impl Answer {
    fn row(self) -> Row {
        use StatusCode as S;
        match self {
            Self::Accepted => Row::new(S::ACCEPTED, "accepted"),
            Self::Duplicate => Row::new(S::ACCEPTED, "duplicate"),
            Self::Pong => Row::new(S::OK, "pong"),
            Self::BadSignature => Row::new(S::UNAUTHORIZED, "unauthorized"),
            Self::Bad { reason } => Row::new(S::BAD_REQUEST, "bad-request").because(reason),
            Self::Unsupported { reason } => {
                Row::new(S::UNSUPPORTED_MEDIA_TYPE, "unsupported-media-type").because(reason)
            }
            Self::TooLarge => Row::new(S::PAYLOAD_TOO_LARGE, "too-large"),
            Self::Busy { retry_after } => Row::new(S::SERVICE_UNAVAILABLE, "busy").retry(retry_after),
        }
    }
}

/// `{"status": word}`, with the reason where there is one. The answer of nearly every request is built once, by hand.
fn body(word: &'static str, reason: Option<String>) -> Bytes {
    match (word, reason) {
        ("accepted", None) => Bytes::from_static(br#"{"status":"accepted"}"#),
        (word, None) => json!({ "status": word }).to_string().into(),
        (word, Some(reason)) => json!({ "status": word, "reason": reason }).to_string().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_has_its_status_and_json() {
        let table = [
            (Answer::Accepted, 202, r#"{"status":"accepted"}"#),
            (Answer::Duplicate, 202, r#"{"status":"duplicate"}"#),
            (Answer::Pong, 200, r#"{"status":"pong"}"#),
            (Answer::BadSignature, 401, r#"{"status":"unauthorized"}"#),
            (Answer::Bad { reason: "a \"b\"".into() }, 400, r#"{"status":"bad-request","reason":"a \"b\""}"#),
            (
                Answer::Unsupported { reason: "send JSON".into() },
                415,
                r#"{"status":"unsupported-media-type","reason":"send JSON"}"#,
            ),
            (Answer::TooLarge, 413, r#"{"status":"too-large"}"#),
            (Answer::Busy { retry_after: 7 }, 503, r#"{"status":"busy"}"#),
        ];
        for (answer, status, body) in table {
            let response = Reply::Door(answer.clone()).response();
            assert_eq!(response.status().as_u16(), status, "{answer:?}");
            assert_eq!(response.body(), body, "{answer:?}");
            assert_eq!(response.headers()[CONTENT_TYPE], "application/json");
        }
        assert_eq!(Reply::Door(Answer::Busy { retry_after: 7 }).response().headers()[RETRY_AFTER], "7");
    }

    #[test]
    fn a_raw_answer_is_complete() {
        let text = String::from_utf8(Reply::Malformed.raw()).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{head}");
        assert!(head.contains(&format!("content-length: {}", body.len())) && head.contains("connection: close"));
        assert!(serde_json::from_str::<serde_json::Value>(body).is_ok(), "{body}");
    }
}
