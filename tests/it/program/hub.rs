//! GitHub as the daemon meets it: deliveries in its shape, signed, posted over raw connections.

use std::io::{Error, ErrorKind, Read as _, Result, Write as _};
use std::net::{SocketAddr, TcpStream};

use serde_json::Value as Json;

use super::world::{PATIENCE, World};
use crate::payloads::{Item, Repo, Said, sign};
use crate::support::wait_for;

/// The label that lets an item be started.
pub const LABEL: &str = "the-loop: auto-execute";

/// One delivery of a webhook.
#[derive(Clone)]
pub struct Delivery {
    pub id: String,
    pub event: &'static str,
    pub body: Vec<u8>,
}

/// Status and body of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub body: String,
}

impl Answer {
    /// The word in it.
    pub fn word(&self) -> String {
        let json: Json = serde_json::from_str(&self.body).unwrap_or_default();
        json["status"].as_str().unwrap_or_default().to_owned()
    }
}

impl Delivery {
    pub fn new(event: &'static str, body: &Json) -> Self {
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(1);
        let count = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Self { id: format!("{count:08x}-2222-3333-4444-555555555555"), event, body: body.to_string().into_bytes() }
    }

    /// The same under another delivery id.
    pub fn again_as(&self, id: &str) -> Self {
        Self { id: id.to_owned(), ..self.clone() }
    }

    /// The same with the payload changed.
    pub fn changed(&self, change: impl FnOnce(&mut Json)) -> Self {
        let mut body = serde_json::from_slice(&self.body).unwrap();
        change(&mut body);
        Self::new(self.event, &body)
    }

    /// The request, signed with `secret`.
    pub fn request(&self, secret: &str) -> Vec<u8> {
        let Self { id, event, body } = self;
        let headers = format!("X-GitHub-Delivery: {id}\r\nX-GitHub-Event: {event}\r\n");
        signed(&headers, body, secret)
    }
}

/// A signed request with these headers beside signature, type and length.
pub fn signed(headers: &str, body: &[u8], secret: &str) -> Vec<u8> {
    let head = format!(
        "POST /gh-webhook HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{headers}\
         X-Hub-Signature-256: {}\r\nContent-Length: {}\r\n\r\n",
        sign(secret.as_bytes(), body),
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// One connection that may break at any time.
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub fn open(address: SocketAddr) -> Result<Self> {
        TcpStream::connect(address).and_then(Self::over)
    }

    pub fn over(stream: TcpStream) -> Result<Self> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::new() })
    }

    /// Sends a request and reads its answer.
    pub fn ask(&mut self, request: &[u8]) -> Result<Answer> {
        self.stream.write_all(request)?;
        self.answer()
    }

    /// Reads one whole answer.
    pub fn answer(&mut self) -> Result<Answer> {
        let end = self.fill(|bytes| bytes.windows(4).position(|w| w == b"\r\n\r\n").map(|at| at + 4))?;
        let head = String::from_utf8_lossy(&self.buffer.drain(..end).collect::<Vec<_>>()).to_ascii_lowercase();
        let bad = || Error::new(ErrorKind::InvalidData, head.clone());
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(bad)?;
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).ok_or_else(bad)?;
        let length = length.trim().parse().map_err(|_| bad())?;
        self.fill(|bytes| (bytes.len() >= length).then_some(length))?;
        let body = String::from_utf8_lossy(&self.buffer.drain(..length).collect::<Vec<_>>()).into_owned();
        Ok(Answer { status, body })
    }

    fn fill(&mut self, enough: impl Fn(&[u8]) -> Option<usize>) -> Result<usize> {
        loop {
            if let Some(at) = enough(&self.buffer) {
                return Ok(at);
            }
            let mut chunk = [0; 4096];
            match self.stream.read(&mut chunk) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(read) => self.buffer.extend_from_slice(&chunk[..read]),
                // Children of this process end all the time.
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// The repository most tests are about.
pub fn hello() -> Repo {
    Repo::new("octo/hello", 101)
}

/// The reference of an issue of it.
pub fn reference(number: u64) -> String {
    format!("github:octo/hello#{number}")
}

impl World {
    /// Posts these bytes over a connection of their own.
    pub fn ask(&self, request: &[u8]) -> Answer {
        let address = self.address().expect("a running daemon");
        Connection::open(address).and_then(|mut connection| connection.ask(request)).unwrap()
    }

    /// Posts a delivery, whatever the answer.
    pub fn post(&self, delivery: &Delivery) -> Answer {
        self.ask(&delivery.request(&self.secret))
    }

    /// Posts a delivery that must be accepted.
    pub fn send(&self, delivery: &Delivery) {
        let answer = self.post(delivery);
        assert_eq!((answer.status, answer.word().as_str()), (202, "accepted"), "{answer:?}");
    }

    /// An issue of `repo` that carries the label.
    pub fn issue(&self, number: u64) -> Item {
        Item::issue(number, "mona", &self.tick()).labeled(&[LABEL])
    }

    /// An open pull request of [`hello`] without labels.
    pub fn pull(&self, number: u64, branch: &str) -> Item {
        Item::pull(&hello(), number, branch, "mona", &self.tick())
    }

    /// `mona` comments on an item of `repo`.
    pub fn comment_in(&self, repo: &Repo, item: &Item, text: &str) -> Delivery {
        let said = Said::new(self.next_id(), "mona", text, &self.tick());
        Delivery::new("issue_comment", &repo.issue_comment_created(item, &said))
    }

    /// `mona` comments on an issue of [`hello`].
    pub fn comment(&self, number: u64, text: &str) -> Delivery {
        self.comment_in(&hello(), &self.issue(number), text)
    }

    /// `mona` says this on an issue of [`hello`], and the daemon accepts it.
    pub fn say(&self, number: u64, text: &str) {
        self.send(&self.comment(number, text));
    }

    /// Has an item of `repo` started by a word on it.
    pub fn start_item(&self, repo: &Repo, item: &Item) {
        self.send(&self.comment_in(repo, item, "the-loop start"));
    }

    /// Starts these issues of [`hello`] and waits until each agent has its first prompt.
    pub fn arm(&self, numbers: &[u64]) {
        for number in numbers {
            self.start_item(&hello(), &self.issue(*number));
        }
        for number in numbers {
            self.wait_prompted(&reference(*number));
        }
    }

    /// Waits until an endpoint's agent has the whole first prompt.
    pub fn wait_prompted(&self, endpoint: &str) {
        let first = |heard: &str| heard.starts_with("You are the agent of ") && heard.contains("\nDelivery: ");
        wait_for(&format!("{endpoint} to be prompted"), PATIENCE, || first(&self.heard(endpoint)));
    }
}
