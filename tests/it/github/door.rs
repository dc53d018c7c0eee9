//! A raw server on loopback: what it is asked is kept, and a test says byte for byte what it answers.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

/// One request as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// `GET /api/v3/x HTTP/1.1`.
    pub line: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Asked {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// What is asked for, without method and version.
    pub fn path(&self) -> &str {
        self.line.split(' ').nth(1).unwrap()
    }
}

/// What the server does with a request.
pub enum Says {
    /// These bytes, then the end of the connection.
    Bytes(Vec<u8>),
    /// Nothing, and the connection stays until the server ends.
    Nothing,
}

/// An answer with a body and its length.
pub fn answer(status: &str, headers: &str, body: &str) -> Says {
    let length = body.len();
    Says::Bytes(
        format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}").into(),
    )
}

type Handler = dyn Fn(&Asked, usize) -> Says + Send + Sync;

/// The server; it ends with this.
pub struct Door {
    pub address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    ended: Arc<AtomicBool>,
    accepts: Option<JoinHandle<()>>,
}

impl Door {
    /// Listens; `handler` gets each request and how many came before it.
    pub fn new(handler: impl Fn(&Asked, usize) -> Says + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let (asked, ended) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (keeps, ends, handler) = (Arc::clone(&asked), Arc::clone(&ended), Arc::new(handler) as Arc<Handler>);
        let accepts = thread::spawn(move || {
            let mut held = Vec::new();
            for stream in listener.incoming().flatten() {
                if ends.load(Ordering::SeqCst) {
                    return;
                }
                held.extend(serve(stream, &keeps, handler.as_ref()));
            }
        });
        Self { address, asked, ended, accepts: Some(accepts) }
    }

    /// Everything that was asked, in order.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// What was asked for, in order.
    pub fn paths(&self) -> Vec<String> {
        self.asked().iter().map(|asked| asked.path().to_owned()).collect()
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address));
        let ended = self.accepts.take().map(JoinHandle::join);
        assert!(thread::panicking() || ended.is_none_or(|ended| ended.is_ok()), "the server panicked");
    }
}

/// Answers one request; gives the connection back when it is to stay.
fn serve(mut stream: TcpStream, keeps: &Mutex<Vec<Asked>>, handler: &Handler) -> Option<TcpStream> {
    let asked = read(&stream)?;
    let before = {
        let mut all = keeps.lock().unwrap();
        all.push(asked.clone());
        all.len() - 1
    };
    match handler(&asked, before) {
        // A client that has heard enough is gone before the end.
        Says::Bytes(bytes) => drop(stream.write_all(&bytes)),
        Says::Nothing => return Some(stream),
    }
    None
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let headers = lines.split_off(1);
    let headers: Vec<(String, String)> = headers
        .iter()
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length =
        headers.iter().find(|(name, _)| name == "content-length").map_or(0, |(_, value)| value.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Asked { line: lines.remove(0), headers, body: String::from_utf8(body).unwrap() })
}
