//! Behind the listener: signature, body, event, decision; one durable commit before the answer.

use std::sync::Arc;

use bytes::Bytes;

use super::exporter::trouble;
use super::journal::{Sink, Told};
use super::receiver::{Answer, Door, DoorHeaders, Inbound};
use super::vitals::Vitals;
use super::wake::Wake;
use crate::app::App;
use crate::app::ingest::{Arrival, Taken};
use crate::domain::decide::{DropReason, Verdict};
use crate::domain::event::body::{self, BodyError, BodyFault, MediaType};
use crate::domain::event::{Event, webhook};
use crate::domain::ids::DeliveryId;
use crate::domain::log::{EventName, LogEntry};
use crate::domain::signature::Gate;
use crate::store::StoreError;

/// Seconds a sender is asked to wait when the store cannot take its delivery.
const RETRY_SECONDS: u32 = 10;

/// The door of the running daemon.
pub struct WebhookDoor {
    app: App,
    gate: Gate,
    wake: Wake,
    sink: Sink,
    vitals: Vitals,
    folder: Told,
}

impl WebhookDoor {
    /// A door that lets in what `gate` admits.
    pub fn new(app: App, gate: Gate, wake: Wake, sink: Sink, vitals: Vitals) -> Arc<Self> {
        Arc::new(Self { app, gate, wake, sink, vitals, folder: Told::default() })
    }

    /// Everything that needs no store: who sent it, what it is.
    fn read(&self, request: &Inbound) -> Result<Read, Refused> {
        let headers = &request.headers;
        let signatures = headers.signatures.iter().map(|value| value.as_bytes());
        let trusted = self
            .gate
            .admit(signatures, request.body.clone())
            .map_err(|error| Refused { answer: Answer::BadSignature, reason: error.to_string() })?;
        let media = MediaType::parse(headers.content_type.as_deref())?;
        let json = body::read(media, &trusted)?;
        let name = headers.event.as_deref().filter(|name| is_event_name(name));
        let name = name.ok_or_else(|| Refused::bad("`X-GitHub-Event` is missing or is no event name"))?;
        if name == "ping" {
            return Ok(Read::Ping);
        }
        let delivery = headers.delivery.as_deref().unwrap_or_default();
        let delivery =
            DeliveryId::parse(delivery).map_err(|error| Refused::bad(&format!("`X-GitHub-Delivery`: {error}")))?;
        let event = webhook::normalise(name, delivery, &json);
        let body = shared(&request.body, json.as_str());
        Ok(Read::Event(Box::new(Arrival::delivered(event, body))))
    }

    /// What other machines said about the items of `event` comes before the decision. A folder that cannot be read keeps
    /// nothing from being decided: the store holds what was known.
    fn adopt(&self, event: &Event) {
        match self.app.adopt_for(event) {
            Ok(adoption) => {
                if !adoption.changed.is_empty() {
                    self.wake.taken(adoption.lanes, adoption.marked);
                }
                self.folder.tell(&self.sink, None);
            }
            Err(error) => self.folder.tell(&self.sink, Some(trouble(&error))),
        }
    }

    fn reject(&self, headers: &DoorHeaders, refused: Refused) -> Answer {
        let entry = LogEntry::warn(EventName::WebhookRejected).with("reason", refused.reason);
        let known = headers.delivery.as_deref().filter(|id| DeliveryId::parse(id).is_ok());
        self.sink.put(entry.with_some("delivery", known));
        refused.answer
    }
}

/// A request that was understood.
enum Read {
    Ping,
    Event(Box<Arrival>),
}

/// A request that was not, the answer for its sender and the reason for the log.
struct Refused {
    answer: Answer,
    reason: String,
}

impl Refused {
    fn bad(reason: &str) -> Self {
        Self { answer: Answer::Bad { reason: reason.to_owned() }, reason: reason.to_owned() }
    }
}

impl From<BodyError> for Refused {
    fn from(error: BodyError) -> Self {
        let reason = error.to_string();
        let answer = match error.fault() {
            BodyFault::Malformed => Answer::Bad { reason: reason.clone() },
            BodyFault::TooLarge => Answer::TooLarge,
            BodyFault::Unsupported => Answer::Unsupported { reason: reason.clone() },
        };
        Self { answer, reason }
    }
}

impl Door for WebhookDoor {
    fn deliver(&self, request: Inbound, done: Box<dyn FnOnce(Answer) + Send>) {
        let arrival = match self.read(&request) {
            Err(refused) => return done(self.reject(&request.headers, refused)),
            Ok(Read::Ping) => {
                self.vitals.delivered();
                self.sink.put(LogEntry::info(EventName::WebhookReceived).with("name", "ping"));
                return done(Answer::Pong);
            }
            Ok(Read::Event(arrival)) => arrival,
        };
        self.vitals.delivered();
        drop(request);
        self.adopt(&arrival.event);
        let wake = self.wake.clone();
        self.app.submit(*arrival, move |taken| done(answer(taken, &wake)));
    }

    fn ready(&self) -> Result<(), String> {
        match self.app.store().is_writable() {
            true => Ok(()),
            false => Err("the store does not take writes".into()),
        }
    }
}

/// The answer after the commit, and the loops that have something to do now.
fn answer(taken: Result<Taken, StoreError>, wake: &Wake) -> Answer {
    match taken {
        Ok(Taken { verdict, lanes, marked, waits, .. }) => {
            wake.well();
            wake.taken(lanes, marked);
            if waits {
                wake.waits();
            }
            match verdict {
                Verdict::Dropped(DropReason::DuplicateDelivery) => Answer::Duplicate,
                _ => Answer::Accepted,
            }
        }
        Err(_) => {
            wake.doubt();
            Answer::Busy { retry_after: RETRY_SECONDS }
        }
    }
}

/// `text` as bytes of its own: a part of `body` where it is one, which costs nothing, else a copy.
fn shared(body: &Bytes, text: &str) -> Bytes {
    let (whole, part) = (body.as_ptr_range(), text.as_bytes().as_ptr_range());
    match whole.start <= part.start && part.end <= whole.end {
        true => body.slice_ref(text.as_bytes()),
        false => Bytes::copy_from_slice(text.as_bytes()),
    }
}

fn is_event_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}
