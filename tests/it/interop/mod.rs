//! The earlier system, installed by `make interop`, and this one over the same files, in turn. Its own classes read and
//! write (`driver.py`); where it is not installed, each of these tests says that it was skipped and why.

mod histories;
mod sessions;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value as Json, json};

/// A running driver of the earlier system.
pub struct Peer {
    child: Child,
    asks: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    _home: tempfile::TempDir,
}

impl Peer {
    /// Starts it; `None` where it is not installed, which is said.
    pub fn start(test: &str) -> Option<Self> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let python = here.join("target/interop/current/bin/python");
        if !python.exists() {
            // Past the capture of the test's output.
            let said = format!("skipped: {test}: the earlier system is not installed; `make interop` installs it\n");
            std::io::stderr().write_all(said.as_bytes()).unwrap();
            return None;
        }
        // It logs below its working directory, and looks for its configuration there and at home.
        let home = tempfile::tempdir().unwrap();
        let mut child = Command::new(python)
            .current_dir(home.path())
            .env("HOME", home.path())
            .arg(here.join("tests/it/interop/driver.py"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (asks, answers) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Some(Self { child, asks, answers, _home: home })
    }

    /// Has it do something over the state root `root`; what it answers.
    pub fn ask(&mut self, root: &Path, what: &str, arguments: Json) -> Json {
        let mut request = arguments;
        request["do"] = what.into();
        request["root"] = root.to_str().unwrap().into();
        writeln!(self.asks.as_mut().unwrap(), "{request}").unwrap();
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        let answer: Json = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?} to {request}"));
        assert!(answer.get("error").is_none(), "{request}: {answer}");
        answer["ok"].clone()
    }

    /// What it reads of one item.
    pub fn read(&mut self, root: &Path, item: &str) -> Json {
        self.ask(root, "read", json!({ "ref": item }))
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It ends with its input.
        drop(self.asks.take());
        let _ = self.child.wait();
    }
}
