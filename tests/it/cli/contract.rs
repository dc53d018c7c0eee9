//! The contract of every command: its help, how it succeeds, how it fails, and the same as JSON.

use std::fs;

use super::{Place, Ran};

const CONFIG: &str = "
version: \"0.4.0\"
repositories: [octo/hello]
webhooks: {ghWebhook: {port: 0}}
routing:
  authorizedUsers: [mona]
  defaultHarness: agent
  harnesses: {agent: {binary: /bin/cat}}
  workspace: {strategy: shared}
  tmux: {socket: the-loop-test-of-the-contract}
";

/// Lines in the order they are run, with exit code and a part of what is said: on standard output by code 0, on
/// standard error by another. What only a running daemon can show stands with the program's tests.
const ROWS: &[(&str, i32, &str)] = &[
    ("status", 1, ""),
    ("sessions list", 0, ""),
    ("sessions list --nope", 2, "error: "),
    ("sessions show 7", 1, "error: `github:octo/hello#7` has no session on this machine\nhint: "),
    ("sessions attach 7", 1, "has no session on this machine\nhint: "),
    ("sessions resume 7", 1, "not-applicable\nhint: "),
    ("sessions start nonsense", 2, "error: `nonsense` is not a work item"),
    ("sessions start 7", 0, "github:octo/hello#7: start; "),
    ("sessions list", 0, "github:octo/hello#7  agent"),
    ("sessions show --work-item 7", 0, "Armed       yes\n"),
    ("sessions attach 7", 1, "has no pane: its session is starting"),
    ("sessions pause #7", 0, "github:octo/hello#7: pause"),
    ("sessions pause 0", 2, "error: `0` is not a work item"),
    ("sessions resume https://github.com/octo/hello/issues/7", 0, "github:octo/hello#7: resume"),
    ("sessions stop octo/hello#7", 0, "github:octo/hello#7: stop"),
    ("sessions stop", 2, "error: "),
    ("start", 1, "secret"),
    ("start --foreground", 1, "secret"),
    ("start --nope", 2, "error: "),
    ("stop", 0, "nothing to do: no daemon runs\n"),
    ("stop now", 2, "error: "),
    ("restart", 1, "secret"),
    ("export", 0, ""),
    ("export --check", 0, ""),
    ("export --chek", 2, "error: unexpected argument `--chek` found\nhint: "),
    ("events", 0, "control.command command=stop"),
    ("events --types", 0, "webhook.received\n"),
    ("events --type control --work-item 7 --limit 1", 0, "command=stop"),
    ("events --type nope", 2, "error: there is no event `nope`\nhint: "),
    ("events --since yesterday", 2, "is not a UTC time"),
    ("events --level loud", 2, "error: there is no such level\nhint: "),
    ("doctor", 1, ""),
    ("config check", 0, ""),
    ("config show", 0, "authorizedUsers"),
    ("config schema", 0, "{"),
    ("config check --config missing.yaml", 1, "error: "),
    ("config show --config missing.yaml", 1, "error: "),
    ("config schema --nope", 2, "error: "),
    ("webhook send missing.json", 1, "error: could not read "),
    ("webhook send", 2, "error: "),
];

fn place() -> Place {
    let place = Place::new();
    place.configure(CONFIG);
    place
}

/// The lines of all commands without subcommands of their own.
fn leaves(command: &clap::Command, line: &str, found: &mut Vec<String>) {
    let below: Vec<&clap::Command> = command.get_subcommands().filter(|below| below.get_name() != "help").collect();
    if below.is_empty() {
        found.push(line.trim().to_owned());
    }
    for command in below {
        leaves(command, &format!("{line} {}", command.get_name()), found);
    }
}

fn commands() -> Vec<String> {
    let mut found = Vec::new();
    leaves(&the_loop::cli::command(), "", &mut found);
    found
}

#[test]
fn every_command_has_help_with_or_without_json() {
    let place = place();
    let commands = commands();
    assert!(commands.len() > 10, "{commands:?}");
    for line in &commands {
        for help in [format!("{line} --help"), format!("{line} --help --json"), format!("help {line}")] {
            let ran = place.run(&help);
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{help}");
            assert!(ran.stdout.contains(&format!("Usage: the-loop {line}")), "{help}: {}", ran.stdout);
            assert!(ran.stdout.contains("--json"), "{help}: {}", ran.stdout);
        }
    }
}

