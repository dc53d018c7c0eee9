//! The rules. Each looks at one file and says what is wrong, `path:line: what`.

use super::paths::paths;
use super::source::{Source, closing};

pub type Rule = fn(&Source) -> Vec<String>;

const LONGEST_FUNCTION: usize = 70;
const LONGEST_FILE: usize = 500;

/// A layer and the layers it may name beside itself.
const ARROWS: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("store", &["domain"]),
    ("adapters", &["domain"]),
    ("app", &["store", "domain"]),
    ("daemon", &["app", "store", "adapters", "domain"]),
    ("cli", &["daemon", "app", "store", "adapters", "domain"]),
];

/// A crate and the only folder that names it.
const HOMES: &[(&str, &str)] = &[
    ("redb", "src/store/"),
    ("tokio", "src/daemon/"),
    ("warp", "src/daemon/"),
    ("hyper", "src/daemon/"),
    ("hyper_util", "src/daemon/"),
    ("ureq", "src/adapters/github/"),
    ("clap", "src/cli/"),
    ("indicatif", "src/cli/"),
    ("clap_complete", "src/cli/"),
    ("clap_mangen", "src/cli/"),
    ("saphyr", "src/domain/config/"),
    ("saphyr_parser", "src/domain/config/"),
];

/// Modules of the standard library that reach outside.
const IMPURE_MODULES: &[&str] = &["fs", "env", "process", "thread", "net", "os"];
/// Of `std::net`, the names that are only data.
const ADDRESSES: &[&str] = &["IpAddr", "Ipv4Addr", "Ipv6Addr", "SocketAddr"];
/// Crates that reach outside.
const IMPURE_CRATES: &[&str] = &["rand", "getrandom", "tempfile", "rustix", "ureq", "redb", "tokio", "warp", "clap"];
/// Names that mean the clock, randomness or a terminal, wherever they come from.
const IMPURE_NAMES: &[&str] = &[
    "SystemTime",
    "Instant",
    "now",
    "new_v4",
    "now_v7",
    "println",
    "eprintln",
    "print",
    "eprint",
    "stdin",
    "stdout",
    "stderr",
];

fn at(source: &Source, line: usize, what: impl std::fmt::Display) -> String {
    format!("{}:{line}: {what}", source.path)
}

/// How many modules deep the file is: `src/domain/mod.rs` is 1, `src/domain/ids.rs` is 2.
fn depth(source: &Source) -> usize {
    let parts = source.path.strip_prefix("src/").unwrap_or_default().split('/').count();
    parts - usize::from(source.path.ends_with("/mod.rs"))
}

/// Layers name only the layers below them.
pub fn arrows(source: &Source) -> Vec<String> {
    let Some(layer) = source.layer() else { return Vec::new() };
    let allowed = ARROWS.iter().find(|(name, _)| *name == layer).map(|(_, allowed)| *allowed).unwrap_or_default();
    let mut wrong = Vec::new();
    for found in paths(&source.product()) {
        let supers = found.parts.iter().take_while(|part| *part == "super").count();
        let from_root = match found.parts.first().map(String::as_str) {
            Some("crate" | "the_loop") => Some(1),
            Some("super") if supers == depth(source) => Some(supers),
            _ => None,
        };
        let named = from_root.and_then(|at| found.parts.get(at)).map(String::as_str);
        if let Some(named) = named.filter(|named| ARROWS.iter().any(|(name, _)| name == named))
            && named != layer
            && !allowed.contains(&named)
        {
            wrong.push(at(source, found.line, format!("`{layer}` names `{named}`")));
        }
    }
    wrong
}

/// Crates with a home are named nowhere else.
pub fn homes(source: &Source) -> Vec<String> {
    if !source.is_rust() || !source.path.starts_with("src/") {
        return Vec::new();
    }
    let masked = source.masked();
    let mut wrong = Vec::new();
    let mut after_use = false;
    for found in paths(&masked) {
        let first = found.parts.first().map(String::as_str).unwrap_or_default();
        let home = HOMES.iter().find(|(name, home)| *name == first && !source.path.starts_with(home));
        // A single word is the crate only right behind `use`; elsewhere it is somebody's variable.
        if let Some((name, home)) = home.filter(|_| found.parts.len() > 1 || after_use) {
            wrong.push(at(source, found.line, format!("`{name}` is at home in {home}")));
        }
        after_use = first == "use";
    }
    wrong
}

