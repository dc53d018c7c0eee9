//! What this machine's disk allows: the ground that every other figure stands on.

use std::io::Write;
use std::time::{Duration, Instant};

use redb::{Builder, ConcurrencyMode, TableDefinition};

use crate::report::{Row, median, ms};

const TABLE: TableDefinition<'static, u64, &[u8]> = TableDefinition::new("rows");
/// Rows of a group, about what 64 connections give.
const GROUP: u64 = 32;

/// A bare sync, a bare commit, and a commit of a group.
pub fn rows() -> anyhow::Result<Vec<Row>> {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let mut file = std::fs::File::create(dir.path().join("plain"))?;
    let sync = time(200, || {
        file.write_all(&[7; 4096])?;
        Ok(file.sync_data()?)
    })?;
    let mut builder = Builder::new();
    builder.set_cache_size(24 << 20).set_concurrency_mode(ConcurrencyMode::SingleWriter);
    let database = builder.create(dir.path().join("redb"))?;
    let row = [b'x'; 6_000];
    let mut next = 0;
    let mut commit = |count: u64| {
        let mut transaction = database.begin_write()?;
        transaction.set_two_phase_commit(true);
        let mut table = transaction.open_table(TABLE)?;
        for _ in 0..count {
            next += 1;
            table.insert(next, row.as_slice())?;
        }
        drop(table);
        Ok(transaction.commit()?)
    };
    let one = time(200, || commit(1))?;
    let group = time(200, || commit(GROUP))?;
    Ok(vec![
        Row::note("4 KiB written and synced to this disk, median", ms(sync)),
        Row::note("redb: one row of 6 KB, durable, two phases, median", ms(one)),
        Row::note(
            format!("redb: {GROUP} rows of 6 KB in one commit, likewise"),
            format!("{}, {:.0} rows/s", ms(group), GROUP as f64 / group.as_secs_f64()),
        ),
    ])
}

fn time(times: usize, mut once: impl FnMut() -> anyhow::Result<()>) -> anyhow::Result<Duration> {
    let mut took = Vec::new();
    for _ in 0..times {
        let began = Instant::now();
        once()?;
        took.push(began.elapsed());
    }
    Ok(median(took))
}
