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
    const AREAS: [&str; 10] =
        ["configuration", "state", "log", "daemon", "receiver", "store", "tmux", "sessions", "portable", "git"];
    let is_id = |text: &&str| {
        let kind = text.split_once('.').filter(|(area, _)| AREAS.contains(area)).map(|(_, kind)| kind);
        kind.is_some_and(|kind| !kind.is_empty() && kind.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'))
    };
    source.split('"').filter(is_id).collect()
}

/// Kinds that say that all is well; nobody looks them up.
const WELL: [&str; 13] = [
    "configuration.file",
    "configuration.harness",
    "daemon.runs",
    "git.sound",
    "portable.readable",
    "receiver.reachable",
    "receiver.secret",
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
