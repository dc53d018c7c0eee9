//! The owner's side: a bounded number of connections, each from this user, each with a deadline.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1::Builder;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, sleep, timeout};

use super::place::{Place, PlaceError};
use super::routes::routes;
use super::wire::Hello;
use crate::app::request::{Request, Response, Trouble};
use crate::daemon::vitals::Progress;

/// Connections served at once; more wait in the kernel.
const CONNECTIONS: usize = 32;
/// A connection has this long to say what it wants.
const HEAD: Duration = Duration::from_secs(5);
/// A connection is cut after this, whatever it does: a stopped command must not keep a slot.
const WHOLE: Duration = Duration::from_secs(180);
/// Answers that are under way may take this long when everything ends.
const END: Duration = Duration::from_secs(2);
/// Time between two looks whether the socket is still there.
const LOOK: Duration = Duration::from_secs(2);
/// Pause after an accept that failed for want of descriptors.
const PAUSE: Duration = Duration::from_millis(50);

/// What the socket asks of the process that owns the store. Called on threads that may block.
pub trait Control: Send + Sync + 'static {
    /// Who this is.
    fn hello(&self) -> Hello;

    /// Begins the end; answered before it is done.
    fn stop(&self);

    /// Whether the folder of the socket is still that of the store this process owns: then it may bind there anew.
    fn owns_the_place(&self) -> bool;

    /// Commands cannot reach it at its socket, and why; `None` when they can again.
    fn unreached(&self, why: Option<String>);

    /// Reads the configuration again; the keys that changed and need a restart.
    ///
    /// # Errors
    /// It cannot be used, and the one before stays.
    fn reload(&self) -> Result<Vec<String>, Trouble>;

    /// How its parts get on.
    fn progress(&self) -> Progress;

    /// Answers a request.
    ///
    /// # Errors
    /// Why it was not answered.
    fn respond(&self, request: &Request) -> Result<Response, Trouble>;
}

/// A socket that is bound and not served yet.
pub struct Bound {
    listener: UnixListener,
    place: Place,
    /// Which file the socket is.
    identity: Option<(u64, u64)>,
}

/// Binds the socket. Only the store's owner may: it takes away what an earlier owner left.
///
/// # Errors
/// Something else lies there, or the system said no.
pub fn bind(place: &Place) -> Result<Bound, PlaceError> {
    place.clear()?;
    let bound = UnixListener::bind(place.path());
    let listener = bound.map_err(|source| PlaceError::Io { path: place.path().to_owned(), source })?;
    place.protect()?;
    Ok(Bound { listener, identity: place.identity(), place: place.clone() })
}

impl Bound {
    /// Binds anew where the socket is not there any more. In a folder that was replaced it is somebody else's to do.
    fn restore(&mut self, control: &dyn Control) {
        if self.identity.is_some() && self.place.identity() == self.identity {
            return control.unreached(None);
        }
        if !control.owns_the_place() {
            return;
        }
        match bind(&self.place) {
            Ok(anew) => {
                *self = anew;
                control.unreached(None);
            }
            Err(error) => control.unreached(Some(format!("commands cannot reach the daemon: {error}"))),
        }
    }
}

/// Serves until `shutdown` becomes true or its sender is gone; then the socket is removed, and answers under way get a
/// moment to end.
///
/// A socket that was removed is bound anew: without it no command reaches the owner, and none can take its place.
pub async fn serve(mut bound: Bound, control: Arc<dyn Control>, mut shutdown: watch::Receiver<bool>) {
    let mut looks = tokio::time::interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let slots = Arc::new(Semaphore::new(CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let next = async {
            // A slot first: what has none waits in the kernel.
            let slot = slots.clone().acquire_owned().await.map_err(io::Error::other)?;
            Ok::<_, io::Error>((slot, bound.listener.accept().await?.0))
        };
        tokio::select! {
            biased;
            () = stopped(&mut shutdown) => break,
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
            _ = looks.tick() => bound.restore(control.as_ref()),
            accepted = next => match accepted {
                Ok((slot, stream)) if is_ours(&stream) => {
                    let control = control.clone();
                    connections.spawn(async move {
                        // Whatever ends a connection, its command hears of it.
                        let _ = timeout(WHOLE, drive(stream, control)).await;
                        drop(slot);
                    });
                }
                // Somebody else's: closed without a word.
                Ok(_) => {}
                Err(_) => sleep(PAUSE).await,
            },
        }
    }
    bound.place.remove(bound.identity);
    // Who connected before that hears that it ends; cut off he could not know what became of what he asked.
    while let Ok(Ok((stream, _))) = timeout(Duration::ZERO, bound.listener.accept()).await {
        if is_ours(&stream) {
            let control = control.clone();
            connections.spawn(async move { drop(drive(stream, control).await) });
        }
    }
    drop(bound);
    let _ = timeout(END, async { while connections.join_next().await.is_some() {} }).await;
    connections.shutdown().await;
}

/// Waits until the end is asked for; a vanished sender asks for it too.
async fn stopped(shutdown: &mut watch::Receiver<bool>) {
    let _ = shutdown.wait_for(|stop| *stop).await;
}

/// Whether the process at the other end runs as this user.
fn is_ours(stream: &UnixStream) -> bool {
    stream.peer_cred().is_ok_and(|peer| peer.uid() == rustix::process::geteuid().as_raw())
}

async fn drive(stream: UnixStream, control: Arc<dyn Control>) -> Result<(), hyper::Error> {
    let service = TowerToHyperService::new(warp::service(routes(control)));
    let mut builder = Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD).keep_alive(false);
    builder.serve_connection(TokioIo::new(stream), service).await
}
