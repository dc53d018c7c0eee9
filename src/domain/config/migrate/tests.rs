//! What comes out of a migration, what is refused, and that no comment is lost.

use proptest::prelude::*;

use super::*;

fn migrated(text: &str) -> Migrated {
    migrate(text).unwrap_or_else(|problems| panic!("{text}\n{problems:?}"))
}

fn refused(text: &str) -> Problem {
    migrate(text).expect_err(text).remove(0)
}

/// Everything that stands in a comment, and all comments, without the marks.
fn remarks(text: &str) -> Vec<String> {
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines::comments(&lines).iter().map(|comment| comment.trim_start_matches(['#', ' ']).to_owned()).collect()
}

#[test]
fn the_examples_of_every_step_come_out_as_they_say() {
    for [name, before, after] in steps::steps().iter().flat_map(|step| &step.examples) {
        let got = migrated(before);
        assert_eq!(&got.text, after, "{name}");
        assert!(!got.moves.is_empty(), "{name}");
    }
}

#[test]
fn what_was_migrated_is_current_and_a_second_time_changes_nothing() {
    for [name, before, _] in steps::steps().iter().flat_map(|step| &step.examples) {
        let once = migrated(before).text;
        let twice = migrated(&once);
        assert_eq!((twice.text, twice.moves), (once.clone(), Vec::new()), "{name}");
        crate::domain::config::read(&once).unwrap_or_else(|problems| panic!("{name}: {problems:?}"));
    }
}

#[test]
fn c03_a_version_is_one_or_absent() {
    assert_eq!(migrated("state: {root: x}\n").from, None);
    for (text, says) in [
        ("version: null\n", "expected a version"),
        ("version: \"2\"\n", "this file is of version 2, this program reads 0.4.0"),
        ("version: 2.0\n", "expected a version"),
        ("version: -1\n", "expected a version"),
        ("version: [0, 1]\n", "expected a version"),
        ("version: 99\n", "it needs a newer the-loop"),
    ] {
        let problem = refused(text);
        assert!(problem.message.contains(says) && problem.key == "version", "{text}: {problem}");
    }
}

#[test]
fn a_text_without_values_is_left_as_it_is() {
    for text in ["", "# nothing yet\n", "\u{feff}\n"] {
        assert_eq!(migrated(text).text, text);
        assert!(migrated(text).moves.is_empty());
    }
}

#[test]
fn what_a_person_has_to_do_is_refused_with_its_place() {
    for (text, key, line) in [
        ("version: 0.1.0\na: 1\na: 2\n", "a", 3),
        ("{version: 0.1.0}\n", "", 1),
        ("version: 0.3.0\nrouting: off\nwebhooks:\n  ghWebhook:\n    routing: {a: 1}\n", "routing", 2),
        ("version: 0.3.0\nwebhooks:\n  ghWebhook:\n    routing: [1]\n", "webhooks.ghWebhook.routing", 4),
        ("version: 0.3.0\nx: 1\nrouting: off\n", "routing", 3),
        ("a: [\n", "", 2),
    ] {
        let problem = refused(text);
        assert_eq!((problem.key.as_str(), problem.place.line), (key, line), "{text}{problem}");
    }
}

#[test]
fn an_anchor_that_would_stand_behind_its_alias_is_refused_and_not_spoilt() {
    let text = "version: 0.3.0\nwebhooks:\n  ghWebhook:\n    routing:\n      authorizedUsers: &who [mona]\n    \
                events: *who\n";
    assert_eq!(refused(text).kind, ProblemKind::Syntax);
}

#[test]
fn c06_only_the_lines_that_change_differ() {
    let text = "# ours\r\n\r\nversion: \"0.2.0\"\r\nstate:   {root: .the-loop}\r\npolling:\r\n    # where\r\n    stateFile: 'a.json'\r\n    sources:\r\n    - {provider: github, repos: [a/b]}\r\nrouting:\r\n  spawnOnUnmatched: always";
    let want = "# ours\r\n\r\nversion: \"0.4.0\"\r\nstate:   {root: .the-loop}\r\npolling:\r\n    # where\r\n    # stateFile: 'a.json'\r\n    sources:\r\n    - {provider: github, repos: [a/b]}\r\nrouting:\r\n  spawnOnUnmatched: always\r\n";
    assert_eq!(migrated(text).text, want);
}

