//! Pages of the documentation that are generated: they equal what the program renders. `make docs` writes them.

use std::fs;
use std::path::Path;

/// Compares a page with what is rendered, or writes it when `UPDATE_DOCS` is set.
fn agree(page: &str, rendered: &str) -> Result<(), String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        return fs::write(&path, rendered).map_err(|error| format!("{page}: {error}"));
    }
    let written = fs::read_to_string(&path).map_err(|error| format!("{page}: {error}"))?;
    if written == rendered { Ok(()) } else { Err(format!("{page} differs from the program; `make docs` writes it")) }
}

#[test]
fn the_configuration_page_is_what_the_tables_say() {
    assert_eq!(agree("docs/configuration.md", &the_loop::domain::config::page()), Ok(()));
}

#[test]
fn a_page_that_differs_is_found() {
    if std::env::var_os("UPDATE_DOCS").is_none() {
        let other = the_loop::domain::config::page().replace("8787", "8788");
        assert!(agree("docs/configuration.md", &other).is_err());
    }
}

/// The ids of findings in a source text: whole string literals `"area.kind"` of a known area.
fn ids(source: &str) -> Vec<&str> {
    const AREAS: [&str; 12] = [
        "configuration",
        "state",
        "log",
        "daemon",
        "receiver",
        "store",
        "tmux",
        "sessions",
        "portable",
        "git",
        "github",
        "runs",
    ];
    let is_id = |text: &&str| {
        let kind = text.split_once('.').filter(|(area, _)| AREAS.contains(area)).map(|(_, kind)| kind);
        kind.is_some_and(|kind| !kind.is_empty() && kind.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'))
    };
    source.split('"').filter(is_id).collect()
}

/// Kinds that say that all is well; nobody looks them up.
const WELL: [&str; 15] = [
    "configuration.file",
    "configuration.harness",
    "daemon.runs",
    "git.sound",
    "github.answers",
    "portable.readable",
    "receiver.reachable",
    "receiver.secret",
    "runs.sound",
    "sessions.sound",
    "state.none",
    "state.private",
    "store.size",
    "store.sound",
    "tmux.agree",
];

#[test]
fn every_finding_of_doctor_is_on_the_page_about_trouble() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/trouble.md")).unwrap();
    let mut found = 0;
    for folder in ["src/cli/doctor", "src/app/doctor", "src/domain/findings"] {
        for file in fs::read_dir(root.join(folder)).unwrap() {
            let text = fs::read_to_string(file.unwrap().path()).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            for id in ids(code) {
                found += 1;
                let told = page.contains(&format!("`{id}`")) || WELL.contains(&id) || id == "tmux.version";
                assert!(told, "docs/trouble.md says nothing about `{id}`");
            }
        }
    }
    assert!(found > 60, "{found}");
    assert_eq!(ids(r#"Finding::ok("store.sound", "x.y") "store.Sound" "state.""#), ["store.sound"]);
}

fn page(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("a page")
}

/// Bullets of a text, each on one line.
fn bullets(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("- "), line.strip_prefix("  "), found.last_mut()) {
            (Some(first), ..) => found.push(first.to_owned()),
            (None, Some(more), Some(last)) => *last = format!("{last} {}", more.trim()),
            _ => {}
        }
    }
    found
}

#[test]
fn the_limits_of_the_secret_scan_stand_on_its_page() {
    let head = page("src/domain/secrets/mod.rs");
    let head: String = head
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .fold(String::new(), |text, line| format!("{text}{}\n", line.strip_prefix(' ').unwrap_or(line)));
    let limits = bullets(&head);
    assert!(limits.len() > 4, "{limits:?}");
    assert_eq!(bullets(&page("docs/secrets.md")), limits);
    for rule in the_loop::domain::secrets::RULES {
        let row = format!("| `{}` | {} |", rule.name, rule.about);
        assert!(page("docs/secrets.md").contains(&row), "docs/secrets.md has no row {row}");
    }
}

#[test]
fn the_page_about_runs_says_what_holds() {
    let text = page("docs/runs.md");
    for limit in ["no guaranteed checkpoints", "no bounded-loss promise", "no locking", "no `--force`"] {
        assert!(text.contains(&format!("**{limit}**")), "{limit}");
    }
    for tier in ["skill only", "this program present", "daemon present"] {
        assert!(text.contains(&format!("| {tier}")), "{tier}");
    }
    use the_loop::domain::run::{Status, transitions};
    for from in Status::ALL.into_iter().filter(|status| !status.is_terminal()) {
        let to: Vec<&str> = transitions(from).iter().map(|to| to.word()).collect();
        assert!(text.contains(&format!("| {from} | {} |", to.join(", "))), "{from}");
    }
}

#[test]
fn every_test_that_the_page_about_runs_names_is_there() {
    let text = page("docs/runs.md");
    let table = text.split("| acceptance | test |").nth(1).unwrap();
    let files = ["mod", "evidence", "files", "identity", "kill", "resume", "skill"]
        .map(|name| format!("tests/it/runs/{name}.rs"));
    let more = [
        "tests/drift.rs",
        "tests/mutations.rs",
        "tests/it/program/runs.rs",
        "tests/it/program/outside.rs",
        "src/domain/run/command_tests.rs",
        "src/domain/run/told.rs",
        "src/domain/skill/page.rs",
        "src/domain/verdict/tests.rs",
        "src/domain/profile/mod.rs",
        "src/domain/profile/choice.rs",
    ];
    let sources: String =
        files.iter().map(String::as_str).chain(more).chain(["src/adapters/run_files/tests.rs"]).map(page).collect();
    let names: Vec<&str> = table.split('`').filter(|name| name.contains('_') && !name.contains('/')).collect();
    assert!(names.len() > 15, "{names:?}");
    for name in names {
        assert!(sources.contains(&format!("fn {name}(")), "{name}");
    }
}

#[test]
fn every_test_that_the_pages_about_evaluations_and_evolution_name_is_there() {
    let of_evolution = [
        "src/domain/evolve/tests.rs",
        "src/domain/evolve/tests/hostile.rs",
        "src/domain/evolve/tests/replay.rs",
        "tests/it/runs/evolve.rs",
        "tests/it/runs/evolve_attacks.rs",
    ];
    for (text, sources) in [
        ("docs/model-eval.md", &["src/domain/model_eval/tests.rs", "tests/it/runs/model_eval.rs"][..]),
        ("docs/evolve.md", &of_evolution),
    ] {
        let (text, sources) = (page(text), sources.iter().copied().map(page).collect::<String>());
        let table = text.split("| rule | test |").nth(1).unwrap();
        let names: Vec<&str> = table.split('`').filter(|name| name.contains('_') && !name.contains("SAMPLE")).collect();
        assert!(names.len() > 10, "{names:?}");
        for name in names {
            assert!(sources.contains(&format!("fn {name}(")), "{name}");
        }
    }
}
