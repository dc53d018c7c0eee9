//! How fast the receiver is by itself: a door that accepts everything at once.

use std::sync::Arc;

use the_loop::daemon::receiver::{Answer, Door, HookPath, Inbound, Limits, Settings, serve};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::load::{Batch, Series, run};

struct NullDoor;

impl Door for NullDoor {
    fn deliver(&self, _: Inbound, done: Box<dyn FnOnce(Answer) + Send>) {
        done(Answer::Accepted);
    }

    fn ready(&self) -> Result<(), String> {
        Ok(())
    }
}

/// Runs the receiver with a null door under 64 connections and returns a line for the report.
pub fn report(count: u64) -> anyhow::Result<String> {
    let secret = b"a secret of the bench";
    let series = Series {
        secret,
        path: "/gh-webhook",
        repo: "octo/hello",
        login: "mona",
        at: "2026-01-02T03:04:05Z",
        body_bytes: 14_000,
        first_number: 100_000_000,
        issues: 10,
        first_comment: 1_000_000_000,
    };
    let batch = Batch::new(&series, count);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let (stop, stopped) = watch::channel(false);
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
    let address = listener.local_addr()?;
    let settings =
        Settings { path: HookPath::parse(series.path)?, loopback_host_only: false, limits: Limits::default() };
    let server = runtime.spawn(serve(listener, Arc::new(NullDoor), settings, stopped));
    let report = run(address, 64, batch)?;
    stop.send(true)?;
    runtime.block_on(server)?;
    Ok(format!(
        "receiver, null door: {:.0}/s, p50 {:?}, p99 {:?}, slowest {:?}, {} refused",
        report.per_second(),
        report.p50,
        report.p99,
        report.slowest,
        report.refused
    ))
}
