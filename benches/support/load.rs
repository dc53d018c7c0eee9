//! A light HTTP/1.1 load client: signed `issue_comment` deliveries over kept connections.
//!
//! Client and receiver share the machine, so everything that costs is done before the clock starts: one body is built
//! as a template whose ids have a fixed width, each delivery is a set of values for its holes with the signature already
//! made, and sending one is a copy and a write.

use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::payloads::{Item, Repo, Said, sign};

/// Stand-ins of the template; nothing else in a body looks like them.
const COMMENT_HOLE: &str = "3999999999";
const NUMBER_HOLE: &str = "919191919";
const DELIVERY_HOLE: &str = "d0d0d0d0-d0d0-d0d0-d0d0-d0d0d0d0d0d0";
const SIGNATURE_HOLE: &str = "5161516151615161516151615161516151615161516151615161516151615161";

/// A step through the issues that meets all of them and no neighbours.
const SCATTER: u64 = 7919;

/// What the comment with this id on this issue says first, nowhere else in its body or in any other.
pub fn mark(comment: u64, number: u64) -> String {
    format!("comment {comment} of issue {number}:")
}

/// The issue of the delivery number `n` of a series.
pub fn issue_of(series: &Series<'_>, n: u64) -> u64 {
    series.first_number + n * SCATTER % series.issues
}

/// What a series of deliveries has in common.
#[derive(Debug, Clone)]
pub struct Series<'a> {
    /// The receiver's secret.
    pub secret: &'a [u8],
    /// Path to post to.
    pub path: &'a str,
    /// `owner/name`.
    pub repo: &'a str,
    /// Who comments.
    pub login: &'a str,
    /// When, as GitHub writes times.
    pub at: &'a str,
    /// Bytes of each body; 14,000 is an ordinary comment.
    pub body_bytes: usize,
    /// The first issue number; at least 100,000,000, so that all have nine digits.
    pub first_number: u64,
    /// Deliveries go round this many issues, in no order of their numbers.
    pub issues: u64,
    /// What every comment says; `None` fills the body up with [`mark`] and prose.
    pub text: Option<&'a str>,
    /// The first comment id; at least 1,000,000,000, so that all have ten digits.
    pub first_comment: u64,
}

/// Deliveries ready to be sent.
#[derive(Debug)]
pub struct Batch {
    request: Vec<u8>,
    holes: Vec<(usize, Hole)>,
    fills: Vec<Fill>,
}

#[derive(Debug, Clone, Copy)]
enum Hole {
    Comment,
    Number,
    Delivery,
    Signature,
}

/// The values of one delivery.
#[derive(Debug)]
struct Fill {
    comment: [u8; 10],
    number: [u8; 9],
    delivery: [u8; 36],
    signature: [u8; 64],
}

impl Fill {
    fn of(&self, hole: Hole) -> &[u8] {
        match hole {
            Hole::Comment => &self.comment,
            Hole::Number => &self.number,
            Hole::Delivery => &self.delivery,
            Hole::Signature => &self.signature,
        }
    }
}

/// The first bytes of `text` as an array; the holes have a fixed width.
fn fixed<const N: usize>(text: &str) -> [u8; N] {
    let mut bytes = [b'0'; N];
    bytes.copy_from_slice(&text.as_bytes()[..N]);
    bytes
}

impl Batch {
    /// `count` deliveries of a series, each with its own delivery id and comment id.
    pub fn new(series: &Series<'_>, count: u64) -> Self {
        let body = template(series);
        let head = format!(
            "POST {} HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: GitHub-Hookshot/044aadd\r\nAccept: */*\r\n\
             Content-Type: application/json\r\nX-GitHub-Delivery: {DELIVERY_HOLE}\r\nX-GitHub-Event: issue_comment\r\n\
             X-GitHub-Hook-ID: 292430182\r\nX-GitHub-Hook-Installation-Target-ID: 79929171\r\n\
             X-GitHub-Hook-Installation-Target-Type: repository\r\nX-Hub-Signature-256: sha256={SIGNATURE_HOLE}\r\n\
             Content-Length: {}\r\n\r\n",
            series.path,
            body.len()
        );
        let start = head.len();
        let request = [head.into_bytes(), body].concat();
        let mut batch = Self { holes: holes(&request), request, fills: Vec::new() };
        let mut scratch = batch.request.clone();
        for n in 0..count {
            let comment = series.first_comment + n;
            let mut fill = Fill {
                comment: fixed(&comment.to_string()),
                number: fixed(&issue_of(series, n).to_string()),
                delivery: fixed(&format!("{comment:08x}-0000-4000-8000-{n:012x}")),
                signature: [b'0'; 64],
            };
            batch.write(&fill, &mut scratch);
            fill.signature = fixed(sign(series.secret, &scratch[start..]).trim_start_matches("sha256="));
            batch.fills.push(fill);
        }
        batch
    }

    /// The whole requests one by one, for whoever sends them by hand.
    pub fn requests(&self) -> impl Iterator<Item = Vec<u8>> {
        self.fills.iter().map(|fill| {
            let mut request = self.request.clone();
            self.write(fill, &mut request);
            request
        })
    }

