//! From POST to the text in the pane, by real tmux on a socket of its own.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use crate::home::{Daemon, FIRST, Home, comments};
use crate::load::{Batch, Series, issue_of, mark, run};
use crate::report::{Row, median, ms};

const SESSIONS: u64 = 8;
const BURST: u64 = 2_000;
const SINGLE: u64 = 100;
const COUNTED: u64 = 20;
const PATIENCE: Duration = Duration::from_secs(60);
/// Shows what it is told, and keeps it: what stands in its file was written to the pane before.
const AGENT: &str = "#!/bin/sh\nstty raw -echo\nprintf '\\033[?2004h'\nexec tee \"out-${THE_LOOP_WORK_ITEM##*#}\"\n";

/// All rows about panes, on one home: the sessions stay while daemons come and go.
pub fn rows() -> anyhow::Result<Vec<Row>> {
    let mut home = Home::new(
        "spawnWorkdir: .\ndefaultHarness: agent\nharnesses:\n  agent: {binary: ./agent, bracketedPaste: true}\n",
    )?;
    script(&home.dir().join("agent"), AGENT)?;
    let rows = measure(&mut home);
    home.end_tmux();
    rows
}

fn measure(home: &mut Home) -> anyhow::Result<Vec<Row>> {
    let daemon = home.start()?;
    start_sessions(home, &daemon)?;
    let single = one_by_one(home, &daemon, 1, SINGLE)?;
    let burst = burst(home, &daemon)?;
    daemon.stop()?;
    let processes = count_processes(home)?;
    Ok(vec![
        Row::new(
            "one delivery, unloaded, from POST to text in the pane",
            "p50 15 ms",
            format!("p50 {}", ms(single)),
            single < Duration::from_millis(15),
        ),
        Row::new("tmux processes per delivery", "1", format!("{processes:.2}"), processes <= 1.0),
        burst,
    ])
}

/// A part of the comments, with ids of its own.
fn part(number: u64, issues: u64) -> Series<'static> {
    let series = comments(issues);
    Series { first_comment: series.first_comment + number * 1_000_000, ..series }
}

/// Starts every session by a control word and waits until each has its first prompt.
fn start_sessions(home: &Home, daemon: &Daemon) -> anyhow::Result<()> {
    let series = Series { text: Some("the-loop start"), ..part(0, SESSIONS) };
    let report = run(daemon.address, 1, &Rc::new(Batch::new(&series, SESSIONS)))?;
    ensure!(report.refused == 0, "starting was refused");
    for number in FIRST..FIRST + SESSIONS {
        until(&format!("the first prompt of {number}"), || Ok(heard(home, number)?.contains("github:octo/hello")))?;
    }
    Ok(())
}

/// Posts one delivery at a time, and the next when it was heard.
fn one_by_one(home: &Home, daemon: &Daemon, part_number: u64, count: u64) -> anyhow::Result<Duration> {
    let series = part(part_number, SESSIONS);
    let batch = Batch::new(&series, count);
    let mut stream = TcpStream::connect(daemon.address)?;
    stream.set_nodelay(true)?;
    let mut took = Vec::new();
    for (n, request) in (0..count).zip(batch.requests()) {
        let number = issue_of(&series, n);
        let (file, before) = (output(home, number), heard(home, number)?.len() as u64);
        let said = mark(series.first_comment + n, number);
        let began = Instant::now();
        stream.write_all(&request)?;
        until(&said, || Ok(std::fs::metadata(&file)?.len() > before && heard(home, number)?.contains(&said)))?;
        took.push(began.elapsed());
        ensure!(stream.read(&mut [0; 4096])? > 0, "no answer");
    }
    Ok(median(took))
}

fn burst(home: &Home, daemon: &Daemon) -> anyhow::Result<Row> {
    let series = part(2, SESSIONS);
    let batch = Rc::new(Batch::new(&series, BURST));
    let expected: Vec<(u64, String)> =
        (0..BURST).map(|n| (issue_of(&series, n), mark(series.first_comment + n, issue_of(&series, n)))).collect();
    let began = Instant::now();
    let report = run(daemon.address, 64, &batch)?;
    ensure!(report.refused == 0, "{} of {BURST} were refused", report.refused);
    let begins = format!("comment {}", series.first_comment / 1_000_000);
    until("the burst in the panes", || {
        let mut there = 0;
        for number in FIRST..FIRST + SESSIONS {
            there += heard(home, number)?.matches(&begins).count() as u64;
        }
        Ok(there >= BURST)
    })?;
    let per_second = BURST as f64 / began.elapsed().as_secs_f64();
    let mut right = 0;
    for number in FIRST..FIRST + SESSIONS {
        let text = heard(home, number)?;
        let own = expected.iter().filter(|(owner, _)| *owner == number);
        right += own.filter(|(_, said)| text.matches(said.as_str()).count() == 1).count() as u64;
        let foreign = expected.iter().filter(|(owner, said)| *owner != number && text.contains(said.as_str())).count();
        ensure!(foreign == 0, "{foreign} texts in the pane of {number} belong to others");
    }
    Ok(Row::new(
        format!("{SESSIONS} sessions, 64 connections, burst of {BURST}, into panes"),
        "200/s, each once in its own",
        format!("{per_second:.0}/s, {right} of {BURST} once in their own"),
        per_second >= 200.0 && right == BURST,
    ))
}

/// Runs the daemon with a tmux that counts itself.
fn count_processes(home: &mut Home) -> anyhow::Result<f64> {
    let real = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .map(|dir| dir.join("tmux"))
        .find(|path| path.is_file())
        .context("no tmux in PATH")?;
    let (dir, counter) = (home.dir().join("bin"), home.dir().join("count"));
    std::fs::create_dir(&dir)?;
    let text = format!("#!/bin/sh\necho >> '{}'\nexec '{}' \"$@\"\n", counter.display(), real.display());
    script(&dir.join("tmux"), &text)?;
    home.prepend_path(&dir);
    let daemon = home.start()?;
    let before = std::fs::read(&counter).unwrap_or_default().len();
    one_by_one(home, &daemon, 3, COUNTED)?;
    daemon.stop()?;
    Ok((std::fs::read(&counter)?.len() - before) as f64 / COUNTED as f64)
}

fn output(home: &Home, number: u64) -> PathBuf {
    home.dir().join(format!("out-{number}"))
}

/// What the agent of an issue has heard so far.
fn heard(home: &Home, number: u64) -> anyhow::Result<String> {
    match std::fs::read(output(home, number)) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error.into()),
    }
}

fn until(what: &str, mut there: impl FnMut() -> anyhow::Result<bool>) -> anyhow::Result<()> {
    let deadline = Instant::now() + PATIENCE;
    while !there()? {
        ensure!(Instant::now() < deadline, "waited {PATIENCE:?} for {what}");
        std::thread::sleep(Duration::from_micros(500));
    }
    Ok(())
}

fn script(path: &Path, text: &str) -> anyhow::Result<()> {
    std::fs::write(path, text)?;
    Ok(std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))?)
}
