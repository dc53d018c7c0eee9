//! `run` and `verify` as an agent calls them: the real binary in a real git repository, without configuration, store or
//! daemon.

mod evidence;
mod evolve;
mod evolve_attacks;
mod files;
mod identity;
mod kill;
mod model_eval;
mod resume;
mod skill;

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value as Json;

/// A project of its own with one commit, and a user's home of its own.
struct Project {
    dir: tempfile::TempDir,
}

/// What a call came to.
#[derive(Debug)]
struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Project {
    fn new() -> Self {
        let project = Self::without_git();
        project.git("init -q -b main .");
        project.git("remote add origin https://github.com/octo/hello.git");
        project.commit("one");
        project
    }

    fn without_git() -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        for folder in ["p", "home"] {
            fs::create_dir(dir.path().join(folder)).expect("a folder");
        }
        Self { dir }
    }

    fn root(&self) -> PathBuf {
        self.dir.path().join("p")
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    fn live(&self) -> PathBuf {
        self.path(".loop/continuity.json")
    }

    fn bytes(&self) -> Vec<u8> {
        fs::read(self.live()).expect("the live run")
    }

    fn json(&self) -> Json {
        serde_json::from_slice(&self.bytes()).expect("JSON")
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.root()).env_clear().env("HOME", self.dir.path().join("home"));
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "t").env(format!("GIT_{who}_EMAIL"), "t@example.org");
        }
        command
    }

    fn git(&self, line: &str) {
        let ran = self.command("git").args(line.split(' ')).output().expect("git");
        assert!(ran.status.success(), "git {line}: {}", String::from_utf8_lossy(&ran.stderr));
    }

    fn commit(&self, text: &str) {
        fs::write(self.path("file"), text).expect("a file");
        self.git("add file");
        self.git(&format!("commit -q -m {text}"));
    }

    /// Runs the binary; arguments are separated by blanks.
    fn run(&self, line: &str) -> Ran {
        self.run_with(&line.split(' ').collect::<Vec<_>>(), "", &[])
    }

    fn run_with(&self, args: &[&str], stdin: &str, variables: &[(&str, &str)]) -> Ran {
        let mut command = self.command(assert_cmd::cargo::cargo_bin!("the-loop"));
        command.args(args).envs(variables.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary");
        let mut input = child.stdin.take().expect("its input");
        // Most commands read nothing.
        let _ = input.write_all(stdin.as_bytes());
        drop(input);
        let output = child.wait_with_output().expect("its end");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Ran {
            code: output.status.code().expect("an exit code"),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// Runs and requires an exit code.
    fn expect(&self, line: &str, code: i32) -> Ran {
        let ran = self.run(line);
        assert_eq!(ran.code, code, "{line}: {}{}", ran.stdout, ran.stderr);
        ran
    }

    fn start(&self) {
        self.expect("run start --objective build", 0);
    }

    fn record(&self, entry: &str) -> Ran {
        self.run_with(&["verify", "record", "--from-stdin"], entry, &[])
    }

    /// The digest of the report of this moment.
    fn digest(&self) -> String {
        let ran = self.expect("run resume --json", 1);
        let document: Json = serde_json::from_str(&ran.stdout).expect("JSON");
        document["error"]["digest"].as_str().unwrap_or_else(|| panic!("a digest: {document}")).to_owned()
    }
}

/// Every command that changes something, each written rightly.
const CHANGES: [&str; 9] = [
    "run start --objective more",
    "run checkpoint --stage 1",
    "run pause",
    "run block --reason x",
    "run unblock",
    "run recover --reason x",
    "run resume --approve 000000000000",
    "run complete",
    "run cancel --reason x",
];

#[test]
fn wrong_usage_is_64_in_these_families_and_2_elsewhere() {
    let project = Project::new();
    for line in [
        "run",
        "run go",
        "run start",
        "run checkpoint --stage 9",
        "run checkpoint --set nothing",
        "run cancel",
        "verify",
        "verify record",
        "verify exec --criterion C1",
        "verify evaluate --time-limit 0",
    ] {
        let ran = project.expect(line, 64);
        assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains("\nhint: "), "{line}: {}", ran.stderr);
        let ran = project.expect(&format!("{line} --json"), 64);
        let document: Json = serde_json::from_str(&ran.stdout).expect("JSON");
        assert_eq!((&document["error"]["exit"], &document["error"]["kind"]), (&64.into(), &"wrong-usage".into()));
    }
    project.expect("--config run status --nope", 2);
    assert!(!project.path(".loop").exists());
}

#[test]
fn a_run_of_a_work_item_is_not_anothers() {
    let project = Project::new();
    let as_item = |line: &str, item: &str, endpoint: &str| {
        let variables = [("THE_LOOP_WORK_ITEM", item), ("THE_LOOP_ENDPOINT", endpoint)];
        project.run_with(&line.split(' ').collect::<Vec<_>>(), "", &variables)
    };
    let (item, pull_request) = ("github:octo/hello#1", "github:octo/hello#2");
    assert_eq!(as_item("run start --objective build", item, item).code, 0);
    assert_eq!(project.json()["endpoint"], item);
    let other = as_item("run pause", "github:octo/hello#9", "github:octo/hello#9");
    assert_eq!(other.code, 1);
    assert!(other.stderr.contains("belongs to `github:octo/hello#1`"), "{}", other.stderr);
    assert_eq!(as_item("run checkpoint --stage 2", item, pull_request).code, 0);
    assert_eq!(project.json()["lastEndpoint"], pull_request);
    assert_eq!(as_item("run cancel --reason x", item, pull_request).code, 1, "nobody knows that the owner ended");
    assert_eq!(as_item("run pause", item, item).code, 0);
    assert_eq!(project.run("run block --reason key").code, 0, "a person may");
    assert_eq!(project.json()["lastEndpoint"], "person", "and it is noted");
    assert_eq!(project.run("run cancel --reason enough").code, 0);
}

#[test]
fn an_early_stop_is_no_completion_and_a_second_run_is_refused() {
    let project = Project::new();
    project.expect("run status", 3);
    project.start();
    let before = project.bytes();
    let refused = project.expect("run start --objective other", 1);
    assert!(refused.stderr.contains("is live (ACTIVE)"), "{}", refused.stderr);
    assert_eq!(project.bytes(), before);
    project.expect("run complete", 1);
    assert_eq!(project.bytes(), before, "nothing was shown, so nothing is complete");
    project.expect("run pause", 0);
    for line in ["run pause", "run checkpoint --stage 1", "run complete", "run unblock"] {
        let before = project.bytes();
        let refused = project.expect(line, 1);
        assert!(refused.stderr.contains("does not apply to a run that is PAUSED"), "{line}: {}", refused.stderr);
        assert_eq!(project.bytes(), before, "{line}");
    }
    assert_eq!(fs::read_to_string(project.path(".git/info/exclude")).unwrap().matches(".loop/\n").count(), 1);
}