    fn write(&self, fill: &Fill, into: &mut [u8]) {
        for (at, hole) in &self.holes {
            let value = fill.of(*hole);
            into[*at..*at + value.len()].copy_from_slice(value);
        }
    }
}

fn template(series: &Series<'_>) -> Vec<u8> {
    let repo = Repo::new(series.repo, 186_853_002);
    let number = NUMBER_HOLE.parse().unwrap_or(0);
    let comment = COMMENT_HOLE.parse().unwrap_or(0);
    let item = Item::issue(number, series.login, series.at).labeled(&["bug", "the-loop: auto-execute"]);
    let with = |text: &str| {
        let said = Said::new(comment, series.login, text, series.at);
        repo.issue_comment_created(&item, &said).to_string().into_bytes()
    };
    if let Some(text) = series.text {
        return with(text);
    }
    let begin = mark(comment, number);
    let missing = series.body_bytes.saturating_sub(with(&begin).len());
    let prose = " the mean is still off by one when the last line is empty, see the log".chars().cycle();
    with(&begin.chars().chain(prose.take(missing)).collect::<String>())
}

fn holes(request: &[u8]) -> Vec<(usize, Hole)> {
    let marks = [
        (COMMENT_HOLE, Hole::Comment),
        (NUMBER_HOLE, Hole::Number),
        (DELIVERY_HOLE, Hole::Delivery),
        (SIGNATURE_HOLE, Hole::Signature),
    ];
    let mut found = Vec::new();
    for (mark, hole) in marks {
        let mark = mark.as_bytes();
        found.extend(request.windows(mark.len()).enumerate().filter(|(_, w)| *w == mark).map(|(at, _)| (at, hole)));
    }
    found
}

/// What came of a run.
#[derive(Debug, Clone)]
pub struct Report {
    /// Answered 2xx.
    pub accepted: usize,
    /// Answered something else.
    pub refused: usize,
    /// From the first write to the last answer.
    pub elapsed: Duration,
    /// Half of the answers came within.
    pub p50: Duration,
    /// 99 of 100 answers came within.
    pub p99: Duration,
    /// The slowest answer.
    pub slowest: Duration,
}

impl Report {
    /// Accepted deliveries per second.
    pub fn per_second(&self) -> f64 {
        self.accepted as f64 / self.elapsed.as_secs_f64()
    }
}

/// Sends a whole batch over `connections` kept connections from one thread, and reports. An error is one of the socket:
/// a receiver that closes or resets a connection in the middle.
pub fn run(address: SocketAddr, connections: usize, batch: &Rc<Batch>) -> io::Result<Report> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, drive(address, connections, Rc::clone(batch)))
}

async fn drive(address: SocketAddr, connections: usize, batch: Rc<Batch>) -> io::Result<Report> {
    let mut streams = Vec::new();
    for _ in 0..connections {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        streams.push(stream);
    }
    let next = Rc::new(std::cell::Cell::new(0));
    let began = Instant::now();
    let tasks: Vec<_> =
        streams.into_iter().map(|s| tokio::task::spawn_local(one_connection(s, batch.clone(), next.clone()))).collect();
    let (mut latencies, mut refused) = (Vec::new(), 0);
    for task in tasks {
        let (took, bad) = task.await.map_err(io::Error::other)??;
        latencies.extend(took);
        refused += bad;
    }
    let elapsed = began.elapsed();
    latencies.sort_unstable();
    let at = |share: f64| {
        latencies.get((latencies.len() as f64 * share) as usize).or(latencies.last()).copied().unwrap_or_default()
    };
    Ok(Report { accepted: latencies.len() - refused, refused, elapsed, p50: at(0.5), p99: at(0.99), slowest: at(1.0) })
}

/// Sends until the batch is used up: one request at a time, as each delivery's sender waits for its answer.
async fn one_connection(
    mut stream: TcpStream,
    batch: Rc<Batch>,
    next: Rc<std::cell::Cell<usize>>,
) -> io::Result<(Vec<Duration>, usize)> {
    let mut request = batch.request.clone();
    let mut answer = vec![0; 4096];
    let (mut took, mut refused) = (Vec::new(), 0);
    while let Some(fill) = batch.fills.get(next.get()) {
        next.set(next.get() + 1);
        batch.write(fill, &mut request);
        let sent = Instant::now();
        stream.write_all(&request).await?;
        if !is_success(&mut stream, &mut answer).await? {
            refused += 1;
        }
        took.push(sent.elapsed());
    }
    Ok((took, refused))
}

/// Reads one whole answer.
async fn is_success(stream: &mut TcpStream, buffer: &mut [u8]) -> io::Result<bool> {
    let mut filled = 0;
    loop {
        let read = stream.read(&mut buffer[filled..]).await?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        filled += read;
        if whole(&buffer[..filled]) {
            return Ok(buffer.get(9) == Some(&b'2'));
        }
    }
}

/// Whether the bytes are an answer with all of its declared length.
fn whole(bytes: &[u8]) -> bool {
    let Some(end) = bytes.windows(4).position(|w| w == b"\r\n\r\n") else { return false };
    let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
    bytes.len() >= end + 4 + length.unwrap_or(0)
}
