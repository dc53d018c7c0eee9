//! The owner of a pull request, among few and among many.

use std::time::{Duration, Instant};

use anyhow::ensure;
use the_loop::domain::reference::WorkItemRef;
use the_loop::domain::session::{PaneKey, Session};
use the_loop::store::View as _;

use crate::home::{Home, reference, time};
use crate::report::{Row, median};

const RECORDS: [u64; 2] = [100, 100_000];
/// Pull requests are numbered from here.
const PULLS: u64 = 1_000_000;
const LOOK_UPS: u64 = 2_000;
/// A ratio up to here is the same time: the tree of the large table has a level or two more.
const SAME: f64 = 2.0;

/// The ratio of the two times.
pub fn rows() -> anyhow::Result<Vec<Row>> {
    let few = look_up(RECORDS[0])?;
    let many = look_up(RECORDS[1])?;
    let ratio = many.as_secs_f64() / few.as_secs_f64();
    Ok(vec![Row::new(
        "owner of a pull request with its record, among 100 and among 100,000",
        "same time",
        format!("{few:?} and {many:?}, ratio {ratio:.2}"),
        ratio < SAME,
    )])
}

fn pull(at: u64) -> anyhow::Result<WorkItemRef> {
    reference(PULLS + at)
}

/// Median time from a pull request to its owner's record, each look-up in a snapshot of its own.
fn look_up(records: u64) -> anyhow::Result<Duration> {
    let home = Home::new("")?;
    home.fill(records)?;
    let store = home.store()?;
    for begin in (0..records).step_by(5_000) {
        let rows = (begin..records.min(begin + 5_000)).map(|at| {
            let (owner, pull) = (reference(at)?, pull(at)?);
            let key = PaneKey::new(&store.id(), &owner, &pull);
            Ok((owner.key(), Session::recorded(pull, key, "claude".into(), time())))
        });
        let rows = rows.collect::<anyhow::Result<Vec<_>>>()?;
        store.write(move |tx| rows.iter().try_for_each(|(owner, session)| tx.put_endpoint(owner, session)))?;
    }
    let mut took = Vec::new();
    for n in 0..2 * LOOK_UPS {
        let at = n * 7919 % records;
        let (pull, owner) = (pull(at)?.key(), reference(at)?.key());
        let began = Instant::now();
        let found = store.read(|tx| {
            let owners = tx.owners(&pull)?;
            let item = owners.first().map(|owner| tx.item(owner)).transpose()?.flatten();
            Ok(item.map(|item| item.reference.key()))
        })?;
        // The first half fills the cache.
        if n >= LOOK_UPS {
            took.push(began.elapsed());
        }
        ensure!(found == Some(owner), "the owner of {} is {found:?}", pull.as_str());
    }
    store.close()?;
    Ok(median(took))
}
