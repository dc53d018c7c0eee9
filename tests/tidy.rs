//! The house rules, enforced: layers and arrows, homes of crates, purity of the domain, sizes, heads, and what must
//! not stand in a committed file. Each rule is run on the tree and on a planted violation, which it must find.

#[path = "tidy/paths.rs"]
mod paths;
#[path = "tidy/rules.rs"]
mod rules;
#[path = "tidy/source.rs"]
mod source;

use rules::Rule;
use source::{Source, tree};

/// Runs one rule over the tree and over violations planted in files of their own.
fn enforce(rule: Rule, planted: &[(&str, &str)]) {
    for (path, text) in planted {
        let source = Source::new(path, text);
        assert!(!rule(&source).is_empty(), "the rule does not find what was planted in {path}:\n{text}");
    }
    let found: Vec<String> = tree().iter().flat_map(rule).collect();
    assert!(found.is_empty(), "{} violations:\n{}", found.len(), found.join("\n"));
}

#[test]
fn arrows_point_down() {
    enforce(
        rules::arrows,
        &[
            ("src/domain/x.rs", "use crate::store::Store;"),
            ("src/domain/x.rs", "use crate::{ids, adapters::tmux::Tmux};"),
            ("src/domain/x.rs", "fn f() -> crate::app::Request { loop {} }"),
            ("src/domain/x/y.rs", "use super::super::super::cli::Output;"),
            ("src/domain/mod.rs", "pub use super::daemon::Daemon;"),
            ("src/store/x.rs", "use crate::app::ingest;"),
            ("src/store/x.rs", "use crate::adapters::clock::SystemClock;"),
            ("src/adapters/x.rs", "use crate::store::Store;"),
            ("src/app/x.rs", "use crate::adapters::tmux;"),
            ("src/app/x.rs", "fn f() { crate::cli::print() }"),
            ("src/daemon/x.rs", "use crate::cli::Output;"),
        ],
    );
}

#[test]
fn arrows_that_point_down_are_allowed() {
    for (path, text) in [
        ("src/domain/x/y.rs", "use super::super::ids::Login; use crate::domain::event;"),
        ("src/store/x.rs", "use crate::domain::ids;"),
        ("src/app/x.rs", "use crate::store::Store; use crate::domain::ports::Clock;"),
        ("src/daemon/x.rs", "use crate::{adapters, app, store};"),
        ("src/cli/x.rs", "use crate::{daemon, adapters, app, store, domain};"),
        ("src/app/x.rs", "// crate::adapters\nconst T: &str = \"crate::adapters\";"),
        ("src/app/x.rs", "#[cfg(test)]\nmod tests { use crate::adapters::fake; }"),
        ("src/app/x/tests.rs", "use crate::adapters::fake;"),
    ] {
        assert_eq!(rules::arrows(&Source::new(path, text)), Vec::<String>::new(), "{path}: {text}");
    }
}

#[test]
fn named_crates_stay_at_home() {
    enforce(
        rules::homes,
        &[
            ("src/app/x.rs", "use redb::Database;"),
            ("src/domain/x.rs", "fn f(db: ::redb::Database) {}"),
            ("src/cli/x.rs", "use tokio::runtime;"),
            ("src/store/x.rs", "use {tokio::fs, std::io};"),
            ("src/app/x.rs", "use warp as w;"),
            ("src/adapters/x.rs", "use hyper::body;"),
            ("src/adapters/x.rs", "use hyper_util::rt;"),
            ("src/adapters/x.rs", "use ureq::Agent;"),
            ("src/daemon/x.rs", "#[derive(clap::Args)] struct A;"),
            ("src/domain/x.rs", "use saphyr::Yaml;"),
            ("src/adapters/x.rs", "use saphyr_parser::Event;"),
        ],
    );
}

