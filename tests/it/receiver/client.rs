//! A raw HTTP/1.1 client: says exactly the bytes it is told to and reads whole answers.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// A whole answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// Status code.
    pub status: u16,
    /// Header lines, names in lower case.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: String,
}

impl Reply {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// The word in `status`; fails for a body that is not the listener's JSON.
    pub fn word(&self) -> String {
        let json: serde_json::Value = serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {self:?}"));
        json["status"].as_str().unwrap_or_else(|| panic!("{self:?}")).to_owned()
    }
}

/// One connection.
pub struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Client {
    /// Connects.
    pub fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, buffer: Vec::new() }
    }

    /// Sends these bytes.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        self.stream.write_all(bytes.as_ref()).unwrap();
        self
    }

    /// Sends these bytes as far as the other side takes them.
    pub fn try_send(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.stream.write_all(bytes.as_ref()).is_ok()
    }

    /// Says that nothing more will be sent.
    pub fn end(&mut self) -> &mut Self {
        self.stream.shutdown(Shutdown::Write).unwrap();
        self
    }

    /// Reads one whole answer.
    pub fn reply(&mut self) -> Reply {
        self.reply_to("POST")
    }

    /// Reads one whole answer to a request with this method; the answer to HEAD has no body.
    pub fn reply_to(&mut self, method: &str) -> Reply {
        let end = self.fill(|bytes| bytes.windows(4).position(|w| w == b"\r\n\r\n").map(|at| at + 4));
        let head = String::from_utf8(self.buffer.drain(..end).collect()).unwrap();
        let mut lines = head.trim_end().split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers: Vec<_> = lines
            .map(|line| line.split_once(':').unwrap())
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        let mut reply = Reply { status, headers, body: String::new() };
        if method != "HEAD" && status != 100 {
            let length: usize = reply.header("content-length").unwrap().parse().unwrap();
            self.fill(|bytes| (bytes.len() >= length).then_some(length));
            reply.body = String::from_utf8(self.buffer.drain(..length).collect()).unwrap();
        }
        reply
    }

    fn fill(&mut self, enough: impl Fn(&[u8]) -> Option<usize>) -> usize {
        loop {
            if let Some(at) = enough(&self.buffer) {
                return at;
            }
            let mut chunk = [0; 4096];
            let read = uninterrupted(|| self.stream.read(&mut chunk)).unwrap_or_else(|e| panic!("no answer: {e}"));
            assert_ne!(read, 0, "closed without an answer, after {:?}", String::from_utf8_lossy(&self.buffer));
            self.buffer.extend_from_slice(&chunk[..read]);
        }
    }

    /// Reads one whole answer, or finds the connection closed without one.
    pub fn reply_or_end(&mut self) -> Option<Reply> {
        let said = uninterrupted(|| self.stream.peek(&mut [0])).unwrap_or_else(|e| panic!("no answer: {e}"));
        (said > 0 || !self.buffer.is_empty()).then(|| self.reply())
    }

    /// Waits until the other side closes; nothing may come before.
    pub fn closed(&mut self) {
        assert_eq!(self.buffer, b"", "something else was said");
        let mut chunk = [0; 64];
        match uninterrupted(|| self.stream.read(&mut chunk)) {
            Ok(0) => {}
            Ok(read) => panic!("more was said: {:?}", String::from_utf8_lossy(&chunk[..read])),
            Err(e) => panic!("not closed properly: {e}"),
        }
    }

    /// Whether nothing has been said by now.
    pub fn is_silent(&self) -> bool {
        self.is_silent_for(Duration::from_millis(1))
    }

    /// Whether nothing is said for a while.
    pub fn is_silent_for(&self, time: Duration) -> bool {
        self.stream.set_read_timeout(Some(time)).unwrap();
        let peeked = uninterrupted(|| self.stream.peek(&mut [0]));
        self.stream.set_read_timeout(Some(PATIENCE)).unwrap();
        matches!(peeked, Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut))
    }
}

/// Children of the test process end at any time, which interrupts a read.
fn uninterrupted(mut read: impl FnMut() -> std::io::Result<usize>) -> std::io::Result<usize> {
    loop {
        match read() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// A delivery with these headers beside length and host.
pub fn post_with(headers: &str, body: &[u8]) -> Vec<u8> {
    let head =
        format!("POST /gh-webhook HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// A JSON delivery.
pub fn post(body: &[u8]) -> Vec<u8> {
    post_with("Content-Type: application/json\r\nX-GitHub-Event: ping\r\nX-GitHub-Delivery: 1\r\n", body)
}

/// A request without a body.
pub fn bare(method: &str, target: &str) -> Vec<u8> {
    format!("{method} {target} HTTP/1.1\r\nHost: localhost\r\n\r\n").into_bytes()
}

/// One request over a connection of its own.
pub fn once(address: SocketAddr, bytes: &[u8]) -> Reply {
    let mut client = Client::connect(address);
    client.try_send(bytes);
    client.reply()
}
