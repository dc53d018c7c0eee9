//! The daemon's receiver in this process, before a door of the bench's own.

use std::rc::Rc;
use std::sync::Arc;

use the_loop::daemon::receiver::{Door, HookPath, Limits, Settings, serve};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::home::comments;
use crate::load::{Batch, Report, run};

/// `count` deliveries over `connections` connections to `door`, which has to accept them all.
pub fn measure(door: impl Door, connections: usize, count: u64) -> anyhow::Result<Report> {
    let series = comments(10);
    let batch = Rc::new(Batch::new(&series, count));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let (stop, stopped) = watch::channel(false);
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
    let address = listener.local_addr()?;
    let settings =
        Settings { path: HookPath::parse(series.path)?, loopback_host_only: false, limits: Limits::default() };
    let server = runtime.spawn(serve(listener, Arc::new(door), settings, stopped));
    let report = run(address, connections, &batch)?;
    stop.send(true)?;
    runtime.block_on(server)?;
    anyhow::ensure!(report.refused == 0, "{} of {count} were refused by a door that accepts all", report.refused);
    Ok(report)
}
