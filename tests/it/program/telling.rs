//! Telling people, end to end: the daemon, a real connection, and a ticket that keeps what is posted on it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use serde_json::{Value as Json, json};

use super::hub::reference;
use super::world::{PATIENCE, Ran, World};
use crate::support::wait_for;

/// Our mark, as the documentation has it.
const MARKER: &str = "<!-- the-loop:agent-comment -->";

/// What was posted on tickets.
#[derive(Default)]
struct Kept {
    comments: Vec<(String, String)>,
    reactions: Vec<String>,
    tokens: Vec<String>,
    /// So many comments are kept and their answer is lost.
    loses: usize,
    ends: bool,
}

/// Tickets on the loopback.
struct Tickets {
    kept: Arc<Mutex<Kept>>,
    address: SocketAddr,
    thread: Option<JoinHandle<()>>,
}

impl Tickets {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, kept) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(Kept::default())));
        let beside = Arc::clone(&kept);
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if beside.lock().unwrap().ends {
                    return;
                }
                // A connection that breaks is the client's to mend.
                let _ = stream.and_then(|stream| serve(&stream, &beside));
            }
        });
        Self { kept, address, thread: Some(thread) }
    }

    fn comments(&self) -> Vec<String> {
        self.kept.lock().unwrap().comments.iter().map(|(_, body)| body.clone()).collect()
    }

    fn reactions(&self) -> Vec<String> {
        self.kept.lock().unwrap().reactions.clone()
    }

    /// A machine whose GitHub is this one, with a daemon that has a token.
    fn world(&self) -> World {
        let world = World::asleep(&format!("github: {{apiUrl: \"http://{}\"}}\n", self.address));
        world.start_with(&[("GITHUB_TOKEN", "token-of-this-test")]);
        world
    }
}

impl Drop for Tickets {
    fn drop(&mut self) {
        self.kept.lock().unwrap().ends = true;
        let _ = TcpStream::connect(self.address);
        self.thread.take().map(JoinHandle::join);
    }
}

/// Answers one request and closes.
fn serve(mut stream: &TcpStream, kept: &Mutex<Kept>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        match line.trim() {
            "" => break,
            line => head.push(line.to_owned()),
        }
    }
    let header = |name: &str| {
        let find =
            |line: &String| line.to_ascii_lowercase().starts_with(name).then(|| line[name.len()..].trim().to_owned());
        head.iter().find_map(find).unwrap_or_default()
    };
    let mut body = vec![0; header("content-length:").parse().unwrap_or(0)];
    reader.read_exact(&mut body)?;
    let mut kept = kept.lock().unwrap();
    kept.tokens.push(header("authorization:"));
    let Some(answer) = answer(&mut kept, &head[0], &serde_json::from_slice(&body).unwrap_or_default()) else {
        return stream.shutdown(Shutdown::Both);
    };
    let text = answer.to_string();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{text}",
        text.len()
    )
}

fn answer(kept: &mut Kept, line: &str, body: &Json) -> Option<Json> {
    let path = line.split(' ').nth(1).unwrap().split('?').next().unwrap().to_owned();
    let shown = |(at, (_, body)): (usize, &(String, String))| json!({"node_id": format!("IC_ours{at}"), "html_url": format!("https://tickets.example/{at}"), "body": body});
    if line.starts_with("GET ") {
        let of_ticket = kept.comments.iter().enumerate().filter(|(_, (on, _))| *on == path);
        return Some(of_ticket.map(shown).collect());
    }
    if path.ends_with("/reactions") {
        kept.reactions.push(format!("{} {path}", body["content"].as_str().unwrap()));
        return Some(json!({"id": 1}));
    }
    kept.comments.push((path, body["body"].as_str().unwrap().to_owned()));
    if kept.loses > 0 {
        kept.loses -= 1;
        return None;
    }
    kept.comments.iter().enumerate().next_back().map(shown)
}

fn comment(world: &World, line: &str, body: &str, environment: &[(&str, &str)]) -> Ran {
    let mut command = world.command(line);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).envs(environment.iter().copied());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(body.as_bytes()).unwrap();
    child.wait_with_output().map(Ran::of).unwrap()
}

