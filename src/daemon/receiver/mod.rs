//! The webhook receiver: bounded, deadlined HTTP in front of a [`Door`] that checks and decides.
//!
//! The way of one request: `accept` takes the connection while there is a slot, `connection` drives it and holds it to
//! its deadlines, `routes` finds what is asked, `body` reads under the cap and the budget, the [`Door`] decides, and
//! `answer` turns what it said into bytes. Nothing here knows signatures, events or the store.

mod accept;
mod answer;
mod body;
mod connection;
mod headers;
mod routes;
mod settings;
mod watched;

use bytes::Bytes;

pub use accept::{Closed, serve};
pub use answer::Answer;
pub use settings::{HookPath, Limits, PathError, Settings};

/// What the listener asks of the application.
pub trait Door: Send + Sync + 'static {
    /// Checks signature and body of one complete request and decides it durably. `done` is called once, from any
    /// thread, after the commit. Called on a thread of the listener for small bodies and on a thread that may block for
    /// large ones; either way it must not wait for agents or for the network. When it panics, or drops `done`, the
    /// client gets 500; when it is silent for [`Limits::answer`], 503.
    fn deliver(&self, request: Inbound, done: Box<dyn FnOnce(Answer) + Send>);

    /// Whether deliveries can be decided now: the store takes writes and the loops run. The reason is shown to whoever
    /// can reach the listener, so it names no path, no secret and no item.
    fn ready(&self) -> Result<(), String>;
}

/// One complete request to the hook's path, not yet authenticated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inbound {
    /// The headers a webhook is made of.
    pub headers: DoorHeaders,
    /// The raw body, what the signature is over; at most [`Limits::json_bytes`], for a form [`Limits::form_bytes`].
    pub body: Bytes,
    /// Whether the client connected from this machine.
    pub loopback_peer: bool,
}

/// The headers a webhook is made of, unjudged. Names are matched without case. A field that must be single but came on
/// several lines is joined with `", "` (RFC 9110, section 5.3), which no rule accepts; bytes outside UTF-8 become U+FFFD.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DoorHeaders {
    /// `Content-Type`.
    pub content_type: Option<String>,
    /// Every `X-Hub-Signature-256` line, in order.
    pub signatures: Vec<String>,
    /// Whether the SHA-1 header `X-Hub-Signature` came; it never authenticates.
    pub sha1_present: bool,
    /// `X-GitHub-Event`.
    pub event: Option<String>,
    /// `X-GitHub-Delivery`.
    pub delivery: Option<String>,
    /// `X-GitHub-Hook-ID`.
    pub hook: Option<String>,
}
