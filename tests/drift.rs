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
