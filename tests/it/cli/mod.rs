//! The command line as a shell sees it.

mod by_hand;
mod config;
mod contract;
mod help;
mod migrate_config;
mod receiver;
mod store;
mod webhook;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value as Json;

/// A repository and a user's home of its own, and the binary run in them with a clean environment.
struct Place {
    dir: tempfile::TempDir,
}

/// What a run of the binary came to.
struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        for path in ["repo/.git", "repo/.the-loop", "user"] {
            fs::create_dir_all(dir.path().join(path)).expect("a directory");
        }
        Self { dir }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    /// Writes a file of the repository.
    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.path("repo").join(path);
        fs::write(&path, text).expect("a file");
        path
    }

    /// Writes the repository's configuration.
    fn configure(&self, text: &str) {
        self.write(".the-loop/cli-config.yaml", text);
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("the-loop"));
        command.args(line.split_whitespace()).current_dir(self.path("repo"));
        command.env_clear().env("HOME", self.path("user")).env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command
    }

    fn run(&self, line: &str) -> Ran {
        self.command(line).output().map(Ran::of).expect("the binary runs")
    }
}

impl Ran {
    fn of(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        Self {
            code: output.status.code().expect("an exit code"),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// The document on standard output: one line, `schema` 1.
    fn json(&self) -> Json {
        assert_eq!(self.stdout.matches('\n').count(), 1, "{}", self.stdout);
        let document: Json = serde_json::from_str(&self.stdout).expect("JSON");
        assert_eq!(document["schema"], 1, "{document}");
        document
    }
}

#[test]
fn wrong_usage_is_exit_code_2_with_an_error_and_a_hint() {
    let place = Place::new();
    for line in ["", "confg", "config", "config chek", "config check --nope", "config check -q -v", "webhook send"] {
        let ran = place.run(line);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{line}");
        assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains("\nhint: "), "{line}: {}", ran.stderr);
        assert!(!ran.stderr.contains('\'') && !ran.stderr.contains('\x1b'), "{line}: {}", ran.stderr);
        let ran = place.run(&format!("{line} --json"));
        assert_eq!((ran.code, ran.stderr.as_str()), (2, ""), "{line}");
        assert_eq!(
            (&ran.json()["error"]["kind"], &ran.json()["error"]["exit"]),
            (&"usage".into(), &2.into()),
            "{line}"
        );
    }
}

#[test]
fn k62_help_and_version_work_beside_a_configuration_that_does_not() {
    let place = Place::new();
    for text in ["version: 0.1.0\n", "routing: [\n", "polling: {stateFile: x}\n"] {
        place.configure(text);
        for (line, want) in
            [("--help", "Usage:"), ("--version", "the-loop "), ("help config", "check"), ("config schema", "{")]
        {
            let ran = place.run(line);
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{line}");
            assert!(ran.stdout.contains(want), "{line}: {}", ran.stdout);
        }
    }
}

#[test]
fn a_broken_pipe_is_success_and_a_full_disk_is_not() {
    let place = Place::new();
    for line in ["config show", "config schema", "--help", "config check --json"] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let ran = place.command(line).stdout(writer).output().map(Ran::of).expect("the binary runs");
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{line}");
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
        let ran = place.command(line).stdout(full).output().map(Ran::of).expect("the binary runs");
        assert_eq!(ran.code, 1, "{line}");
        assert!(ran.stderr.starts_with("error: could not write to standard output"), "{line}: {}", ran.stderr);
    }
}

#[test]
fn global_options_stand_anywhere_on_the_line() {
    let place = Place::new();
    let other = place.write("other.yaml", "routing: {runner: process}\n");
    for line in ["--config other.yaml --json config check", "config --json check --config other.yaml"] {
        let ran = place.run(line);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let file = fs::canonicalize(&other).expect("the file");
        assert_eq!(
            ran.json()["file"].as_str().map(PathBuf::from).map(|path| fs::canonicalize(path).ok()),
            Some(Some(file))
        );
    }
}
