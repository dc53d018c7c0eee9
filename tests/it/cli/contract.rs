//! The contract of every command: its help, how it succeeds, how it fails, and the same as JSON.

use std::fs;
use std::process::Command;

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
    ("init --check", 1, ""),
    ("init", 0, ".gitignore`\n  + # the-loop"),
    ("init", 0, "nothing to do: "),
    ("init --check", 0, "nothing to do: "),
    ("init --chek", 2, "error: "),
    ("merge-driver base.json ours.json theirs.json x.json", 0, ""),
    ("merge-driver base.json none.json theirs.json x.json", 1, "error: could not read `none.json`"),
    ("merge-driver base.json bad.json theirs.json x.json", 1, "error: x.json: ours cannot be read: line 1: "),
    ("merge-driver base.json", 2, "error: "),
    ("status", 1, ""),
    ("sessions list", 0, ""),
    ("sessions list --nope", 2, "error: "),
    ("sessions show 7", 1, "error: `github:octo/hello#7` has no session on this machine\nhint: "),
    ("sessions attach 7", 1, "has no session on this machine\nhint: "),
    ("sessions resume 7", 1, "neither paused nor held\nhint: "),
    ("sessions start nonsense", 2, "error: `nonsense` is not a work item"),
    ("sessions start 7", 0, "github:octo/hello#7: armed; "),
    ("sessions list", 0, "github:octo/hello#7  agent"),
    ("sessions show --work-item 7", 0, "Armed       yes\n"),
    ("sessions show hello/octo#7", 1, "has no session on this machine\nhint: `the-loop sessions list`"),
    ("sessions show octo/helo#7", 1, "hint: did you mean `github:octo/hello#7`?"),
    ("dispatch list", 0, "e2  waiting  github:octo/hello#7  deliver"),
    ("dispatch list --nope", 2, "error: "),
    ("dispatch show e2", 0, "Work item   github:octo/hello#7\n"),
    ("dispatch show e99", 1, "error: there is no entry `e99`\nhint: "),
    ("dispatch show 7", 2, "error: `7` is not the name of an entry"),
    ("dispatch retry e2", 0, "e2 of github:octo/hello#7: nothing to do"),
    ("dispatch retry e99", 1, "error: there is no entry `e99`\nhint: "),
    ("dispatch drop e1", 1, "error: `e1`: a session depends on it\nhint: "),
    ("dispatch drop e2", 0, "e2 of github:octo/hello#7: dropped\n"),
    ("dispatch", 2, "error: "),
    ("sessions link-pr 7 16", 0, "github:octo/hello#7: linked; "),
    ("sessions link-pr --work-item 7 16", 0, "nothing to do"),
    ("sessions link-pr 7 7", 1, "are the same\nhint: "),
    ("sessions link-pr 8 16", 1, "has no session on this machine\nhint: "),
    ("sessions link-pr 7 octo/other#16", 1, "is not served\nhint: `repositories` in the configuration"),
    ("sessions link-pr 7", 2, "error: the pull request is missing\nhint: "),
    ("sessions show 16", 1, "hint: it is a pull request of `github:octo/hello#7`"),
    ("sessions register --work-item 9 --harness claude --harness-session-id c1", 0, "github:octo/hello#9: registered"),
    (
        "sessions register octo/other#9 --harness claude --harness-session-id c1",
        1,
        "is not served\nhint: `repositories` in",
    ),
    ("sessions register 9 --harness claude --harness-session-id c1", 0, "nothing to do"),
    ("sessions register 9 --harness claude --harness-session-id c2", 1, "has a session that lives\nhint: "),
    ("sessions register 9 --harness claude --harness-session-id c2 --force", 0, "github:octo/hello#9: registered"),
    ("sessions register 9 --harness claud --harness-session-id c1", 2, "hint: did you mean `claude`?"),
    ("sessions register 9 --harness claude --harness-session-id -x", 2, "error: "),
    (
        "sessions register 9 --harness claude --harness-session-id c3 --cwd nowhere",
        2,
        "is not a directory with a name in UTF-8\nhint: ",
    ),
    ("sessions register 9 --harness agent --harness-session-id c1", 1, "cannot resume a conversation\nhint: "),
    ("sessions list", 0, "registered"),
    ("sessions close 9 --kill-tmux", 0, "github:octo/hello#9: closed\n"),
    ("sessions close 9", 0, "nothing to do"),
    ("sessions close 8", 1, "has no session on this machine\nhint: "),
    ("sessions close 9 --keep-tmux --kill-tmux", 2, "error: "),
    ("sessions reset --all --dry-run", 0, "github:octo/hello#7: would forget its session (starting), pull request"),
    ("sessions reset", 2, "error: no work item is named\nhint: "),
    ("sessions reset 9 --all", 2, "error: `--all` and single items exclude each other\nhint: "),
    ("sessions reset 9", 0, "github:octo/hello#9: forgot its session (closed)\n"),
    ("sessions reset --work-item 9 8", 0, "github:octo/hello#9: nothing to reset\n"),
    ("sessions attach 7", 1, "has no pane: its session is starting"),
    ("sessions pause #7", 0, "github:octo/hello#7: paused"),
    ("sessions pause 0", 2, "error: `0` is not a work item"),
    ("sessions resume https://github.com/octo/hello/issues/7", 0, "github:octo/hello#7: resumed"),
    ("sessions stop octo/hello#7", 0, "github:octo/hello#7: stopped"),
    ("sessions stop", 2, "error: "),
    ("start", 1, "secret"),
    ("start --foreground", 1, "secret"),
    ("start --nope", 2, "error: "),
    ("stop", 0, "nothing to do: no daemon runs\n"),
    ("stop now", 2, "error: "),
    ("restart", 1, "secret"),
    ("comment 7 --body-file missing.md", 1, "error: could not read `missing.md`"),
    ("comment --body-file ours.json", 2, "error: no work item is named"),
    ("comment 7 --body-file base.json", 1, "error: the comment is empty\nhint: "),
    ("comment 7 --body-file bad.json", 1, "error: could not comment on `github:octo/hello#7`: "),
    ("poll", 1, ""),
    ("poll --state-dir nowhere", 2, "error: `--state-dir`: `nowhere` is no directory\nhint: "),
    ("poll --nope", 2, "error: "),
    ("export", 0, ""),
    ("export --check", 0, ""),
    ("export --prune 30", 0, "0 changed, "),
    ("export --prune 30 --check", 2, "error: "),
    ("export --chek", 2, "error: unexpected argument `--chek` found\nhint: "),
    ("events", 0, "control.command command=stop"),
    ("events --types", 0, "webhook.received\n"),
    ("events --type control --work-item 7 --limit 1", 0, "command=stop"),
    ("events --type nope", 2, "error: there is no event `nope`\nhint: "),
    ("events --type sesion.closed", 2, "hint: did you mean `session.closed`?"),
    ("events --since yesterday", 2, "is not a UTC time"),
    ("events --level loud", 2, "error: there is no such level\nhint: "),
    ("doctor", 1, ""),
    ("config check", 0, ""),
    ("config show", 0, "authorizedUsers"),
    ("config schema", 0, "{"),
    ("config check --config missing.yaml", 1, "error: "),
    ("config show --config missing.yaml", 1, "error: "),
    ("config schema --nope", 2, "error: "),
    ("migrate-config --dry-run", 0, "nothing to do: "),
    ("migrate-config", 0, " is of version 0.4.0\n"),
    ("migrate-config --config missing.yaml", 1, "error: "),
    ("completions bash", 0, "complete -F _the__loop"),
    ("completions zsh", 0, "#compdef the-loop"),
    ("completions fish", 0, "complete -c the-loop"),
    ("completions elvish", 0, "edit:completion"),
    ("completions powershell", 0, "Register-ArgumentCompleter"),
    ("completions tcsh", 2, "error: "),
    ("man", 0, ".TH the-loop 1"),
    ("man sessions link-pr", 0, ".TH the-loop-sessions-link-pr 1"),
    ("man sesions", 2, "error: `the-loop` has no command `sesions`\nhint: did you mean `sessions`?"),
    ("man --out pages", 0, "wrote "),
    ("man --out .the-loop/cli-config.yaml/x", 1, "error: could not write "),
    ("run status", 3, "error: there is no live run here\nhint: "),
    ("run checkpoint --stage 1", 3, "error: there is no live run here\nhint: "),
    ("run unblock", 3, "error: there is no live run here\nhint: "),
    ("run recover --reason x", 3, "error: there is no live run here\nhint: "),
    ("run cancel --reason x", 3, "error: there is no live run here\nhint: "),
    ("run inspect", 3, ""),
    ("run repair", 0, "nothing to repair"),
    ("run repair --nope", 64, "error: "),
    ("run start --objective build", 0, "ACTIVE, stage 0 of 8, generation 1"),
    ("run start --objective more", 1, "is live (ACTIVE)\nhint: "),
    ("run status", 0, "Objective   build\n"),
    ("run inspect", 0, "bytes, a run"),
    ("run checkpoint --stage 3 --set a=1", 0, "stage 3 of 8, generation 2"),
    ("run checkpoint --stage 9", 64, "error: "),
    ("run pause", 0, "PAUSED"),
    ("run pause", 1, "does not apply to a run that is PAUSED"),
    ("run resume", 1, "nobody approved the report\nhint: "),
    ("run recover --reason x", 0, "RECOVERY_REQUIRED"),
    ("run block --reason key", 0, "BLOCKED"),
    ("run block --reason key", 1, "does not apply to a run that is BLOCKED"),
    ("run unblock", 0, "ACTIVE"),
    ("verify record", 64, "error: "),
    ("verify record --from-stdin", 1, "error: the entry cannot be taken: it is not JSON"),
    ("verify exec --criterion C1", 64, "error: "),
    ("verify evaluate", 2, ""),
    ("run complete", 1, "the verdict is BLOCKED\nhint: "),
    ("run cancel --reason enough", 0, "CANCELLED"),
    (
        "run start --objective build --profile nope",
        4,
        "error: there is no profile `nope`\nhint: there are build, debug",
    ),
    ("model-eval show", 0, "no evaluation was started here"),
    ("model-eval show nonsense", 64, "error: "),
    ("model-eval new m --operator mona --environment here", 0, "OPEN, 0 observations, m, label 1\n"),
    ("model-eval new m --operator mona --environment here", 1, "is there already"),
    ("model-eval new m --operator mona", 64, "error: "),
    ("model-eval record eval-039e7648f07a32f2", 64, "error: "),
    (
        "model-eval record eval-039e7648f07a32f2 --from-stdin",
        1,
        "error: the observation cannot be taken: it is not JSON",
    ),
    ("model-eval complete eval-039e7648f07a32f2 --limitations small", 1, "holds no observation\nhint: "),
    ("model-eval complete eval-039e7648f07a32f2", 1, "holds no observation\nhint: "),
    ("model-eval show eval-039e7648f07a32f2", 0, "Operator    mona\n"),
    ("model-eval show eval-0123456789abcdef", 1, "error: there is no record `eval-0123456789abcdef`\nhint: "),
    ("model-eval profile m", 1, "error: `m` has no completed record\nhint: "),
    ("model-eval compare m n", 1, "has no completed record\nhint: "),
    ("model-eval compare m", 64, "error: "),
    ("evolve verify", 0, "the ledger is empty\n"),
    ("evolve verify now", 64, "error: "),
    ("evolve show", 0, "the ledger is empty\n"),
    ("evolve show 0123456789ab", 1, "error: there is no entry `0123456789ab`\nhint: "),
    ("evolve collect", 0, " new, 0 known\n"),
    ("evolve collect now", 64, "error: "),
    ("evolve classify", 0, "classifier 1.0.0\n"),
    ("evolve classify now", 64, "error: "),
    ("evolve propose --text x --target docs", 1, "names at least one recorded case that failed\nhint: "),
    ("evolve propose", 64, "error: "),
    ("evolve candidate 0123456789ab --patch bad.json --suite", 64, "error: "),
    ("evolve run 0123456789ab", 1, "error: there is no candidate `0123456789ab`\nhint: "),
    ("evolve compare 0123456789ab", 1, "error: there is no candidate `0123456789ab`\nhint: "),
    ("evolve decide 0123456789ab --adopt", 1, "error: there is no candidate `0123456789ab`\nhint: "),
    ("evolve decide 0123456789ab", 64, "error: "),
    ("evolve show", 0, "classification"),
    ("profile list", 0, "audit     what is wrong"),
    ("profile list more", 64, "error: "),
    ("profile show AUDIT", 0, "read-only"),
    ("profile show nope", 4, "error: there is no profile `nope`\nhint: there are build, debug"),
    ("profile resolve --profile=Debug", 0, "debug\n"),
    ("profile resolve fix", 0, "generic\n"),
    ("profile resolve --profile=nope", 4, "error: there is no profile `nope`\nhint: "),
    ("profile strip fix", 0, "fix"),
    ("profile strip", 64, "error: "),
    ("profile task --profile=build", 0, "build\n"),
    ("profile task --profile=", 4, "error: `--profile` stands there without a name\nhint: "),
    ("skill install --agent claude --dry-run", 0, "would write "),
    ("skill install --agent claude", 0, "/.claude/commands/loop.md\n"),
    ("skill install --agent claude --scope project", 0, "nothing to do"),
    ("skill install --agent cursor", 64, "error: "),
    ("skill install", 64, "error: "),
    ("skill uninstall --agent claude", 0, "/.claude/commands/loop.md\n"),
    ("skill uninstall --agent claude", 0, "nothing to do"),
    ("skill uninstall --agent claude --scope everywhere", 64, "error: "),
    ("webhook send missing.json", 1, "(os error 2)\nhint: name a JSON file"),
    ("webhook send", 2, "error: "),
];

