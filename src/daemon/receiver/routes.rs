//! What is asked for, as warp filters: the hook, the two probes, and nothing else.

use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bytes::{Buf, Bytes};
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use warp::filters::path::FullPath;
use warp::http::{HeaderMap, Response};
use warp::{Filter, Rejection, Stream};

use super::answer::Reply;
use super::body::{Budget, Fault, Held, read};
use super::headers::{declared_length, door_headers, is_form};
use super::settings::Settings;
use super::{Door, Inbound};

/// Bodies up to here are handed to the door on the thread that read them. Checking a larger one takes long enough to
/// hold up others, so that happens on a thread that may block.
const INLINE_BYTES: usize = 256 * 1024;

/// What all requests share.
pub(super) struct Shared {
    /// The application.
    pub(super) door: Arc<dyn Door>,
    /// Path and limits.
    pub(super) settings: Settings,
    /// Memory for bodies.
    pub(super) budget: Arc<Budget>,
}

/// Whether the client connected from this machine; put into each request by its connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct LoopbackPeer(pub(super) bool);

/// The routes. The hook stands first: nearly every request is a delivery, and a filter that rejects costs.
pub(super) fn routes(
    shared: Arc<Shared>,
) -> impl Filter<Extract = (Response<Bytes>,), Error = Infallible> + Clone + Send + Sync + 'static {
    let deliveries = at_hook(shared.clone())
        .and(warp::post())
        .and(with(shared.clone()))
        .and(warp::header::headers_cloned())
        .and(warp::ext::get::<LoopbackPeer>())
        .and(warp::body::stream())
        .then(delivery);
    let other_methods = at_hook(shared.clone()).map(|| Reply::MethodNotAllowed("POST"));
    let alive = at("/healthz").and(reads()).map(|| Reply::Alive);
    let ready = at("/readyz").and(reads()).and(with(shared)).then(ready);
    let writes_to_probes = at("/healthz").or(at("/readyz")).unify().map(|| Reply::MethodNotAllowed("GET, HEAD"));
    let nothing = warp::any().map(|| Reply::NotFound);
    deliveries
        .or(other_methods)
        .unify()
        .or(alive)
        .unify()
        .or(ready)
        .unify()
        .or(writes_to_probes)
        .unify()
        .or(nothing)
        .unify()
        .map(Reply::response)
}

/// Hands what all requests share to a handler.
fn with(shared: Arc<Shared>) -> impl Filter<Extract = (Arc<Shared>,), Error = Infallible> + Clone {
    warp::any().map(move || shared.clone())
}

/// The configured path, with or without its slash; warp leaves the query out.
fn at_hook(shared: Arc<Shared>) -> impl Filter<Extract = (), Error = Rejection> + Clone {
    where_path(move |path| shared.settings.path.matches(path))
}

/// A fixed path, with or without a slash.
fn at(wanted: &'static str) -> impl Filter<Extract = (), Error = Rejection> + Clone {
    where_path(move |path| path.strip_suffix('/').unwrap_or(path) == wanted)
}

fn where_path(
    wanted: impl Fn(&str) -> bool + Clone + Send + Sync,
) -> impl Filter<Extract = (), Error = Rejection> + Clone {
    warp::path::full()
        .and_then(move |path: FullPath| {
            let found = wanted(path.as_str());
            async move { if found { Ok(()) } else { Err(warp::reject::not_found()) } }
        })
        .untuple_one()
}

/// GET, and HEAD with it.
fn reads() -> impl Filter<Extract = (), Error = Rejection> + Clone {
    warp::get().or(warp::head()).unify()
}

/// One delivery: read whole, then decided.
async fn delivery<S, B>(shared: Arc<Shared>, headers: HeaderMap, peer: LoopbackPeer, body: S) -> Reply
where
    S: Stream<Item = Result<B, warp::Error>>,
    B: Buf,
{
    let limits = &shared.settings.limits;
    let cap = if is_form(&headers) { limits.form_bytes } else { limits.json_bytes };
    let whole = read(body, declared_length(&headers), cap, &shared.budget);
    match timeout(limits.body, whole).await {
        Ok(Ok((body, held))) => {
            let inbound = Inbound { headers: door_headers(&headers), body, loopback_peer: peer.0 };
            decide(&shared, inbound, held).await
        }
        Ok(Err(Fault::TooLarge)) => Reply::CutOff,
        Ok(Err(Fault::NoRoom)) => Reply::Full,
        Ok(Err(Fault::Broken)) => Reply::Malformed,
        Err(_) => Reply::Slow,
    }
}

/// Asks the door. The part of the budget goes with `done`: it is given back when the door has answered or let go, even
/// when the client was told 503 meanwhile.
async fn decide(shared: &Shared, inbound: Inbound, held: Held) -> Reply {
    let (sender, answer) = oneshot::channel();
    let done = Box::new(move |answer| {
        drop(held);
        // The client may have gone, or been told 503: then nobody is left to hear it.
        let _ = sender.send(answer);
    });
    let large = inbound.body.len() > INLINE_BYTES;
    let door = shared.door.clone();
    // A panic drops `done`, and that is how its client learns of it; the panic hook has told the operator.
    let ask = move || drop(catch_unwind(AssertUnwindSafe(|| door.deliver(inbound, done))));
    if large {
        drop(spawn_blocking(ask));
    } else {
        ask();
    }
    match timeout(shared.settings.limits.answer, answer).await {
        Ok(Ok(answer)) => Reply::Door(answer),
        Ok(Err(_)) => Reply::Failed,
        Err(_) => Reply::Silent,
    }
}

/// Asks whether deliveries can be decided; a store that hangs must not hang the probe.
async fn ready(shared: Arc<Shared>) -> Reply {
    let limit = shared.settings.limits.answer;
    match timeout(limit, spawn_blocking(move || shared.door.ready())).await {
        Ok(Ok(Ok(()))) => Reply::Ready,
        Ok(Ok(Err(reason))) => Reply::NotReady(reason),
        Ok(Err(_)) => Reply::NotReady("the check failed".to_owned()),
        Err(_) => Reply::NotReady("the check does not end".to_owned()),
    }
}