#[test]
fn every_command_answers_as_its_rows_say() {
    let place = place();
    for (line, code, said) in ROWS {
        let ran = place.run(line);
        assert_eq!(ran.code, *code, "{line}: {}{}", ran.stdout, ran.stderr);
        let stream = if *code == 0 { &ran.stdout } else { &ran.stderr };
        assert!(stream.contains(said), "{line}: {}{}", ran.stdout, ran.stderr);
        let unspoken = *code > 0 && said.is_empty();
        assert!(*code == 0 || unspoken || ran.stderr.starts_with("error: "), "{line}: {}", ran.stderr);
    }
    for line in commands() {
        let rows = || ROWS.iter().filter(|(row, ..)| *row == line || row.starts_with(&format!("{line} ")));
        assert!(rows().any(|row| row.1 != 0), "no failing row for `{line}`");
        // These succeed only beside a daemon, or with a terminal, or on a whole machine.
        let elsewhere = ["start", "restart", "status", "doctor", "sessions attach", "webhook send"];
        assert!(rows().any(|row| row.1 == 0) || elsewhere.contains(&line.as_str()), "no succeeding row for `{line}`");
    }
}

#[test]
fn every_answer_is_one_json_document_too() {
    let place = place();
    for (line, code, said) in ROWS {
        let ran = place.run(&format!("{line} --json"));
        assert_eq!(ran.code, *code, "{line}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.is_empty() || ran.stderr.starts_with("note: "), "{line}: {}", ran.stderr);
        let document = ran.json();
        let error = &document["error"];
        match (code, said.is_empty()) {
            (0, _) | (_, true) => assert!(error.is_null(), "{line}: {document}"),
            _ => assert_eq!(error["exit"], *code, "{line}: {document}"),
        }
    }
}

#[test]
fn a_reader_that_went_away_is_no_error_for_what_looks() {
    let place = place();
    assert_eq!(place.run("sessions start 7").code, 0);
    for (line, code) in [("sessions list", 0), ("sessions show 7", 0), ("events", 0), ("status", 1), ("doctor", 1)] {
        for line in [line.to_owned(), format!("{line} --json")] {
            let (reader, writer) = std::io::pipe().expect("a pipe");
            drop(reader);
            let ran = place.command(&line).stdout(writer).output().map(Ran::of).expect("the binary runs");
            assert_eq!((ran.code, ran.stderr.as_str()), (code, ""), "{line}");
        }
    }
}

#[test]
fn a_store_that_cannot_be_read_is_exit_code_4_and_is_left_alone() {
    let place = place();
    assert_eq!(place.run("sessions start 7").code, 0);
    let store = place.path("repo/.the-loop/local/state.redb");
    let garbage = [b"not a store".as_slice(), &[0; 8192]].concat();
    fs::write(&store, &garbage).expect("the store's file");
    for line in ["sessions list", "sessions show 7", "sessions start 8", "status", "events"] {
        let ran = place.run(&format!("{line} --json"));
        assert_eq!(ran.code, 4, "{line}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.json()["error"]["kind"], "store-damaged", "{line}: {}", ran.stdout);
    }
    let doctor = place.run("doctor");
    assert_eq!(doctor.code, 1, "{}", doctor.stderr);
    assert!(doctor.stdout.lines().any(|line| line.starts_with("error") && line.contains("store")), "{}", doctor.stdout);
    assert_eq!(fs::read(&store).expect("the store's file"), garbage);
}

#[test]
fn doctor_names_portable_files_that_are_nobodys_and_two_of_one_item() {
    let place = place();
    for line in ["sessions stop 7", "sessions stop 8"] {
        assert_eq!(place.run(line).code, 0);
    }
    let folder = place.path("repo/.the-loop/portable");
    let portable = || {
        let findings = place.run("doctor --json").json()["findings"].as_array().expect("findings").clone();
        let of_files = findings.into_iter().filter(|finding| finding["area"] == "portable");
        of_files.map(|finding| format!("{} {}", finding["severity"], finding["what"])).collect::<Vec<_>>()
    };
    assert_eq!(portable(), [r#""ok" "files that can be read: 2""#]);
    fs::copy(folder.join("github-octo-hello-7.json"), folder.join("copy.json")).expect("a copy");
    fs::copy(folder.join("github-octo-hello-8.json"), folder.join("GitHub-octo-hello-8.json")).expect("a copy");
    fs::copy(folder.join("github-octo-hello-8.json"), folder.join("github-octo-hello-8.json.1-2.tmp")).expect("a copy");
    let found = portable();
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[0].contains("copy.json is about github:octo/hello#7"), "{found:?}");
    assert!(
        found[1].starts_with(r#""warning""#) && found[1].contains("are both about github:octo/hello#8"),
        "{found:?}"
    );
    assert!(found[2].starts_with(r#""note" "a temporary file of github:octo/hello#8"#), "{found:?}");
}