pub(super) fn place() -> Place {
    let place = Place::new();
    place.configure(CONFIG);
    let git = Command::new("git").args(["init", "-q"]).current_dir(place.path("repo")).status();
    assert!(git.is_ok_and(|status| status.success()), "git init");
    let record = |word: &str| format!("{{\"ref\": \"github:octo/hello#7\", \"control\": {{\"command\": \"{word}\"}}}}");
    for (name, text) in [("base", ""), ("ours", &record("stop")), ("theirs", &record("start")), ("bad", "{")] {
        place.write(&format!("{name}.json"), text);
    }
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
        // These succeed only beside a daemon, or with a terminal, or on a whole machine, or with a token.
        let elsewhere = ["start", "restart", "status", "doctor", "sessions attach", "webhook send", "comment"];
        // These take what an earlier one printed, or standard input.
        let of_runs = ["run resume", "run complete", "verify record", "verify exec", "verify evaluate"];
        let of_models = ["model-eval record", "model-eval complete", "model-eval profile", "model-eval compare"];
        let of_evolution = ["evolve propose", "evolve candidate", "evolve run", "evolve compare", "evolve decide"];
        assert!(
            rows().any(|row| row.1 == 0)
                || elsewhere.iter().chain(&of_runs).chain(&of_models).chain(&of_evolution).any(|other| *other == line),
            "no succeeding row for `{line}`"
        );
    }
}

