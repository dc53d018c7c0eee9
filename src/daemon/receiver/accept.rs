//! The accept loop: as many connections as there are slots, and an orderly end.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::Door;
use super::body::Budget;
use super::connection::{drive, stopped};
use super::routes::Shared;
use super::settings::Settings;

/// Pause after an accept that failed for want of descriptors or memory: others must free some first.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How a receiver ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed {
    /// Connections that were cut because they did not end within [`super::Limits::shutdown`].
    pub cut: usize,
}

/// Serves `listener` until `shutdown` becomes true or its sender is dropped. Then the port is free at once, requests in
/// hand may end within their deadline, silent connections are closed, and whatever is left is cut. The door may still be
/// deciding what was cut; it is asked no more.
pub async fn serve(
    listener: TcpListener,
    door: Arc<dyn Door>,
    settings: Settings,
    mut shutdown: watch::Receiver<bool>,
) -> Closed {
    let limits = settings.limits.clone();
    let shared = Arc::new(Shared { door, budget: Budget::new(limits.budget_bytes), settings });
    let slots = Arc::new(Semaphore::new(limits.connections));
    let stop = shutdown.clone();
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            () = stopped(&mut shutdown) => break,
            // Ended connections are taken out, so that their number does not grow with history.
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
            accepted = next(&slots, &listener) => match accepted {
                Ok((slot, stream, peer)) => {
                    let connection = drive(stream, peer, shared.clone(), stop.clone());
                    connections.spawn(async move {
                        connection.await;
                        drop(slot);
                    });
                }
                Err(error) => pause_after(&error).await,
            },
        }
    }
    drop(listener);
    let ended = async { while connections.join_next().await.is_some() {} };
    let in_time = timeout(limits.shutdown, ended).await;
    let cut = if in_time.is_ok() { 0 } else { connections.len() };
    connections.shutdown().await;
    Closed { cut }
}

/// Waits for a slot first, then for a connection: what has no slot waits in the kernel and costs nothing here.
async fn next(
    slots: &Arc<Semaphore>,
    listener: &TcpListener,
) -> io::Result<(OwnedSemaphorePermit, TcpStream, SocketAddr)> {
    let slot = slots.clone().acquire_owned().await.map_err(io::Error::other)?;
    let (stream, peer) = listener.accept().await?;
    stream.set_nodelay(true)?;
    Ok((slot, stream, peer))
}

/// A client that went away before it was accepted is no reason to wait; everything else is.
async fn pause_after(error: &io::Error) {
    use io::ErrorKind as K;
    if !matches!(error.kind(), K::ConnectionAborted | K::ConnectionReset | K::Interrupted | K::InvalidInput) {
        sleep(ACCEPT_PAUSE).await;
    }
}
