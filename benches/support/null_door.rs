//! How fast the receiver is by itself: a door that accepts everything at once.

use std::rc::Rc;
use std::sync::Arc;

use the_loop::daemon::receiver::{Answer, Door, HookPath, Inbound, Limits, Settings, serve};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::home::comments;
use crate::load::{Batch, run};
use crate::report::{Row, figure};

struct NullDoor;

impl Door for NullDoor {
    fn deliver(&self, _: Inbound, done: Box<dyn FnOnce(Answer) + Send>) {
        done(Answer::Accepted);
    }

    fn ready(&self) -> Result<(), String> {
        Ok(())
    }
}

/// The receiver by itself under 64 connections.
pub fn rows(count: u64) -> anyhow::Result<Vec<Row>> {
    let series = comments(10);
    let batch = Rc::new(Batch::new(&series, count));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let (stop, stopped) = watch::channel(false);
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
    let address = listener.local_addr()?;
    let settings =
        Settings { path: HookPath::parse(series.path)?, loopback_host_only: false, limits: Limits::default() };
    let server = runtime.spawn(serve(listener, Arc::new(NullDoor), settings, stopped));
    let report = run(address, 64, &batch)?;
    stop.send(true)?;
    runtime.block_on(server)?;
    anyhow::ensure!(report.refused == 0, "{} of {count} were refused by a door that accepts all", report.refused);
    Ok(vec![Row::note("receiver alone, nothing checked, decided or stored", figure(&report))])
}