#[test]
fn both_values_of_a_key_that_was_written_twice_are_shown() {
    let got = migrated(
        "routing:\n  authorizedUsers: [mona]\nwebhooks:\n  ghWebhook:\n    routing:\n      authorizedUsers: [eve]\n",
    );
    assert_eq!(got.notes.len(), 1);
    assert!(got.notes[0].contains("`[mona]`") && got.notes[0].contains("`[eve]`"), "{:?}", got.notes);
    let config = crate::domain::config::read(&got.text).unwrap().config;
    assert_eq!(config.routing.authorized_users.len(), 1);
}

#[test]
fn texts_that_span_lines_and_odd_layouts_keep_their_meaning() {
    for text in [
        "webhooks:\n  ghWebhook:\n    routing:\n      autoExecuteLabel: |\n        a # b\n\n        c\n      x: 'it''s # no'\n",
        "webhooks:\n    ghWebhook:\n        routing:\n            authorizedUsers:\n            - mona   # first\n            - 'l''isa'\n",
        "webhooks:\n  ghWebhook:\n    routing: {authorizedUsers: [mona], control: {ghBinary: gh}}\nrouting:\n    runner: auto\n",
        "---\n# top\nwebhooks: {ghWebhook: {routing: {runner: auto}}}\nrouting: {}\n",
        "polling: {stateFile: \"x # y\", enabled: false} # say\n",
        "routing:\npolling:\n  stateFile: x\n",
        "webhooks:\n  # none\n  ghWebhook:\n    routing:\n",
    ] {
        let got = migrated(text);
        let again = migrated(&got.text);
        assert!(again.moves.is_empty(), "{text}\n{}", got.text);
    }
}

/// Parts of a configuration with comments, in any order and depth of indentation.
fn layouts() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "state:\n  # s1\n  root: .the-loop # s2\n",
        "# p0\npolling:\n  # p1\n  enabled: false # p2\n  # p3\n  stateFile: x.json # p4\n",
        "polling:\n  stateFile: x.json\n  # q1\n",
        "webhooks:\n  ghWebhook:\n    # w1\n    port: 1 # w2\n    # w3\n    routing: # w4\n      # w5\n      runner: auto # w6\n      control:\n        ghBinary: gh # w7\n    # w8\n    host: x\n",
        "webhooks:\n  ghWebhook:\n    routing:\n      authorizedUsers: [a, b] # v1\n      # v2\n      reactions: {ghBinary: gh}\n",
        "# r0\nrouting:\n  # r1\n  authorizedUsers: [a] # r2\n  # r3\n  announce:\n    ghBinary: gh\n    enabled: true # r4\n",
        "routing: # t1\n  spawnOnUnmatched: always\n",
        "# lone\n",
        "\n",
        "eventLog: {keep: 3} # e1\n",
    ]);
    let version = prop::sample::select(vec!["", "version: 0.1.0\n", "version: \"0.3.0\" # v\n", "version: 0.4.0\n"]);
    (version, prop::collection::vec(part, 0..6)).prop_map(|(version, parts)| {
        let mut keys = Vec::new();
        let parts = parts.into_iter().filter(|part| {
            let key = part.lines().find(|line| line.contains(':')).map(|line| line.split(':').next());
            let is_new = key.is_none_or(|key| !keys.contains(&key));
            keys.extend(key);
            is_new
        });
        version.to_owned() + &parts.collect::<String>()
    })
}

proptest! {
    #[test]
    fn c06_no_comment_is_ever_lost_and_twice_is_once(text in layouts()) {
        let got = migrated(&text);
        let kept = remarks(&got.text);
        for remark in remarks(&text) {
            prop_assert!(kept.iter().any(|line| line.contains(&remark)), "{remark:?} lost\n{text}\n{}", got.text);
        }
        prop_assert_eq!(&migrated(&got.text).text, &got.text);
    }

    #[test]
    fn no_text_makes_it_panic(text in "[ a-z:#'\"{}\\[\\],\n-]{0,60}") {
        let _ = migrate(&text);
        let _ = migrate(&format!("routing:\n  {text}\npolling:\n  stateFile: x\n"));
    }
}
