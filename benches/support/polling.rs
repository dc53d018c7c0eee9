//! A quiet poll: how many requests it costs, and how long it takes, with a GitHub on the loopback.

use std::fmt::Write as _;

use anyhow::ensure;
use the_loop::domain::item::{Item, Sections};
use the_loop::domain::portable::{Command, Control, RequestedAt, Source};
use the_loop::domain::reference::RepoRef;

use crate::commands::timed;
use crate::fake_github::FakeGitHub;
use crate::fake_github::server::Server;
use crate::home::{Home, PROGRAM, time};
use crate::report::{Row, median, ms};

const REPOSITORIES: u64 = 10;
/// Items of one repository.
const ITEMS: u64 = 100;
const TOKEN: &str = "a-token-of-the-bench";
const LABEL: &str = "the-loop: auto-execute";
/// Cycles until everything was seen, and those that are measured.
const CYCLES: (usize, usize) = (4, 7);

/// One row.
pub fn rows() -> anyhow::Result<Vec<Row>> {
    let server = Server::start(github());
    let home = Home::new("")?;
    configure(&home, &server.api_url())?;
    armed(&home)?;
    let poll = || timed(home.command(PROGRAM, &["poll"]).env("GITHUB_TOKEN", TOKEN));
    for _ in 0..CYCLES.0 {
        poll()?;
    }
    let (mut took, mut most, mut others) = (Vec::new(), 0, 0);
    for _ in 0..CYCLES.1 {
        server.github().forget_requests();
        took.push(poll()?);
        let github = server.github();
        others += github.count(|request| request.status != 304);
        for number in 0..REPOSITORIES {
            let name = format!("/{number}");
            let of = |path: &str| path.contains(&format!("octo/r{number}/")) || path.contains(&format!("{name}00/"));
            most = most.max(github.count(|request| of(&request.path)));
        }
    }
    ensure!(most > 0, "nothing was asked");
    Ok(vec![Row::new(
        format!("quiet `poll` of {} items in {REPOSITORIES} repositories", REPOSITORIES * ITEMS),
        "at most 5 requests per repository, all 304",
        format!("{most} per repository, {others} of them not 304, {}", ms(median(took))),
        most <= 5 && others == 0,
    )])
}

fn name(number: u64) -> String {
    format!("octo/r{number}")
}

fn github() -> FakeGitHub {
    let mut github = FakeGitHub::running(0);
    github.add_token(TOKEN, "the-loop-bot", Some("repo"));
    for repository in 0..REPOSITORIES {
        let repo = name(repository);
        github.add_repository_without_hook(&repo, 1000 + repository);
        for item in 0..ITEMS {
            let number = github.open_issue(&repo, "mona", &format!("Issue {item}"), "Do it.");
            github.label(&repo, number, "mona", LABEL);
        }
    }
    github
}

fn configure(home: &Home, api: &str) -> anyhow::Result<()> {
    let path = home.dir().join(".the-loop/cli-config.yaml");
    let config = std::fs::read_to_string(&path)?;
    let names: Vec<String> = (0..REPOSITORIES).map(name).collect();
    let mut config = config.replace("[octo/hello]", &format!("[{}]", names.join(", ")));
    writeln!(config, "github: {{apiUrl: \"{api}\"}}")?;
    Ok(std::fs::write(path, config)?)
}

/// All items are ours: somebody said start.
fn armed(home: &Home) -> anyhow::Result<()> {
    let (store, at) = (home.store()?, time());
    let control = Control {
        command: Command::Start,
        source: Source::Comment,
        actor: "mona".into(),
        requested_at: RequestedAt::At(at),
        note: None,
        extra: serde_json::Map::new(),
    };
    let sections = Sections { control: Some(control), commanded_at: Some(at), ..Sections::default() };
    let mut items = Vec::new();
    for repository in 0..REPOSITORIES {
        let repository = RepoRef::parse(&name(repository))?;
        for number in 1..=ITEMS {
            items.push(Item { sections: sections.clone(), version: 1, ..Item::new(repository.item(number)?) });
        }
    }
    store.write(move |tx| items.iter().try_for_each(|item| tx.put_item(item)))?;
    Ok(store.close()?)
}