#[test]
fn the_domain_is_pure() {
    enforce(
        rules::purity,
        &[
            ("src/domain/x.rs", "use std::fs;"),
            ("src/domain/x.rs", "use std::{io, env};"),
            ("src/domain/x.rs", "fn f() { std::process::exit(1) }"),
            ("src/domain/x.rs", "use std::net::TcpStream;"),
            ("src/domain/x.rs", "use std::net::{IpAddr, UdpSocket};"),
            ("src/domain/x.rs", "use std::time::SystemTime;"),
            ("src/domain/x.rs", "fn f(t: std::time::Instant) {}"),
            ("src/domain/x.rs", "fn f() { thread::sleep(d) }"),
            ("src/domain/x.rs", "fn f() { jiff::Timestamp::now(); }"),
            ("src/domain/x.rs", "use rand::Rng;"),
            ("src/domain/x.rs", "fn f() { uuid::Uuid::new_v4(); }"),
            ("src/domain/x.rs", "fn f() { println!(\"x\") }"),
            ("src/domain/x.rs", "use rustix::process;"),
        ],
    );
    for text in [
        "use std::net::{IpAddr, SocketAddr}; use std::time::Duration;",
        "/// Like `std::fs::read`.\nfn f(environment: u8, process: u8) {}",
        "#[cfg(test)]\nmod tests { use std::fs; }",
    ] {
        assert_eq!(rules::purity(&Source::new("src/domain/x.rs", text)), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn every_file_says_what_it_is() {
    let planted = [("src/domain/x.rs", "use std::io;\n"), ("tests/x.rs", "\n//! late\n"), ("benches/x.rs", "//!\n")];
    enforce(rules::heads, &planted);
}

#[test]
fn no_function_is_longer_than_70_lines() {
    let long = |head: &str| format!("{head} {{\n{}}}\n", "    work();\n".repeat(69));
    let in_string = format!("fn f() {{ let brace = \"}}\"; let c = '}}'; // }}\n{}}}\n", "    x();\n".repeat(70));
    let with_array = long("fn f<'a>(x: [u8; 4]) -> &'a str\nwhere\n    T: Fn(u8) -> u8,");
    let planted = [long("pub async fn f()"), in_string, with_array].map(|text| ("src/app/x.rs", text));
    let planted: Vec<(&str, &str)> = planted.iter().map(|(path, text)| (*path, text.as_str())).collect();
    enforce(rules::functions, &planted);
    let limit = format!("fn f() {{\n{}}}\nfn g() {{\n{}}}\n", "    x();\n".repeat(68), "    x();\n".repeat(68));
    assert_eq!(rules::functions(&Source::new("src/app/x.rs", &limit)), Vec::<String>::new());
}

#[test]
fn no_file_is_longer_than_500_lines() {
    enforce(rules::lengths, &[("src/app/x.rs", &"//! x\n".repeat(501))]);
    assert!(rules::lengths(&Source::new("src/app/x.rs", &"//! x\n".repeat(500))).is_empty());
}

#[test]
fn nothing_is_unsafe() {
    enforce(rules::no_unsafe, &[("src/app/x.rs", "fn f() { unsafe { g() } }"), ("tests/x.rs", "unsafe fn f() {}")]);
    assert!(rules::no_unsafe(&Source::new("src/app/x.rs", "#![forbid(unsafe_code)] // unsafe\n")).is_empty());
}

#[test]
fn no_path_of_a_machine_is_committed() {
    let planted = ["work", "home", "root"].map(|dir| format!("see /{dir}/x for more"));
    let planted: Vec<(&str, &str)> = planted.iter().map(|text| ("docs/x.md", text.as_str())).collect();
    enforce(rules::no_machine_path, &planted);
    assert!(rules::no_machine_path(&Source::new("docs/x.md", "the network/root and http://h/home")).is_empty());
}

#[test]
fn every_command_is_in_the_documentation() {
    let page = include_str!("../docs/cli/commands.md");
    assert_eq!(rules::undocumented(&the_loop::cli::command(), page), Vec::<String>::new());
    let planted = the_loop::cli::command().subcommand(clap::Command::new("zap").subcommand(clap::Command::new("now")));
    assert_eq!(rules::undocumented(&planted, page), ["the-loop zap", "the-loop zap now"]);
}

#[test]
fn the_walk_sees_the_whole_tree() {
    let tree = tree();
    for path in ["src/lib.rs", "src/domain/config/mod.rs", "tests/tidy.rs", "Cargo.toml", "docs/cli/commands.md"] {
        assert!(tree.iter().any(|source| source.path == path), "{path}");
    }
    assert!(!tree.iter().any(|source| source.path.starts_with("target/") || source.path.starts_with(".git/")));
}
