//! A receiver that takes one request and gives one answer.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread::JoinHandle;
use std::time::Duration;

/// A listener on a free port, and the request it will have taken.
pub struct Receiver {
    pub port: u16,
    taken: JoinHandle<Vec<u8>>,
}

impl Receiver {
    /// Answers the next request with these bytes.
    pub fn answering(answer: &'static str) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let taken = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a connection");
            stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
            let mut request = Vec::new();
            let mut chunk = [0; 4096];
            while !is_whole(&request) {
                match stream.read(&mut chunk) {
                    Ok(0) | Err(_) => break,
                    Ok(read) => request.extend_from_slice(&chunk[..read]),
                }
            }
            stream.write_all(answer.as_bytes()).expect("the answer is written");
            request
        });
        Self { port, taken }
    }

    /// Head and body of the request.
    pub fn request(self) -> (String, Vec<u8>) {
        let raw = self.taken.join().expect("the receiver");
        let end = raw.windows(4).position(|window| window == b"\r\n\r\n").expect("a head");
        (String::from_utf8_lossy(&raw[..end]).into_owned(), raw[end + 4..].to_vec())
    }
}

fn is_whole(request: &[u8]) -> bool {
    let Some(end) = request.windows(4).position(|window| window == b"\r\n\r\n") else { return false };
    let head = String::from_utf8_lossy(&request[..end]).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
    request.len() >= end + 4 + length.unwrap_or(0)
}
