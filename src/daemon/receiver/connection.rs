//! One connection: hyper speaks HTTP/1, the supervisor keeps it to its deadlines and sees that it ends with an answer.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1::Builder;
use hyper::service::{Service, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};
use warp::Reply as _;
use warp::http::{Request, Response};

use super::answer::Reply;
use super::headers::names_this_machine;
use super::routes::{LoopbackPeer, Shared, routes};
use super::settings::Limits;
use super::watched::{Phase, Stage, Watched};

/// Waits until shutdown is asked for; a vanished sender asks for it too.
pub(super) async fn stopped(stop: &mut watch::Receiver<bool>) {
    // The only error is that the sender is gone.
    let _ = stop.wait_for(|stop| *stop).await;
}

/// Serves one connection to its end.
pub(super) async fn drive(stream: TcpStream, peer: SocketAddr, shared: Arc<Shared>, mut stop: watch::Receiver<bool>) {
    let limits = shared.settings.limits.clone();
    let phase = Phase::new();
    let io = TokioIo::new(Watched::new(stream, phase.clone()));
    let loopback = LoopbackPeer(peer.ip().to_canonical().is_loopback());
    let service = service_of(shared, loopback, phase.clone());
    let mut connection = builder(&limits).serve_connection(io, service);

    let mut checks = interval(check_every(&limits));
    checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut stopping = false;
    let last_word = loop {
        tokio::select! {
            biased;
            ended = &mut connection => break ended.err().and_then(|error| last_word(&error)),
            () = stopped(&mut stop), if !stopping => {
                stopping = true;
                // Ends a silent connection at once, any other after its request.
                std::pin::Pin::new(&mut connection).graceful_shutdown();
            }
            _ = checks.tick() => match phase.overdue(&limits) {
                Some(Stage::Head) => break Some(Reply::Slow),
                Some(_) => break None,
                None => {}
            },
        }
    };
    connection.into_parts().io.into_inner().finish(last_word, limits.linger).await;
}

/// The answer a connection is owed that ended in `error`: hyper's own are held back, and to some things it gives none.
fn last_word(error: &hyper::Error) -> Option<Reply> {
    if error.is_parse_too_large() {
        Some(Reply::HeadTooLarge)
    } else if error.is_parse() || error.is_incomplete_message() {
        Some(Reply::Malformed)
    } else {
        None
    }
}

/// hyper's part: the head's size, and an answer even for clients that have shut their sending side. Its own clock for
/// heads is off: it counts the silence between requests too.
fn builder(limits: &Limits) -> Builder {
    let mut builder = Builder::new();
    builder
        .half_close(true)
        .max_header_size(limits.head_bytes)
        .max_buf_size(limits.head_bytes.max(64 * 1024))
        .header_read_timeout(None);
    builder
}

/// Deadlines are kept to about a quarter of the shortest one, without a timer per request.
fn check_every(limits: &Limits) -> Duration {
    (limits.head.min(limits.idle) / 4).max(Duration::from_millis(5))
}

/// The routes as the service of one connection, telling its phase.
fn service_of(
    shared: Arc<Shared>,
    peer: LoopbackPeer,
    phase: Arc<Phase>,
) -> impl Service<Request<Incoming>, Response = warp::reply::Response, Error = Infallible, Future: Send> {
    let loopback_host_only = shared.settings.loopback_host_only;
    let routes = TowerToHyperService::new(warp::service(routes(shared)));
    service_fn(move |mut request: Request<Incoming>| {
        phase.enter(Stage::Working);
        request.extensions_mut().insert(peer);
        let answer = match refused_before_routing(&request, loopback_host_only) {
            Some(reply) => Err(reply),
            None => Ok(routes.call(request)),
        };
        let phase = phase.clone();
        async move {
            let response: Response<_> = match answer {
                Ok(answer) => answer.await?,
                Err(reply) => reply.response().into_response(),
            };
            phase.enter(Stage::Waiting);
            Ok(response)
        }
    })
}

/// Requests that no route may see. A target without a path (CONNECT has only a host and port) is nothing we have, and
/// warp 0.4 panics at it.
fn refused_before_routing(request: &Request<Incoming>, loopback_host_only: bool) -> Option<Reply> {
    if request.uri().path_and_query().is_none() {
        Some(Reply::NotFound)
    } else if loopback_host_only && !names_this_machine(request) {
        Some(Reply::Misdirected)
    } else {
        None
    }
}
