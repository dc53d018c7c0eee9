//! Tests of the reader as a whole: cases, faults, and the tables against the defaults.

use proptest::prelude::*;

use super::*;
use crate::domain::ids::Login;
use crate::domain::policy::{Policy, SpawnPolicy};

/// The problems of a text as (line, column, key, kind).
fn problems(text: &str) -> Vec<(usize, usize, String, ProblemKind)> {
    let found = read(text).expect_err(text);
    found.into_iter().map(|p| (p.place.line, p.place.column, p.key, p.kind)).collect()
}

fn message(text: &str) -> String {
    read(text).expect_err(text).iter().map(|p| format!("{p}\n")).collect()
}

fn good(text: &str) -> Reading {
    read(text).unwrap_or_else(|found| panic!("{text}: {found:?}"))
}

/// The example of the operations rules: every key with its default.
const EVERY_KEY: &str = r#"
version: "0.4.0"
state: {root: .the-loop}
repositories: []
github: {apiUrl: https://api.github.com, tokenEnv: [GITHUB_TOKEN, GH_TOKEN], hosts: {}}
webhooks:
  ghWebhook: {enabled: true, host: 127.0.0.1, port: 8787, path: /gh-webhook,
              secretEnv: THE_LOOP_GH_WEBHOOK_SECRET, secretFile: "", allowUnsigned: false, events: [], sweep: false}
polling: {enabled: false, intervalSeconds: 60, maxRetries: 8, sources: []}
routing:
  registryDir: ""
  defaultHarness: claude
  harnessArgs: {claude: [], codex: []}
  harnesses: {}
  spawnOnUnmatched: labeled
  autoExecuteLabel: "the-loop: auto-execute"
  authorizedUsers: []
  authorizePermission: ""
  trustedOperators: []
  spawnWorkdir: "."
  maxConcurrentDispatches: 4
  maxConcurrentSpawns: 2
  breaker: {deliveries: 60, minutes: 10}
  dispatchTimeoutSeconds: 1800
  promptTemplate: ""
  spawnPromptTemplate: ""
  control: {enabled: true, requireStartCommand: true, keywords: {start: the-loop start, stop: the-loop stop, pause: the-loop pause, resume: the-loop resume}}
  runner: auto
  tmux: {socket: the-loop, sessionPerPr: true, keepSessionOnClose: true, resumeOnRespawn: true, harnessKillGraceSeconds: 5}
  workspace: {root: "", strategy: worktree, cloneProtocol: https, keepCheckoutOnClose: false}
  harnessTrust: {enabled: true, scope: workspace-root}
  environment: {pass: []}
  reactions: {enabled: true, started: eyes, completed: hooray, error: confused}
  announce: {enabled: true}
eventLog: {enabled: true, path: "", maxBytes: 67108864, keep: 5}
"#;

#[test]
fn the_documented_defaults_are_the_defaults_and_every_key_is_documented() {
    let reading = good(EVERY_KEY);
    assert_eq!(reading.config, Config::default());
    let missing: Vec<_> = effective(&reading).into_iter().filter(|e| e.place.is_none()).collect();
    assert_eq!(missing, [], "keys that the example does not set");
}

#[test]
fn values_that_differ_arrive_in_their_fields() {
    let text = "
repositories: [octo/repo, ghe.example/mona/x]
github: {hosts: {ghe.example: {tokenEnv: [GHE_TOKEN]}}}
webhooks: {ghWebhook: {port: 0, events: [issues]}}
polling: {enabled: true, sources: [{provider: github, repos: [octo/repo], monitor: {issues: false}}]}
routing:
  authorizedUsers: [mona, 'dependabot[bot]']
  defaultHarness: mine
  harnesses: {mine: {binary: agent, new: [--cwd, '{cwd}'], submitDelayMs: 5, dialogs: ['Proceed?']}}
  spawnOnUnmatched: always
  runner: process
  breaker: {deliveries: 0}
eventLog: {keep: 0}
";
    let config = good(text).config;
    assert_eq!(config.repositories[1].to_string(), "github:ghe.example/mona/x");
    assert_eq!(config.github.hosts["ghe.example"].token_env, ["GHE_TOKEN"]);
    assert_eq!(config.webhooks.gh_webhook.port, 0);
    assert!(!config.polling.sources[0].monitor.issues && config.polling.sources[0].monitor.pull_requests);
    assert_eq!(config.routing.harnesses["mine"].new, ["--cwd", "{cwd}"]);
    assert_eq!((config.routing.runner, config.event_log.keep), (Runner::Process, 0));
    let policy = Policy::from(&config);
    assert!(policy.admits(Login::parse("MONA").as_ref()));
    assert_eq!((policy.spawn, policy.breaker_deliveries), (SpawnPolicy::Always, 0));
    assert_eq!(policy.harness, "mine");
    assert_eq!(config.policy(Some("me")).trusted_operators, ["mona", "dependabot[bot]", "me"]);
}

#[test]
fn the_default_policy_is_the_policy_of_the_defaults() {
    assert_eq!(Policy::from(&Config::default()), Policy::default());
}

#[test]
fn all_problems_come_at_once_in_the_order_of_the_text() {
    let text = "\
webhooks:
  ghWebhook:
    port: 70000
    host: 'a b'
    sercetFile: x
routing:
  runner: tmx
  authorizedUsers: mona
  maxConcurrentSpawns: 0
  maxConcurrentSpawns: 1
  tmux: []
  reactions: {started: thumbs}
polling: {sources: [{provider: gitlab, repos: [nope, octo/repo]}, {label: x}]}
";
    use ProblemKind::*;
    let want = [
        (3, 11, "webhooks.ghWebhook.port", Value),
        (4, 11, "webhooks.ghWebhook.host", Value),
        (5, 5, "webhooks.ghWebhook.sercetFile", Unknown),
        (7, 11, "routing.runner", Value),
        (8, 20, "routing.authorizedUsers", Type),
        (9, 24, "routing.maxConcurrentSpawns", Value),
        (10, 3, "routing.maxConcurrentSpawns", Duplicate),
        (11, 9, "routing.tmux", Type),
        (12, 24, "routing.reactions.started", Value),
        (13, 32, "polling.sources[0].provider", Value),
        (13, 48, "polling.sources[0].repos[0]", Value),
        (13, 67, "polling.sources[1]", Value),
    ];
    let found = problems(text);
    let found: Vec<_> = found.iter().map(|(line, column, key, kind)| (*line, *column, key.as_str(), *kind)).collect();
    assert_eq!(found, want);
    let text = message(text);
    for part in ["did you mean `secretFile`?", "must be `auto`, `tmux` or `process`, is `tmx`; did you mean `tmux`?"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn c01_a_newer_version_is_refused_with_both_numbers_and_nothing_else_is_judged() {
    for (text, shown) in [
        ("{\"version\":99,\"poll\":{\"newKnob\":1}}", "99"),
        ("version: '0.5.0'\nnewKnob: 1\n", "0.5.0"),
        ("version: '0.4.1'\n", "0.4.1"),
        ("version: '1.0.0'\n", "1.0.0"),
        ("version: '99999999999999999999999.0.0'\n", "99999999999999999999999.0.0"),
    ] {
        let found = read(text).expect_err(text);
        assert_eq!(found.len(), 1, "{found:?}");
        let said = found[0].to_string();
        assert!(said.contains(shown) && said.contains("0.4.0") && said.contains("needs a newer the-loop"), "{said}");
        assert_eq!((found[0].kind, found[0].key.as_str()), (ProblemKind::Version, "version"));
    }
}

#[test]
fn c01_an_older_version_is_refused_with_the_command_that_fixes_it() {
    for version in ["0.1.0", "0.3.0", "0.3.99", "0"] {
        let said = message(&format!("version: '{version}'\nold: 1\n"));
        assert!(said.contains(version) && said.contains("0.4.0") && said.contains("the-loop migrate-config"), "{said}");
        assert!(!said.contains("`old`"), "{said}");
    }
}

#[test]
fn c02_unknown_keys_are_refused_by_name() {
    let found = problems("version: 0.4.0\nx-team: octo\npolling: {x-team: octo}\nfooling: {}\n");
    let names: Vec<_> = found.iter().map(|(_, _, key, kind)| (key.as_str(), *kind)).collect();
    assert_eq!(names, ["x-team", "polling.x-team", "fooling"].map(|name| (name, ProblemKind::Unknown)),);
}

#[test]
fn c03_an_absent_version_is_accepted_and_an_odd_one_is_an_error_that_names_the_key() {
    assert_eq!(good("routing: {runner: auto}\n").config.version, CURRENT);
    for odd in ["null", "", "2.0", "0.4", "-1", "v0.4.0", "'0.4'", "0.4.0-beta", "[0,4,0]", "true", "' 0.4.0'"] {
        let found = problems(&format!("version: {odd}\n"));
        assert_eq!(found.len(), 1, "{odd}: {found:?}");
        assert_eq!((found[0].2.as_str(), found[0].3), ("version", ProblemKind::Version), "{odd}");
    }
}

#[test]
fn c04_words_that_are_not_booleans_are_texts() {
    for word in ["no", "off", "yes", "on", "NO", "'false'", "\"true\"", "n", "0", "1"] {
        let found = read(&format!("webhooks:\n  ghWebhook:\n    enabled: {word}\n")).expect_err(word);
        assert_eq!((found[0].place.line, found[0].place.column), (3, 14), "{word}");
        assert!(found[0].message.starts_with("expected a boolean"), "{word}: {}", found[0].message);
    }
    let listed = good("routing: {trustedOperators: [se, no]}\n");
    assert_eq!(listed.config.routing.trusted_operators, ["se", "no"]);
    for word in ["true", "True", "TRUE"] {
        assert!(good(&format!("polling: {{enabled: {word}}}\n")).config.polling.enabled);
    }
}

#[test]
fn f07_a_byte_order_mark_is_tolerated_and_columns_do_not_count_it() {
    assert_eq!(good("\u{feff}version: 0.4.0\n").config, Config::default());
    assert_eq!(problems("\u{feff}versino: 1\n")[0].1, 1);
}

#[test]
fn k63_a_half_saved_file_never_empties_a_list() {
    let whole = "polling:\n  sources:\n    - repos: [octo/repo]\nrouting:\n  authorizedUsers:\n    - mona\n";
    assert!(!good(whole).blank);
    for cut in
        ["polling:\n  sources:\n", "polling:\n", "polling:\n  sources:\n    -", "polling:\n  sources:\n    - repos:"]
    {
        assert!(read(cut).is_err(), "{cut:?}");
    }
    for blank in ["", "\n", "# soon\n", "---\n", "~\n"] {
        let reading = good(blank);
        assert!(reading.blank, "{blank:?}");
        assert_eq!(reading.config, Config::default());
    }
}

#[test]
fn removed_keys_are_refused_by_name_with_replacement_and_command() {
    for (text, key, replacement) in [
        ("polling: {stateFile: x}", "polling.stateFile", "state.root"),
        ("webhooks: {ghWebhook: {routing: {authorizedUsers: [mona]}}}", "webhooks.ghWebhook.routing", "routing"),
        ("routing: {control: {ghBinary: gh}}", "routing.control.ghBinary", "github"),
        ("routing: {reactions: {ghBinary: gh}}", "routing.reactions.ghBinary", "github"),
        ("routing: {announce: {ghBinary: gh}}", "routing.announce.ghBinary", "github"),
        ("routing: {announce: {ghBinary: }}\nx-team: 1", "routing.announce.ghBinary", "github"),
    ] {
        let found = read(text).expect_err(text);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].key.as_str(), found[0].kind), (key, ProblemKind::Removed));
        let said = found[0].to_string();
        assert!(said.contains(&format!("`{replacement}`")) && said.contains("the-loop migrate-config"), "{said}");
    }
}

