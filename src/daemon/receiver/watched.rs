//! The socket as the receiver watches it: when a request began, and what hyper says by itself.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;

use super::answer::Reply;
use super::settings::Limits;

/// Most bytes thrown away for the sake of a client that has not read its answer yet.
const LINGER_BYTES: usize = 256 * 1024 * 1024;

/// What a connection is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Just accepted: nothing has come at all. Such a connection gets the time of a head and not that of a kept one,
    /// so that strangers cannot sit on all slots by saying nothing.
    Fresh,
    /// Nothing of a next request has come.
    Waiting,
    /// Some bytes of a request came, its head is not complete.
    Head,
    /// A request is being answered; its own deadlines hold.
    Working,
}

impl Stage {
    /// Whether no request is in hand, not even in part.
    pub(super) fn is_silent(self) -> bool {
        matches!(self, Self::Fresh | Self::Waiting)
    }
}

/// The stage of a connection and since when, shared by socket, service and supervisor without a lock.
#[derive(Debug)]
pub(super) struct Phase {
    began: Instant,
    packed: AtomicU64,
}

impl Phase {
    /// A fresh connection.
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { began: Instant::now(), packed: AtomicU64::new(0) })
    }

    /// Enters a stage now.
    pub(super) fn enter(&self, stage: Stage) {
        let millis = self.began.elapsed().as_millis() as u64;
        self.packed.store(millis << 2 | stage as u64, Ordering::Relaxed);
    }

    /// The stage and how long it has lasted.
    pub(super) fn now(&self) -> (Stage, Duration) {
        let packed = self.packed.load(Ordering::Relaxed);
        let stage = match packed & 3 {
            0 => Stage::Fresh,
            1 => Stage::Waiting,
            2 => Stage::Head,
            _ => Stage::Working,
        };
        (stage, self.began.elapsed().saturating_sub(Duration::from_millis(packed >> 2)))
    }

    /// The stage, when it has lasted longer than it may.
    pub(super) fn overdue(&self, limits: &Limits) -> Option<Stage> {
        let (stage, lasted) = self.now();
        let late = match stage {
            Stage::Waiting => lasted > limits.idle,
            Stage::Fresh | Stage::Head => lasted > limits.head,
            Stage::Working => false,
        };
        late.then_some(stage)
    }
}

/// A socket that notes when a request begins, and holds back the bodiless answers hyper gives to malformed requests:
/// the receiver gives its own, in JSON like all others.
#[derive(Debug)]
pub(super) struct Watched {
    stream: TcpStream,
    phase: Arc<Phase>,
}

impl Watched {
    /// Watches `stream`.
    pub(super) fn new(stream: TcpStream, phase: Arc<Phase>) -> Self {
        Self { stream, phase }
    }

    /// Ends the connection so that the client gets what was said: a last answer where one is owed, the end of our side,
    /// then whatever the client still sends is thrown away for a while. Closing with unread input would send a reset,
    /// and a reset takes the answer with it.
    pub(super) async fn finish(mut self, reply: Option<Reply>, linger: Duration) {
        let farewell = async {
            if let Some(reply) = reply {
                self.stream.write_all(&reply.raw()).await?;
            }
            self.stream.shutdown().await?;
            let mut rest = LINGER_BYTES;
            let mut waste = vec![0; 16 * 1024];
            loop {
                let read = self.stream.read(&mut waste).await?;
                rest = rest.saturating_sub(read);
                if read == 0 || rest == 0 {
                    return Ok::<_, io::Error>(());
                }
            }
        };
        // Neither an error nor the deadline leaves anything to do: the socket is dropped either way.
        let _ = tokio::time::timeout(linger, farewell).await;
    }
}

/// Whether these are the bytes of an answer hyper made up itself; every answer of ours has a body.
fn is_automatic(bytes: &[u8]) -> bool {
    const NO_BODY: &[u8] = b"content-length: 0\r\n";
    bytes.starts_with(b"HTTP/1.") && bytes.get(9) == Some(&b'4') && bytes.windows(NO_BODY.len()).any(|w| w == NO_BODY)
}

impl AsyncRead for Watched {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buf);
        if buf.filled().len() > before && self.phase.now().0.is_silent() {
            self.phase.enter(Stage::Head);
        }
        polled
    }
}

impl AsyncWrite for Watched {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if is_automatic(buf) {
            return Poll::Ready(Ok(buf.len()));
        }
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    /// Left to [`Self::finish`]: after hyper's own end there may be an answer to give.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
