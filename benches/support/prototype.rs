//! A bare prototype of accepting: the receiver, the check of signature and JSON, and a grouped durable commit of one row
//! per delivery. Nothing is decided, looked up or read from a payload, so this is what the machine allows right now, and the
//! share of it that the daemon reaches moves less than its rate does.

use std::net::Ipv4Addr;
use std::sync::mpsc::{Receiver, Sender, channel};

use redb::{Builder, ConcurrencyMode, Database, TableDefinition};
use the_loop::daemon::receiver::{Answer, Door, Inbound};
use the_loop::domain::event::body::{self, MediaType};
use the_loop::domain::signature::Gate;

use crate::home::comments;
use crate::listener;
use crate::load::Report;

const TABLE: TableDefinition<'static, u64, &[u8]> = TableDefinition::new("deliveries");
/// Bytes of a row: a comment, and what is remembered of it.
const ROW: usize = 6_000;

type Done = Box<dyn FnOnce(Answer) + Send>;

struct BareDoor {
    gate: Gate,
    rows: Sender<(Vec<u8>, Done)>,
}

impl Door for BareDoor {
    fn deliver(&self, request: Inbound, done: Done) {
        let signatures = request.headers.signatures.iter().map(|value| value.as_bytes());
        let Ok(body) = self.gate.admit(signatures, request.body.clone()) else { return done(Answer::BadSignature) };
        if body::read(MediaType::Json, &body).is_err() {
            return done(Answer::Unsupported { reason: String::new() });
        }
        let row = request.body[..ROW.min(request.body.len())].to_vec();
        // Only a failed commit ends the thread that listens; then `done` is dropped, and the client is told.
        drop(self.rows.send((row, done)));
    }

    fn ready(&self) -> Result<(), String> {
        Ok(())
    }
}

/// Commits what waits, over and over, and answers.
fn commit(database: &Database, rows: &Receiver<(Vec<u8>, Done)>) -> anyhow::Result<()> {
    let mut next = 0;
    while let Ok(first) = rows.recv() {
        let group: Vec<_> = std::iter::once(first).chain(rows.try_iter()).collect();
        let mut transaction = database.begin_write()?;
        transaction.set_two_phase_commit(true);
        let mut table = transaction.open_table(TABLE)?;
        for (row, _) in &group {
            next += 1;
            table.insert(next, row.as_slice())?;
        }
        drop(table);
        transaction.commit()?;
        group.into_iter().for_each(|(_, done)| done(Answer::Accepted));
    }
    Ok(())
}

/// `count` deliveries over `connections` connections.
pub fn measure(connections: usize, count: u64) -> anyhow::Result<Report> {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let mut builder = Builder::new();
    builder.set_cache_size(12 << 20).set_concurrency_mode(ConcurrencyMode::SingleWriter);
    let database = builder.create(dir.path().join("redb"))?;
    let (rows, waiting) = channel();
    let committing = std::thread::spawn(move || commit(&database, &waiting));
    let gate = Gate::new(vec![comments(10).secret.to_vec()], false, Ipv4Addr::LOCALHOST.into())?;
    let report = listener::measure(BareDoor { gate, rows }, connections, count)?;
    committing.join().map_err(|_| anyhow::anyhow!("the committing thread panicked"))??;
    Ok(report)
}