#[test]
fn keys_that_mean_nothing_here_are_named_once_as_ignored() {
    let reading =
        good("integrations: {github: {cli: {binary: gh}}}\nrouting:\n  dedupCacheSize: 9\n  webTerminal: ~\n");
    let keys: Vec<_> = reading.notes.iter().map(|note| note.key.as_str()).collect();
    assert_eq!(keys, ["integrations", "routing.dedupCacheSize", "routing.webTerminal"]);
    assert_eq!(reading.config, Config::default());
}

#[test]
fn k27_unsigned_deliveries_need_a_loopback_host_and_others_a_secret() {
    let hook = |keys: &str| format!("webhooks: {{ghWebhook: {{{keys}}}}}\n");
    for fine in [
        "allowUnsigned: true",
        "allowUnsigned: true, secretEnv: ''",
        "allowUnsigned: true, host: localhost",
        "host: 0.0.0.0",
        "host: 0.0.0.0, secretEnv: '', secretFile: secret",
        "enabled: false, allowUnsigned: true, host: 0.0.0.0",
    ] {
        good(&hook(fine));
    }
    for (bad, key) in [
        ("allowUnsigned: true, host: 0.0.0.0", "webhooks.ghWebhook.allowUnsigned"),
        ("allowUnsigned: true, host: '::'", "webhooks.ghWebhook.allowUnsigned"),
        ("host: 0.0.0.0, secretEnv: ''", "webhooks.ghWebhook.secretEnv"),
        ("secretEnv: ''", "webhooks.ghWebhook.secretEnv"),
    ] {
        let found = problems(&hook(bad));
        assert_eq!((found.len(), found[0].2.as_str(), found[0].3), (1, key, ProblemKind::Conflict), "{bad}");
    }
}

