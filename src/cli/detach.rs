//! Starting the daemon in the background: this very program once more, in a session of its own, heard until it is ready.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value as Json;

use super::context::Context;
use super::exit::{Failure, Kind};
use crate::daemon::compose::Setting;

/// How long a daemon may take until it is ready: it waits for a dying owner, migrates and recovers meanwhile.
const READY: Duration = Duration::from_secs(60);
/// A file of what earlier daemons printed is begun anew above this.
const MAX_OUTPUT: u64 = 1 << 20;

/// What a daemon says when everything serves.
#[derive(Debug, Clone)]
pub(super) struct Started {
    /// Its document.
    pub document: Json,
}

impl Started {
    /// For people.
    pub fn text(&self) -> String {
        let pid = self.document["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok()).unwrap_or_default();
        ready_text(pid, self.document["receiver"].as_str())
    }
}

/// The line that says that everything serves.
pub(super) fn ready_text(pid: u32, receiver: Option<&str>) -> String {
    match receiver {
        Some(url) => format!("ready: pid {pid}, receiver {url}\n"),
        None => format!("ready: pid {pid}, no receiver\n"),
    }
}

/// Starts it and waits for its word.
pub(super) fn start(setting: &Setting, context: &Context) -> Result<Started, Failure> {
    let outside = |what: &str, error: std::io::Error| Failure::new(Kind::Outside, format!("{what}: {error}"));
    let program = std::env::current_exe().map_err(|error| outside("could not find this program's file", error))?;
    let path = setting.layout.daemon_output();
    let output = output_file(&path).map_err(|error| outside(&format!("could not write {}", path.display()), error))?;
    let mut command = Command::new(&program);
    if let Some(file) = context.config_option() {
        command.arg("--config").arg(context.cwd().join(file));
    }
    command.args(["--json", "start", "--foreground", "--detached"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(output);
    let mut child =
        command.spawn().map_err(|error| outside(&format!("could not start {}", program.display()), error))?;
    let said = child.stdout.take().map(listen);
    match said.and_then(|said| said.recv_timeout(READY).ok()) {
        Some(line) => heard(&line, &mut child, &path),
        None => Err(Failure::new(
            Kind::NoAnswer,
            format!("the daemon with pid {} is not ready after {} s", child.id(), READY.as_secs()),
        )
        .hint(format!("it goes on starting; what it says is in {}", path.display()))),
    }
}

/// One line from the daemon, read beside so that waiting for it has an end.
fn listen(stdout: ChildStdout) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        // What cannot be read is as good as nothing said.
        let _ = BufReader::new(stdout.take(1 << 20)).read_line(&mut line);
        let _ = sender.send(line);
    });
    receiver
}

fn heard(line: &str, child: &mut Child, path: &Path) -> Result<Started, Failure> {
    let document: Json = serde_json::from_str(line).unwrap_or_default();
    if document["ready"] == true {
        let mut document = document;
        if let Json::Object(fields) = &mut document {
            fields.shift_remove("schema");
        }
        return Ok(Started { document });
    }
    let ended = child.wait().map(|status| status.to_string()).unwrap_or_default();
    let error = &document["error"];
    let kind = error["kind"].as_str().and_then(Kind::by_word);
    let Some((kind, message)) = kind.zip(error["message"].as_str()) else {
        return Err(Failure::new(Kind::Outside, format!("the daemon ended at once ({ended})"))
            .hint(format!("what it said is in {}", path.display())));
    };
    Err(Failure { hint: error["hint"].as_str().map(str::to_owned), ..Failure::new(kind, message) })
}

/// Where a detached daemon's own words go. One that another user could read would show them what this one does.
fn output_file(path: &Path) -> std::io::Result<File> {
    if let Some(dir) = path.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    }
    let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
    if file.metadata()?.len() > MAX_OUTPUT {
        file.set_len(0)?;
    }
    Ok(file)
}
