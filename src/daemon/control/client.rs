//! The command's side: one request, one answer, a deadline for each step.

use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1;
use hyper::header::{CONTENT_LENGTH, HOST};
use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::wire::{Answer, HELLO, MAX_ANSWER, PROGRAM, PROGRAM_HEADER, PROGRESS, RELOAD, REQUEST, STOP};
use crate::app::request::Request;

/// The socket takes connections in the kernel: a living owner is reached at once.
const CONNECT: Duration = Duration::from_secs(2);

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// Nobody listens: there is no socket, or its owner is gone.
    #[error("nobody listens on {path}: {source}")]
    Unreachable {
        /// The socket.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// Another process listens there than the one that owns the store.
    #[error("{path} leads to the process with pid {found}, which is not the owner")]
    Stranger {
        /// The socket.
        path: String,
        /// Who listens.
        found: u32,
    },
    /// It took the connection and did not answer in time, or not wholly.
    #[error("the owner of the store did not answer within {} s", .0.as_secs())]
    Silent(Duration),
    /// It answered something that is no answer, or went away meanwhile.
    #[error("the owner of the store broke off: {0}")]
    Broken(String),
}

/// What can be asked.
#[derive(Debug, Clone)]
pub enum Call {
    /// Who are you? Any version answers.
    Hello,
    /// End. Any version obeys.
    Stop,
    /// Read the configuration again.
    Reload,
    /// How do your parts get on?
    Progress,
    /// A request.
    Request(Box<Request>),
}

impl Call {
    fn parts(&self) -> (&'static str, &'static str, Result<Vec<u8>, serde_json::Error>) {
        match self {
            Self::Hello => ("GET", HELLO, Ok(Vec::new())),
            Self::Stop => ("POST", STOP, Ok(Vec::new())),
            Self::Reload => ("POST", RELOAD, Ok(Vec::new())),
            Self::Progress => ("GET", PROGRESS, Ok(Vec::new())),
            Self::Request(request) => ("POST", REQUEST, serde_json::to_vec(request)),
        }
    }
}

/// Asks the owner that listens on `socket` and waits at most `limit` for the whole answer. With `owner`, nothing is said
/// to another process: a link could lead to the socket of another store.
///
/// # Errors
/// Nobody is there, or somebody else, or there is no answer.
pub fn call(socket: &Path, owner: Option<u32>, call: &Call, limit: Duration) -> Result<Answer, CallError> {
    let unreachable = |source| CallError::Unreachable { path: socket.display().to_string(), source };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(unreachable)?;
    runtime.block_on(async {
        let stream = match timeout(CONNECT, UnixStream::connect(socket)).await {
            Ok(connected) => connected.map_err(unreachable)?,
            Err(_) => return Err(CallError::Silent(CONNECT)),
        };
        if let Some(found) = listener(&stream).filter(|found| owner.is_some_and(|owner| owner != *found)) {
            return Err(CallError::Stranger { path: socket.display().to_string(), found });
        }
        timeout(limit, exchange(stream, call)).await.unwrap_or(Err(CallError::Silent(limit)))
    })
}

/// Who listens at the other end, as the kernel says; `None` where it does not, or not by a number of ours.
fn listener(stream: &UnixStream) -> Option<u32> {
    let pid = stream.peer_cred().ok()?.pid()?;
    u32::try_from(pid).ok().filter(|pid| *pid > 0)
}

async fn exchange(stream: UnixStream, call: &Call) -> Result<Answer, CallError> {
    let broken = |error: &dyn std::fmt::Display| CallError::Broken(error.to_string());
    let (method, path, body) = call.parts();
    let body = body.map_err(|error| broken(&error))?;
    let request = hyper::Request::builder()
        .method(method)
        .uri(path)
        .header(HOST, "the-loop")
        .header(PROGRAM_HEADER, PROGRAM)
        .header(CONTENT_LENGTH, body.len())
        .body(Full::new(Bytes::from(body)))
        .map_err(|error| broken(&error))?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(|error| broken(&error))?;
    let asked = async {
        let response = sender.send_request(request).await.map_err(|error| broken(&error))?;
        let body = Limited::new(response.into_body(), MAX_ANSWER).collect().await.map_err(|error| broken(&error))?;
        serde_json::from_slice(&body.to_bytes()).map_err(|error| broken(&error))
    };
    tokio::pin!(asked);
    tokio::select! {
        answer = &mut asked => answer,
        // The connection may end together with the answer.
        _ = connection => asked.await,
    }
}