#[test]
fn k28_the_secret_is_never_passed_to_sessions() {
    let said = message("routing: {environment: {pass: [PATH_X, THE_LOOP_GH_WEBHOOK_SECRET]}}\n");
    assert!(said.contains("routing.environment.pass"), "{said}");
}

#[test]
fn what_does_not_fit_together_is_refused() {
    for (text, key) in [
        ("routing: {defaultHarness: mine}", "routing.defaultHarness"),
        ("routing: {harnessArgs: {mine: [-x]}}", "routing.harnessArgs.mine"),
        ("routing: {control: {keywords: {pause: 'The-Loop  START'}}}", "routing.control.keywords.pause"),
        ("github: {hosts: {ghe.example: {}, GHE.example: {}}}", "github.hosts.ghe.example"),
    ] {
        let found = problems(text);
        assert_eq!((found.len(), found[0].2.as_str(), found[0].3), (1, key, ProblemKind::Conflict), "{text}");
    }
    good("routing: {control: {keywords: {pause: '', resume: ''}}}");
}

#[test]
fn harness_entries_are_checked() {
    let entry = |keys: &str| format!("routing: {{harnesses: {{mine: {{{keys}}}}}}}\n");
    for (keys, key) in [
        ("new: []", "routing.harnesses.mine"),
        ("binary: ''", "routing.harnesses.mine.binary"),
        ("binary: a, new: ['{session}']", "routing.harnesses.mine.new[0]"),
        ("binary: a, resume: [x, '{home}']", "routing.harnesses.mine.resume[1]"),
        ("binary: a, dialogs: ['a,b']", "routing.harnesses.mine.dialogs[0]"),
        ("binary: a, dialogs: ['it''s']", "routing.harnesses.mine.dialogs[0]"),
        ("binary: a, dialogs: ['a}']", "routing.harnesses.mine.dialogs[0]"),
        ("binary: a, submitDelayMs: 10001", "routing.harnesses.mine.submitDelayMs"),
    ] {
        let found = problems(&entry(keys));
        assert_eq!((found.len(), found[0].2.as_str(), found[0].3), (1, key, ProblemKind::Value), "{keys}");
    }
    assert_eq!(problems("routing: {harnesses: {Mine: {binary: a}}}")[0].2, "routing.harnesses.Mine");
}

