//! Durable accepted deliveries: signed, decided and stored by the real daemon before the answer.

use std::rc::Rc;
use std::time::Duration;

use anyhow::ensure;
use the_loop::domain::decide::{DeliveryState, IdentityState};
use the_loop::domain::effect::{Class, Place};
use the_loop::domain::event::Identity;
use the_loop::domain::ids::DeliveryId;

use crate::home::{Home, comments, reference, time};
use crate::load::{Batch, Report, run};
use crate::prototype;
use crate::report::{Row, figure};

/// Connections of the client.
const CONNECTIONS: usize = 64;
/// Deliveries of a run.
const DELIVERIES: u64 = 100_000;
/// Deliveries before the clock starts.
const WARM_UP: u64 = 2_000;
/// How often a fresh store and one behind finished work are compared.
const TURNS: usize = 3;
/// Records of the small and of the large store.
const RECORDS: [u64; 2] = [10, 100_000];
const PER_SECOND: f64 = 12_000.0;
const P99: Duration = Duration::from_millis(15);
const RESIDENT_MIB: f64 = 64.0;

/// What one run came to.
struct Outcome {
    report: Report,
    resident: (f64, f64),
    /// Processor time of daemon and client, microseconds per delivery.
    processor: (f64, f64),
}

/// All rows about accepting.
pub fn rows() -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    let large = filled(RECORDS[1])?;
    // What is compared stands between two runs of what it is compared with.
    let bare = || prototype::measure(CONNECTIONS, DELIVERIES / 2);
    let before = bare()?;
    let fresh = measure(&filled(RECORDS[0])?, RECORDS[0], DELIVERIES)?;
    let between = bare()?;
    let many = measure(&large, RECORDS[1], DELIVERIES)?;
    let after = bare()?;
    rows.push(Row::note("a bare prototype: receiver, check and grouped commit, nothing decided", figure(&between)));
    rows.extend(accepted(RECORDS[0], &fresh, [&before, &between]));
    rows.extend(accepted(RECORDS[1], &many, [&between, &after]));
    for (records, outcome) in RECORDS.iter().zip([&fresh, &many]) {
        let (now, most) = outcome.resident;
        rows.push(Row::new(
            format!("resident memory after {DELIVERIES} deliveries, {records} records"),
            "under 64 MiB",
            format!("{now:.0} MiB (at most {most:.0} MiB)"),
            now < RESIDENT_MIB,
        ));
    }
    rows.push(behind_finished_work()?);
    Ok(rows)
}

/// A fresh store and one behind finished work, in turns: the machine's speed changes between one run and the next.
fn behind_finished_work() -> anyhow::Result<Row> {
    let (mut fresh, mut behind) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        fresh.push(measure(&filled(RECORDS[0])?, RECORDS[0], DELIVERIES / 4)?.report.per_second());
        let finished = filled(RECORDS[0])?;
        finish(&finished, DELIVERIES)?;
        behind.push(measure(&finished, RECORDS[0], DELIVERIES / 4)?.report.per_second());
    }
    let mean = |rates: &[f64]| rates.iter().sum::<f64>() / rates.len() as f64;
    let (fresh, behind) = (mean(&fresh), mean(&behind));
    let ratio = behind / fresh;
    Ok(Row::new(
        format!("the same behind {DELIVERIES} settled effects, as a share of a fresh store"),
        "no slower",
        format!("{ratio:.2} ({behind:.0}/s and {fresh:.0}/s)"),
        ratio > 0.9,
    ))
}

fn accepted(records: u64, outcome: &Outcome, bare: [&Report; 2]) -> [Row; 3] {
    let (report, (daemon, client)) = (&outcome.report, outcome.processor);
    let row = Row::new(
        format!("accepted deliveries, {CONNECTIONS} connections, 14 KB, {records} records"),
        "12,000/s, p99 15 ms",
        figure(report),
        report.per_second() >= PER_SECOND && report.p99 < P99,
    );
    let processor = format!("{daemon:.0} µs in the daemon, {client:.0} µs in the client");
    let bare = bare.iter().map(|report| report.per_second()).sum::<f64>() / bare.len() as f64;
    let compared = Row::note(
        format!("these as a share of the prototype's before and after, {records} records"),
        format!("{:.2} (of {bare:.0}/s)", report.per_second() / bare),
    );
    [row, compared, Row::note(format!("processor time per delivery of these, {records} records"), processor)]
}

fn filled(records: u64) -> anyhow::Result<Home> {
    let home = Home::new("")?;
    home.fill(records)?;
    Ok(home)
}

/// Posts `count` deliveries over `records` records and checks that every one waits for its paused session.
fn measure(home: &Home, records: u64, count: u64) -> anyhow::Result<Outcome> {
    let series = comments(records);
    let warm_up = comments(records);
    let warm_up = crate::load::Series { first_comment: warm_up.first_comment + count, ..warm_up };
    let (first, batch) = (Rc::new(Batch::new(&warm_up, WARM_UP)), Rc::new(Batch::new(&series, count)));
    let daemon = home.start()?;
    run(daemon.address, CONNECTIONS, &first)?;
    let before = daemon.processor()?;
    let report = run(daemon.address, CONNECTIONS, &batch)?;
    let (after, resident) = (daemon.processor()?, daemon.resident()?);
    let micros = |after: Duration, before: Duration| (after - before).as_secs_f64() * 1e6 / count as f64;
    let processor = (micros(after.0, before.0), micros(after.1, before.1));
    daemon.stop()?;
    ensure!(report.refused == 0, "{} of {count} deliveries were refused", report.refused);
    let waiting = home.waiting()?;
    ensure!(waiting as u64 == count + WARM_UP, "{waiting} effects wait after {count} + {WARM_UP} deliveries");
    Ok(Outcome { report, resident, processor })
}

/// Writes what `count` deliveries leave behind once they are done.
fn finish(home: &Home, count: u64) -> anyhow::Result<()> {
    let (store, lane, at) = (home.store()?, reference(0)?.key(), time());
    let numbers: Vec<u64> = (0..count).collect();
    for chunk in numbers.chunks(5_000) {
        let (chunk, lane) = (chunk.to_vec(), lane.clone());
        store.write(move |tx| {
            for number in &chunk {
                let place = Place { class: Class::Ordinary, seq: u64::MAX / 2 + number };
                tx.put_settled(place, &lane, "deliver", "delivered", at)?;
                let id = DeliveryId::parse(&format!("{number:08x}-1111-4000-8000-{number:012x}"));
                if let Ok(id) = id {
                    tx.put_delivery(&id, DeliveryState::Decided, at)?;
                }
                let identity = Identity::new("github.com", 186_853_002, "issue-comment", &number.to_string());
                tx.put_identity(&identity, IdentityState::Spoken, at)?;
            }
            Ok(())
        })?;
    }
    Ok(store.close()?)
}
