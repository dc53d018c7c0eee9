//! A receiver on a free port of this machine, and the door behind it.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use the_loop::daemon::receiver::{Answer, Closed, Door, HookPath, Inbound, Limits, Settings, serve};
use tokio::net::TcpListener;
use tokio::sync::watch;

/// How long a condition may take to come true.
const PATIENCE: Duration = Duration::from_secs(20);

/// What the receiver calls with the answer.
pub type Done = Box<dyn FnOnce(Answer) + Send>;

/// Waits until `condition` holds.
pub fn until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "{what}: did not happen in time");
        std::thread::yield_now();
    }
}

/// A door that does what the test says and remembers what it was asked.
pub struct FakeDoor {
    act: Box<dyn Fn(Inbound, Done) + Send + Sync>,
    /// Every request, in order of arrival.
    pub seen: Mutex<Vec<Inbound>>,
    /// What `/readyz` hears.
    pub ready: Mutex<Result<(), String>>,
}

impl FakeDoor {
    /// A door that does `act`.
    pub fn new(act: impl Fn(Inbound, Done) + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { act: Box::new(act), seen: Mutex::default(), ready: Mutex::new(Ok(())) })
    }

    /// A door that accepts everything.
    pub fn open() -> Arc<Self> {
        Self::new(|_, done| done(Answer::Accepted))
    }

    /// A door that keeps every `done`, and the place they are kept.
    pub fn holding() -> (Arc<Self>, Arc<Mutex<Vec<Done>>>) {
        let held = Arc::new(Mutex::new(Vec::new()));
        let keep = held.clone();
        (Self::new(move |_, done| keep.lock().unwrap().push(done)), held)
    }

    /// How many requests came.
    pub fn count(&self) -> usize {
        self.seen.lock().unwrap().len()
    }

    /// The only request that came.
    pub fn only(&self) -> Inbound {
        let seen = self.seen.lock().unwrap();
        assert_eq!(seen.len(), 1, "{seen:?}");
        seen[0].clone()
    }
}

impl Door for FakeDoor {
    fn deliver(&self, request: Inbound, done: Done) {
        self.seen.lock().unwrap().push(request.clone());
        (self.act)(request, done);
    }

    fn ready(&self) -> Result<(), String> {
        self.ready.lock().unwrap().clone()
    }
}

/// A running receiver.
pub struct Server {
    /// Where it listens.
    pub address: SocketAddr,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<Closed>>,
}

impl Server {
    /// A receiver with these limits.
    pub fn start(door: Arc<FakeDoor>, limits: Limits) -> Self {
        Self::with(door, Settings { path: HookPath::parse("/gh-webhook").unwrap(), loopback_host_only: false, limits })
    }

    /// A receiver with these settings.
    pub fn with(door: Arc<FakeDoor>, settings: Settings) -> Self {
        let (stop, stopped) = watch::channel(false);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let thread = std::thread::spawn(move || {
            let closed = runtime.block_on(serve(listener, door, settings, stopped));
            runtime.shutdown_background();
            closed
        });
        Self { address, stop, thread: Some(thread) }
    }

    /// Asks it to stop, without waiting.
    pub fn ask_to_stop(&self) {
        self.stop.send_replace(true);
    }

    /// Stops it and says how it ended.
    pub fn stop(mut self) -> Closed {
        self.ask_to_stop();
        self.thread.take().unwrap().join().unwrap()
    }

    /// Stops it by dropping the sender.
    pub fn abandon(self) -> Closed {
        let Self { stop, thread, .. } = self;
        drop(stop);
        thread.unwrap().join().unwrap()
    }
}