#[test]
fn a_start_is_seen_announced_and_done_on_its_ticket_and_an_agent_answers_there() {
    let tickets = Tickets::new();
    let world = tickets.world();
    world.arm(&[61]);
    let count = |word: &str| tickets.reactions().iter().filter(|reaction| reaction.starts_with(word)).count();
    wait_for("the reactions", PATIENCE, || count("eyes ") == 1 && count("hooray ") == 1);
    wait_for("the announcement", PATIENCE, || tickets.comments().len() == 1);
    let announced = tickets.comments().remove(0);
    assert!(announced.contains(&format!("the-loop sessions attach {}", reference(61))), "{announced}");
    assert!(announced.contains(MARKER) && tickets.reactions()[0].contains("/repos/octo/hello/issues/comments/"));

    // The agent's own words, by the environment of its session.
    let environment = world.agent_environment(&reference(61));
    let item = environment.lines().find_map(|line| line.strip_prefix("THE_LOOP_WORK_ITEM=")).unwrap().to_owned();
    let said = comment(&world, "comment", "I found it.\n", &[("THE_LOOP_WORK_ITEM", &item)]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "https://tickets.example/1\n"), "{said:?}");
    assert_eq!(tickets.comments()[1], format!("I found it.\n\n{MARKER}"));

    // What comes of it by webhook is ours, even when somebody took its mark away.
    let heard = world.comment(61, "the-loop stop").changed(|body| body["comment"]["node_id"] = "IC_ours1".into());
    world.send(&heard);
    world.wait_event("routing.dropped", &[("reason", "self-authored"), ("delivery", &heard.id)]);
    assert_eq!(world.state(&reference(61)), "live");

    // A word of the command line is told, and a secret is not.
    world.done("sessions pause octo/hello#61");
    wait_for("the echo", PATIENCE, || tickets.comments().len() == 3);
    assert!(tickets.comments()[2].starts_with("`the-loop pause` was said on the operator's command line"));
    let token = ["gh", "p_", &"a1B2".repeat(9)].concat();
    let refused = comment(&world, "comment octo/hello#61", &format!("look: {token}"), &[]);
    assert_eq!((refused.code, tickets.comments().len()), (Some(1), 3));
    assert!(refused.stderr.contains("on line 1\nhint: ") && !refused.stderr.contains("a1B2"), "{refused:?}");
    assert!(tickets.kept.lock().unwrap().tokens.iter().all(|token| token == "Bearer token-of-this-test"));
    let log = format!("{:?}", world.events("telling"));
    assert!(log.contains("announcement") && !log.contains("token-of-this-test"), "{log}");
    world.stop();
}

#[test]
fn a_comment_whose_answer_was_lost_is_posted_once_over_a_restart() {
    let tickets = Tickets::new();
    tickets.kept.lock().unwrap().loses = 1;
    let world = tickets.world();
    world.arm(&[62]);
    wait_for("the announcement", PATIENCE, || tickets.comments().len() == 1);
    world.wait_event("telling.failed", &[("what", "announcement")]);
    let status = world.run("status");
    assert!(status.stdout.contains("trouble    telling: ") && status.stdout.contains("telling    1 "), "{status:?}");
    world.kill_9();
    world.start_with(&[("GITHUB_TOKEN", "token-of-this-test")]);
    world.wait_event("telling.posted", &[("what", "announcement")]);
    assert_eq!(tickets.comments().len(), 1);
    let waiting = world.run("status --json").json()["status"]["tells"].clone();
    assert_eq!(waiting, 0);
    world.stop();
}

#[test]
fn without_a_daemon_the_command_posts_itself_and_without_a_token_it_says_so() {
    let tickets = Tickets::new();
    let world = World::asleep(&format!("github: {{apiUrl: \"http://{}\"}}\n", tickets.address));
    let none = comment(&world, "comment octo/hello#63", "done", &[]);
    assert_eq!((none.code, tickets.comments().len()), (Some(1), 0), "{none:?}");
    assert!(none.stderr.contains("no token for `github.com`\nhint: a running daemon"), "{none:?}");
    let token = [("GITHUB_TOKEN", "token-of-this-test")];
    let said = comment(&world, "comment octo/hello#63 --json", "done", &token);
    assert_eq!(said.json()["comment"]["url"], "https://tickets.example/0");
    // The store knows it as ours: a daemon that starts later does not hear it.
    world.start();
    world.later(5);
    world.send(&world.comment(63, "the-loop start").changed(|body| body["comment"]["node_id"] = "IC_ours0".into()));
    world.wait_event("routing.dropped", &[("reason", "self-authored")]);
    assert_eq!(tickets.kept.lock().unwrap().tokens, ["Bearer token-of-this-test"]);
    world.stop();
}
