//! A fake GitHub on a socket of the loopback: HTTP/1.1, one thread a connection, ends with its value.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Error, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::{Answered, Asked, FakeGitHub};

/// Largest body taken.
const LARGEST: u64 = 1 << 20;

/// A running server.
pub struct Server {
    fake: Arc<Mutex<FakeGitHub>>,
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

/// What the threads share.
#[derive(Default)]
struct Shared {
    state: Mutex<Connections>,
    ending: Condvar,
}

#[derive(Default)]
struct Connections {
    is_ending: bool,
    opened: u64,
    open: BTreeMap<u64, TcpStream>,
    threads: Vec<JoinHandle<()>>,
}

impl Server {
    /// Serves `fake` on a free port, and tells it where it is.
    pub fn start(fake: FakeGitHub) -> Self {
        Self::start_on(fake, 0)
    }

    /// Serves `fake` on this port; 0 is a free one.
    pub fn start_on(mut fake: FakeGitHub, port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).unwrap_or_else(|e| panic!("port {port}: {e}"));
        let address = listener.local_addr().expect("a bound socket has an address");
        fake.set_origin(&format!("http://{address}"));
        let fake = Arc::new(Mutex::new(fake));
        let shared = Arc::new(Shared::default());
        let (served, sharing) = (Arc::clone(&fake), Arc::clone(&shared));
        let accepting = std::thread::spawn(move || accept(&listener, &served, &sharing));
        Self { fake, address, shared, accepting: Some(accepting) }
    }

    /// The GitHub behind it. Nothing is answered while the guard is held.
    pub fn github(&self) -> MutexGuard<'_, FakeGitHub> {
        lock(&self.fake)
    }

    /// The same, to keep.
    pub fn shared(&self) -> Arc<Mutex<FakeGitHub>> {
        Arc::clone(&self.fake)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `github.apiUrl`: the base of its API.
    pub fn api_url(&self) -> String {
        self.github().api().to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let threads = {
            let mut state = lock(&self.shared.state);
            state.is_ending = true;
            for stream in state.open.values() {
                let _ = stream.shutdown(Shutdown::Both);
            }
            std::mem::take(&mut state.threads)
        };
        self.shared.ending.notify_all();
        // Wakes the listener.
        drop(TcpStream::connect(self.address));
        for thread in self.accepting.take().into_iter().chain(threads) {
            let _ = thread.join();
        }
    }
}

/// A test that panicked with the lock held must not hide its message behind another panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept(listener: &TcpListener, fake: &Arc<Mutex<FakeGitHub>>, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        let mut state = lock(&shared.state);
        if state.is_ending {
            return;
        }
        let Ok(stream) = stream else { continue };
        let Ok(copy) = stream.try_clone() else { continue };
        state.threads.retain(|thread| !thread.is_finished());
        state.opened += 1;
        let number = state.opened;
        state.open.insert(number, copy);
        let (fake, shared) = (Arc::clone(fake), Arc::clone(shared));
        state.threads.push(std::thread::spawn(move || {
            // However a connection ends, it is the other side's affair.
            let _ = converse(&stream, &fake, &shared);
            let _ = stream.shutdown(Shutdown::Both);
            lock(&shared.state).open.remove(&number);
        }));
    }
}

/// Answers requests until one side has enough.
fn converse(stream: &TcpStream, fake: &Mutex<FakeGitHub>, shared: &Shared) -> Result<(), Error> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    while let Some(asked) = read(&mut reader)? {
        let answered = lock(fake).answer(&asked);
        let state = lock(&shared.state);
        let wait = shared.ending.wait_timeout_while(state, answered.delay, |state| !state.is_ending);
        let is_ending = wait.map_or(true, |(state, _)| state.is_ending);
        if answered.is_lost || is_ending {
            return Ok(());
        }
        let closes = asked.header("Connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
        write(stream, &answered, closes)?;
        if closes {
            return Ok(());
        }
    }
    Ok(())
}

/// Reads a request; none when the other side has closed.
fn read(reader: &mut BufReader<TcpStream>) -> Result<Option<Asked>, Error> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace();
    let (Some(method), Some(target)) = (words.next(), words.next()) else {
        return Err(Error::other("no request line"));
    };
    let mut asked = Asked { method: method.to_owned(), path_and_query: target.to_owned(), ..Asked::default() };
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        asked.headers.push((name.to_owned(), value.trim().to_owned()));
    }
    asked.body = if asked.header("Transfer-Encoding").is_some() { chunks(reader)? } else { sized(&asked, reader)? };
    Ok(Some(asked))
}

fn sized(asked: &Asked, reader: &mut BufReader<TcpStream>) -> Result<Vec<u8>, Error> {
    let length = asked.header("Content-Length").map_or(Ok(0), str::parse::<u64>).map_err(Error::other)?;
    exactly(reader, length)
}

fn chunks(reader: &mut BufReader<TcpStream>) -> Result<Vec<u8>, Error> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let size = u64::from_str_radix(line.trim(), 16).map_err(Error::other)?;
        body.extend(exactly(reader, size)?);
        reader.read_line(&mut String::new())?;
        if size == 0 {
            return Ok(body);
        }
    }
}

fn exactly(reader: &mut BufReader<TcpStream>, length: u64) -> Result<Vec<u8>, Error> {
    if length > LARGEST {
        return Err(Error::other("the body is too large"));
    }
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body)?;
    if (body.len() as u64) < length { Err(Error::other("the body was cut short")) } else { Ok(body) }
}

fn write(mut stream: &TcpStream, answered: &Answered, closes: bool) -> Result<(), Error> {
    stream.set_write_timeout(Some(Duration::from_secs(10)))?;
    let mut head = format!("HTTP/1.1 {} {}\r\n", answered.status, reason(answered.status));
    for (name, value) in &answered.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if answered.status != 304 {
        head.push_str(&format!("Content-Length: {}\r\n", answered.body.len()));
    }
    if closes {
        head.push_str("Connection: close\r\n");
    }
    head.push_str("\r\n");
    stream.write_all(&[head.as_bytes(), &answered.body].concat())
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        301 => "Moved Permanently",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        410 => "Gone",
        422 => "Unprocessable Entity",
        429 => "Too Many Requests",
        502 => "Bad Gateway",
        _ => "Unknown",
    }
}
