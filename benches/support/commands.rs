//! Commands as a person waits for them: whole processes, from start to end.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::ensure;

use crate::home::{Home, PROGRAM};
use crate::report::{Row, median, ms};

/// `--version`, and `sessions list` of few and of many records.
pub fn rows() -> anyhow::Result<Vec<Row>> {
    let empty = Home::new("")?;
    let version = time(&empty, &["--version"], 51)?;
    let mut rows = vec![row("`--version`", version, 5)];
    for (records, limit) in [(10, 10), (10_000, 100)] {
        let home = Home::new("")?;
        home.fill(records)?;
        let listed = home.command(PROGRAM, &["sessions", "list"]).output()?.stdout;
        let lines = listed.iter().filter(|byte| **byte == b'\n').count() as u64;
        ensure!(lines == records + 1, "{lines} lines for {records} records");
        let took = time(&home, &["sessions", "list"], 21)?;
        rows.push(row(&format!("`sessions list` of {records} records"), took, limit));
    }
    Ok(rows)
}

/// A time beside its limit.
pub fn row(what: &str, took: Duration, limit_ms: u64) -> Row {
    Row::new(what, &format!("under {limit_ms} ms"), ms(took), took < Duration::from_millis(limit_ms))
}

/// Median time of a command that must succeed.
fn time(home: &Home, args: &[&str], times: usize) -> anyhow::Result<Duration> {
    Ok(median((0..times).map(|_| once(home, args)).collect::<anyhow::Result<_>>()?))
}

/// How long a command takes that must succeed.
pub fn once(home: &Home, args: &[&str]) -> anyhow::Result<Duration> {
    timed(&mut home.command(PROGRAM, args))
}

/// The same of a command that was prepared.
pub fn timed(command: &mut Command) -> anyhow::Result<Duration> {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let began = Instant::now();
    let status = command.status()?;
    let took = began.elapsed();
    ensure!(status.success(), "{command:?} ended with {status}");
    Ok(took)
}