#[test]
fn numbers_are_whole_and_in_range() {
    for (value, kind) in [
        ("65536", ProblemKind::Value),
        ("-1", ProblemKind::Value),
        ("99999999999999999999", ProblemKind::Type),
        ("8787.0", ProblemKind::Type),
        ("'8787'", ProblemKind::Type),
        ("8_787", ProblemKind::Type),
        ("", ProblemKind::Type),
    ] {
        let found = problems(&format!("webhooks: {{ghWebhook: {{port: {value}}}}}\n"));
        assert_eq!((found.len(), found[0].3), (1, kind), "{value}: {found:?}");
    }
    assert_eq!(good("webhooks: {ghWebhook: {port: 65535}}").config.webhooks.gh_webhook.port, 65_535);
}

#[test]
fn changes_that_need_a_restart_are_named() {
    let old = Config::default();
    let new =
        good("webhooks: {ghWebhook: {port: 1, events: [push]}}\nstate: {root: x}\nrouting: {runner: tmux}").config;
    assert_eq!(needs_restart(&old, &new), ["state.root", "webhooks.ghWebhook.port", "routing.runner"]);
    assert_eq!(needs_restart(&old, &old), Vec::<String>::new());
}

#[test]
fn the_schema_knows_every_section_and_refuses_other_keys() {
    let schema = json_schema();
    let runner = schema.pointer("/properties/routing/properties/runner").unwrap();
    assert_eq!(runner["enum"], serde_json::json!(["auto", "tmux", "process"]));
    assert_eq!(schema["additionalProperties"], false);
    let port = schema.pointer("/properties/webhooks/properties/ghWebhook/properties/port").unwrap();
    assert_eq!((port["maximum"].as_u64(), port["default"].as_u64()), (Some(65_535), Some(8_787)));
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused_with_places_inside_it(text in "[ a-z0-9:{}\\[\\]'\"#&*!|>~,.\\n\\t-]{0,80}") {
        if let Err(found) = read(&text) {
            prop_assert!(!found.is_empty());
            let lines = text.split('\n').count();
            for problem in found {
                prop_assert!(problem.place.line <= lines + 1, "{problem}");
            }
        }
    }

    #[test]
    fn every_prefix_of_a_file_is_judged_without_a_panic(cut in 0..EVERY_KEY.len()) {
        if EVERY_KEY.is_char_boundary(cut) {
            let _ = read(&EVERY_KEY[..cut]);
        }
    }
}
