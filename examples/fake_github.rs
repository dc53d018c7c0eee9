//! A fake GitHub to try things against: one repository on a port of the loopback, driven by commands on standard input.
//! `cargo run --example fake_github -- [--port N] [--repo OWNER/NAME] [--token TOKEN] [--secret SECRET --deliver URL]`
//!
//! It prints the address of its API, then obeys; `help` lists the commands. Times are the machine's. With `--deliver` the
//! webhook deliveries of what is done are posted to URL, signed; without, nobody hears of them, as behind a firewall.

#![allow(clippy::print_stdout)]

use std::io::BufRead;

// The example uses some of it, the tests use the rest.
#[allow(dead_code, unused_imports)]
#[path = "../tests/support/fake_github/mod.rs"]
mod fake_github;
#[allow(dead_code)]
#[path = "../tests/support/payloads.rs"]
mod payloads;

use fake_github::state::Thing;
use fake_github::{FakeGitHub, post_signed, server::Server};

const HELP: &str = "\
issue NUMBER LOGIN TITLE    opens an issue
pull LOGIN BRANCH TITLE     opens a pull request, and says its number
comment NUMBER LOGIN TEXT   comments
label NUMBER LOGIN LABEL    puts a label on
unlabel NUMBER LOGIN LABEL  takes it off
review NUMBER LOGIN STATE TEXT  reviews: approved, changes_requested, commented
check NUMBER NAME CONCLUSION    a check of the pull request's head completes
push|close|reopen|merge NUMBER LOGIN
show NUMBER                 prints the ticket, its comments and its reactions
requests                    prints how many requests were answered, and how many of them with 304
quit";

/// What was asked for on the command line.
struct Options {
    port: u16,
    repo: String,
    token: String,
    deliver: Option<(String, String)>,
}

fn options() -> Result<Options, String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut options = Options { port: 0, repo: "octo/hello".to_owned(), token: "fake-token".to_owned(), deliver: None };
    let (mut url, mut secret) = (None, None);
    for pair in words.chunks(2) {
        let [name, value] = pair else { return Err(format!("`{}` has no value", pair[0])) };
        match name.as_str() {
            "--port" => options.port = value.parse().map_err(|_| format!("`{value}` is no port"))?,
            "--repo" => options.repo = value.clone(),
            "--token" => options.token = value.clone(),
            "--deliver" => url = Some(value.clone()),
            "--secret" => secret = Some(value.clone()),
            other => return Err(format!("there is no option `{other}`")),
        }
    }
    options.deliver = url.zip(secret);
    Ok(options)
}

fn main() -> Result<(), String> {
    let options = options()?;
    let mut fake = FakeGitHub::running(0);
    fake.add_repository(&options.repo, 186_853_002);
    fake.add_token(&options.token, "the-loop-bot", Some("repo"));
    fake.allow(&options.repo, "the-loop-bot", "admin");
    let server = Server::start_on(fake, options.port);
    println!("api {}", server.api_url());
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| error.to_string())?;
        if line.trim() == "quit" {
            break;
        }
        match obey(&mut server.github(), &options.repo, &line) {
            Ok(said) => println!("{said}"),
            Err(why) => println!("error: {why}"),
        }
        deliver(&server, options.deliver.as_ref());
    }
    Ok(())
}

/// Posts what is to be delivered.
fn deliver(server: &Server, to: Option<&(String, String)>) {
    let deliveries = server.github().take_deliveries();
    let Some((url, secret)) = to else { return };
    for delivery in deliveries {
        // Posted without the lock: the receiver may ask us something before it answers.
        let status = post_signed(url, &delivery, secret.as_bytes()).unwrap_or(502);
        println!("delivered {} {status}", delivery.event);
        server.github().delivered(&delivery, status);
    }
}

/// Does what a line says; the answer is for people and scripts.
fn obey(fake: &mut FakeGitHub, repo: &str, line: &str) -> Result<String, String> {
    let (verb, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
    let words: Vec<&str> = rest.splitn(3, ' ').collect();
    let number: u64 = words[0].parse().unwrap_or(0);
    let is_about_none = matches!(verb, "issue" | "pull" | "help" | "requests");
    if !is_about_none && !fake.repo(repo).tickets.contains_key(&number) {
        return Err(format!("`{verb}` of no known ticket: `{}`; `help` lists the commands", words[0]));
    }
    let is_pull = fake.repo(repo).tickets.get(&number).is_some_and(|ticket| ticket.pull.is_some());
    if matches!(verb, "review" | "check" | "push" | "merge") && !is_pull {
        return Err(format!("{number} is no pull request"));
    }
    let done = "ok".to_owned();
    match (verb, words.as_slice()) {
        ("help", _) => Ok(HELP.to_owned()),
        ("requests", _) => {
            Ok(format!("requests {} unchanged {}", fake.requests().len(), fake.count(|seen| seen.status == 304)))
        }
        ("show", [_]) => Ok(show(fake, repo, number)),
        ("issue", [_, login, title]) if number > fake.repo(repo).last_number => {
            fake.number_next(repo, number);
            Ok(format!("issue {}", fake.open_issue(repo, login, title, "")))
        }
        ("issue", [_, _, _]) => Err(format!("{} is not above the newest number", words[0])),
        ("pull", [login, branch, title]) => Ok(format!("pull {}", fake.open_pull(repo, login, branch, title, ""))),
        ("comment", [_, login, text]) => Ok(format!("comment {}", fake.comment(repo, number, login, text))),
        ("label", [_, login, label]) => Ok(done).inspect(|_| fake.label(repo, number, login, label)),
        ("unlabel", [_, login, label]) => Ok(done).inspect(|_| fake.unlabel(repo, number, login, label)),
        ("review", [_, login, said]) => {
            let (state, text) = said.split_once(' ').unwrap_or((said, ""));
            Ok(format!("review {}", fake.review(repo, number, login, state, text)))
        }
        ("check", [_, name, conclusion]) => {
            let sha = fake.repo(repo).head(number).to_owned();
            Ok(format!("check {}", fake.check(repo, &sha, name, conclusion)))
        }
        ("push", [_, login]) => Ok(format!("head {}", fake.push(repo, number, login))),
        ("close", [_, login]) => Ok(done).inspect(|_| fake.close(repo, number, login)),
        ("reopen", [_, login]) => Ok(done).inspect(|_| fake.reopen(repo, number, login)),
        ("merge", [_, login]) => Ok(done).inspect(|_| fake.merge(repo, number, login)),
        _ => Err(format!("`{line}` is not understood; `help` lists the commands")),
    }
}

/// The ticket, one thing a line; the end is marked, so that a script knows that it has all.
fn show(fake: &FakeGitHub, repo: &str, number: u64) -> String {
    let here = fake.repo(repo);
    let ticket = here.ticket(number);
    let state = if ticket.is_open() { "open" } else { "closed" };
    let mut lines = vec![format!("ticket {number} {state} [{}] {}", ticket.labels.join(", "), ticket.title)];
    let reactions = |on: Thing| {
        let on_it = here.reactions.iter().filter(move |reaction| reaction.on == on);
        on_it.map(|reaction| format!("    {} reacts {}", reaction.login, reaction.content))
    };
    lines.extend(reactions(Thing::Ticket(number)));
    for comment in here.comments.values().filter(|comment| comment.number == number) {
        let text = comment.text.replace('\n', "\n    | ");
        lines.push(format!("  comment {} by {}: {text}", comment.id, comment.login));
        lines.extend(reactions(Thing::Comment(comment.id)));
    }
    lines.push("end".to_owned());
    lines.join("\n")
}