#[test]
fn every_answer_is_one_json_document_too() {
    let place = place();
    for (line, code, said) in ROWS {
        let ran = place.run(&format!("{line} --json"));
        assert_eq!(ran.code, *code, "{line}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.stderr, "", "{line}: everything stands in the document");
        let document = ran.json();
        let error = &document["error"];
        match (code, said.is_empty()) {
            (0, _) | (_, true) => assert!(error.is_null(), "{line}: {document}"),
            _ => assert_eq!(error["exit"], *code, "{line}: {document}"),
        }
    }
}

#[test]
fn a_reader_that_went_away_changes_nothing_for_any_command() {
    for json in ["", " --json"] {
        let place = place();
        for (line, code, _) in ROWS {
            let (reader, writer) = std::io::pipe().expect("a pipe");
            drop(reader);
            let line = format!("{line}{json}");
            let ran = place.command(&line).stdout(writer).output().map(Ran::of).expect("the binary runs");
            assert_eq!(ran.code, *code, "{line}: {}", ran.stderr);
            assert!(!ran.stderr.contains("standard output"), "{line}: {}", ran.stderr);
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
    let verbs = ["sessions list", "sessions show 7", "sessions start 8", "sessions close 7", "sessions reset --all"];
    let more = ["sessions reset --all --dry-run", "dispatch list", "dispatch retry e1", "export", "status", "events"];
    for line in verbs.into_iter().chain(more) {
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
