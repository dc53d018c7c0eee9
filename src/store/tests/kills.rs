//! Other processes: killed, stopped, out of space. A child is this test binary again, running one ignored test.

use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use super::*;

/// Names the store a child works on.
const CHILD: &str = "STORE_TEST_CHILD";

/// A child that is killed at the latest when the test ends.
struct Running(Child, Lines<BufReader<ChildStdout>>);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Running {
    /// Starts the ignored test `name` on the store at `path`, under `shell` when there is one.
    fn start(name: &str, path: &Path, shell: Option<&str>) -> Self {
        let binary = std::env::current_exe().unwrap();
        let mut command = match shell {
            Some(script) => {
                let mut command = Command::new("sh");
                command.args(["-c", &format!("{script}; exec \"$0\" \"$@\"")]).arg(binary);
                command
            }
            None => Command::new(binary),
        };
        command.args(["--ignored", "--exact", "--nocapture", &format!("store::tests::kills::{name}")]);
        let mut child = command.env(CHILD, path).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self(child, lines)
    }

    /// The next line that begins with `word`, without it.
    fn hear(&mut self, word: &str) -> Option<String> {
        self.1.by_ref().map_while(Result::ok).find_map(|line| line.strip_prefix(word).map(str::to_owned))
    }

    fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.0);
        rustix::process::kill_process(pid, signal).unwrap();
    }
}

fn child_path() -> PathBuf {
    std::env::var_os(CHILD).expect("only runs as a child").into()
}

/// The numbers that `child_writes` stored.
fn stored(view: &impl View) -> Result<Vec<u64>, StoreError> {
    waiting(view)
}

#[test]
#[ignore = "a child of other tests"]
#[allow(clippy::print_stdout)]
fn child_writes() {
    let store = Store::open(&child_path(), &CountingIds::default()).unwrap();
    let first = store.read(|view| stored(view)).unwrap().last().map_or(1, |last| last + 1);
    for number in first.. {
        store.write(move |tx| accept(tx, 1, number)).unwrap();
        println!("\nn={number}");
    }
}

#[test]
fn d07_a_writer_killed_at_any_moment_loses_nothing_it_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("local/state.redb");
    let mut told = 0;
    for round in 0..10 {
        let mut child = Running::start("child_writes", &path, None);
        for _ in 0..1 + round * 7 {
            told = child.hear("n=").unwrap().parse().unwrap();
        }
        child.0.kill().unwrap();
        child.0.wait().unwrap();
        let rest = std::iter::from_fn(|| child.hear("n=")).filter_map(|line| line.parse().ok()).max();
        told = told.max(rest.unwrap_or(0));
        let there = if round % 2 == 0 {
            let reader = Reader::open(&path).unwrap();
            assert!(reader.read(|view| check(view)).unwrap().is_empty());
            reader.read(|view| stored(view)).unwrap()
        } else {
            let store = Store::open(&path, &CountingIds::default()).unwrap();
            assert_sound(&store);
            store.read(|view| stored(view)).unwrap()
        };
        assert!(there.len() as u64 >= told, "{} stored, {told} told", there.len());
        assert_eq!(there, (1..=there.len() as u64).collect::<Vec<_>>(), "no gap");
    }
}

#[test]
#[ignore = "a child of other tests"]
#[allow(clippy::print_stdout)]
fn child_looks() {
    let reader = Reader::open(&child_path()).unwrap();
    println!("\nsaw={}", reader.read(|view| stored(view)).unwrap().len());
    loop {
        std::thread::park();
    }
}

#[test]
fn k73_a_stopped_or_killed_reader_neither_holds_nor_grows_the_store() {
    let dir = tempfile::tempdir().unwrap();
    let (path, store) = on_disk(&dir);
    store.write(|tx| accept(tx, 1, 1)).unwrap();
    let mut looking = Running::start("child_looks", &path, None);
    assert_eq!(looking.hear("saw=").unwrap(), "1");
    looking.signal(rustix::process::Signal::STOP);
    let rewrite = |times| {
        for number in 0..times {
            store.write(move |tx| tx.put_meta("big", &format!("{number}{}", "x".repeat(20_000)))).unwrap();
        }
        std::fs::metadata(&path).unwrap().len()
    };
    let (before, after) = (rewrite(30), rewrite(300));
    assert!(after <= before * 2, "{before} grew to {after}");
    looking.0.kill().unwrap();
    looking.0.wait().unwrap();
    store.write(|tx| accept(tx, 1, 2)).unwrap();
    store.close().unwrap();
    let store = Store::open(&path, &CountingIds::default()).unwrap();
    assert_eq!(store.read(|view| stored(view)).unwrap(), [1, 2]);
}

#[test]
fn k73_a_stopped_owner_is_told_in_time_and_a_killed_one_is_no_obstacle() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.redb");
    let mut owner = Running::start("child_writes", &path, None);
    owner.hear("n=").unwrap();
    owner.signal(rustix::process::Signal::STOP);
    // Looking works beside it, or, when it was stopped in the middle of writing the header, says so in time.
    match Reader::open(&path).and_then(|reader| reader.read(|view| stored(view))) {
        Ok(there) => assert!(!there.is_empty()),
        Err(error) => assert!(matches!(error, StoreError::Busy), "{error}"),
    }
    let began = Instant::now();
    assert!(matches!(Store::open(&path, &CountingIds::default()), Err(StoreError::Busy)));
    assert!(began.elapsed() < Duration::from_secs(10));
    owner.0.kill().unwrap();
    owner.0.wait().unwrap();
    assert_sound(&Store::open(&path, &CountingIds::default()).unwrap());
}

#[test]
#[ignore = "a child of other tests"]
#[allow(clippy::print_stdout)]
fn child_fills_the_disk() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let store = Store::open(&child_path(), &CountingIds::default()).unwrap();
    let big = |number: u64| {
        store.write(move |tx| {
            tx.put_meta(&format!("m{number}"), &"x".repeat(50_000))?;
            accept(tx, 1, number)
        })
    };
    let full = (1..).find(|number| big(*number).is_err()).unwrap();
    assert!(matches!(big(full), Err(StoreError::Io { .. })), "it stays full");
    let kept: Vec<u64> = (1..full).collect();
    let limit = getrlimit(Resource::Fsize);
    setrlimit(Resource::Fsize, Rlimit { current: limit.maximum, maximum: limit.maximum }).unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while !store.is_writable() || big(full).is_err() {
        assert!(Instant::now() < deadline, "service does not resume");
        std::thread::yield_now();
    }
    let there = store.read(|view| stored(view)).unwrap();
    assert!(kept.iter().all(|number| there.contains(number)));
    assert_eq!(there, (1..=full).collect::<Vec<_>>());
    assert_sound(&store);
    println!("\nkept={}", kept.len());
}

#[test]
fn d06_service_resumes_by_itself_when_there_is_room_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.redb");
    let mut child = Running::start("child_fills_the_disk", &path, Some("trap '' XFSZ; ulimit -S -f 8192"));
    let kept: u64 = child.hear("kept=").expect("the child says what it kept").parse().unwrap();
    assert!(kept > 3, "{kept}");
    assert!(child.0.wait().unwrap().success());
}