/// The domain touches nothing outside.
pub fn purity(source: &Source) -> Vec<String> {
    if source.layer() != Some("domain") {
        return Vec::new();
    }
    let impure = |parts: &[&str]| match parts {
        ["std", "net", name, ..] => !ADDRESSES.contains(name),
        ["std", module, ..] if IMPURE_MODULES.contains(module) => true,
        [first, _, ..] if IMPURE_CRATES.contains(first) || matches!(*first, "fs" | "env" | "thread") => true,
        parts => parts.iter().any(|part| IMPURE_NAMES.contains(part)) && is_outside(parts),
    };
    let found = paths(&source.product());
    let wrong = found.iter().filter(|found| impure(&found.parts.iter().map(String::as_str).collect::<Vec<_>>()));
    wrong.map(|found| at(source, found.line, format!("`{}` is outside the domain", found.parts.join("::")))).collect()
}

/// `now` and the like are also good names for arguments; with a type before them, or as a type, they are not.
fn is_outside(parts: &[&str]) -> bool {
    parts.len() > 1 || matches!(parts, ["SystemTime" | "Instant" | "println" | "eprintln" | "print" | "eprint"])
}

/// Every Rust file begins with what it is.
pub fn heads(source: &Source) -> Vec<String> {
    let first = source.text.lines().next().unwrap_or_default();
    let good = first.strip_prefix("//! ").is_some_and(|text| !text.trim().is_empty());
    if !source.is_rust() || good { Vec::new() } else { vec![at(source, 1, "no `//!` head")] }
}

/// Functions stay short.
pub fn functions(source: &Source) -> Vec<String> {
    if !source.is_rust() {
        return Vec::new();
    }
    let masked = source.masked();
    let line_of = |byte: usize| masked[..byte].matches('\n').count() + 1;
    let mut wrong = Vec::new();
    for (start, _) in masked.match_indices("fn ") {
        let word_before = masked[..start].chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_');
        let Some(open) = body(&masked, start).filter(|_| !word_before) else { continue };
        let lines = line_of(closing(&masked, open)) - line_of(start) + 1;
        if lines > LONGEST_FUNCTION {
            wrong.push(at(source, line_of(start), format!("a function of {lines} lines")));
        }
    }
    wrong
}

/// Where the body of the function opens; a `;` first means that it has none.
fn body(masked: &str, start: usize) -> Option<usize> {
    let mut depth = 0_i32;
    for (at, byte) in masked.bytes().enumerate().skip(start) {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b'{' if depth == 0 => return Some(at),
            b';' if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// Files stay short.
pub fn lengths(source: &Source) -> Vec<String> {
    let lines = source.text.lines().count();
    if !source.is_rust() || lines <= LONGEST_FILE {
        Vec::new()
    } else {
        vec![at(source, lines, "the file is too long")]
    }
}

/// Nothing is unsafe.
pub fn no_unsafe(source: &Source) -> Vec<String> {
    if !source.is_rust() {
        return Vec::new();
    }
    let found = paths(&source.masked());
    found.iter().filter(|found| found.parts == ["unsafe"]).map(|found| at(source, found.line, "`unsafe`")).collect()
}

/// No path of the machine the file was written on.
pub fn no_machine_path(source: &Source) -> Vec<String> {
    let needles = ["work", "home", "root"].map(|dir| format!("/{dir}/"));
    let lines = source.text.lines().enumerate();
    let has = |line: &str| {
        needles.iter().any(|needle| {
            line.match_indices(needle.as_str()).any(|(at, _)| {
                !line[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '>' | '}'))
            })
        })
    };
    lines.filter(|(_, line)| has(line)).map(|(n, _)| at(source, n + 1, "a path of somebody's machine")).collect()
}

/// Commands that the page does not name.
pub fn undocumented(command: &clap::Command, page: &str) -> Vec<String> {
    let mut missing = Vec::new();
    walk(command, command.get_name(), page, &mut missing);
    missing
}

fn walk(command: &clap::Command, path: &str, page: &str, missing: &mut Vec<String>) {
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help" && !sub.is_hide_set()) {
        let path = format!("{path} {}", sub.get_name());
        if !page.contains(&format!("`{path}`")) && !page.contains(&format!("`{path} ")) {
            missing.push(path.clone());
        }
        walk(sub, &path, page, missing);
    }
}
