//! The examples as they were fetched.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use bytes::Bytes;
use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};
use the_loop::domain::event::body::{self, MediaType};
use the_loop::domain::event::{Event, SubjectKind, webhook};
use the_loop::domain::ids::DeliveryId;
use the_loop::domain::reference::{WorkItemRef, hex};
use the_loop::domain::signature::TrustedBody;

/// The sets of GitHub Enterprise Server, with the number of examples in each.
const ENTERPRISE: [(&str, usize); 5] =
    [("ghes-31", 49), ("ghes-32", 49), ("ghes-33", 50), ("ghes-34", 124), ("ghes-35", 125)];

/// One example.
pub struct Example {
    /// The set, the event and its place among the examples of the event: for messages.
    pub name: String,
    /// GitHub's event name.
    pub event: String,
    /// Its place among the examples of the event.
    pub index: usize,
    /// The payload.
    pub json: Json,
    /// The payload as GitHub would send it: compact.
    pub body: Vec<u8>,
}

/// Everything that was fetched.
pub struct Corpus {
    /// Examples of github.com.
    pub public: Vec<Example>,
    /// Examples of the Enterprise Servers.
    pub enterprise: Vec<Example>,
}

/// The corpus; without it the test `name` is said to be skipped, past the capture of its output.
pub fn corpus(name: &str) -> Option<&'static Corpus> {
    static CORPUS: OnceLock<Option<Corpus>> = OnceLock::new();
    let corpus = CORPUS.get_or_init(load);
    if corpus.is_none() {
        let reason = fs::read_to_string(folder().join("skipped")).unwrap_or_else(|_| "it was never fetched".into());
        let said = format!("skipped: {name}: no corpus ({}); `make corpus` fetches it\n", reason.trim());
        std::io::stderr().write_all(said.as_bytes()).unwrap();
    }
    corpus.as_ref()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target/corpus")
}

fn load() -> Option<Corpus> {
    let root = folder().join("webhooks-examples-7.6.1");
    if !root.is_dir() {
        return None;
    }
    let mut enterprise = Vec::new();
    for (set, count) in ENTERPRISE {
        let examples = read(&root, set);
        assert_eq!(examples.len(), count, "{set}");
        enterprise.extend(examples);
    }
    Some(Corpus { public: read(&root, "api.github.com"), enterprise })
}

fn read(root: &Path, set: &str) -> Vec<Example> {
    let text = fs::read_to_string(root.join(set).join("index.json")).unwrap();
    let events: Vec<Json> = serde_json::from_str(&text).unwrap();
    let mut examples = Vec::new();
    for event in events {
        let name = event["name"].as_str().unwrap();
        for (index, json) in event["examples"].as_array().unwrap().iter().enumerate() {
            examples.push(Example {
                name: format!("{set} {name} {index}"),
                event: name.to_owned(),
                index,
                json: json.clone(),
                body: json.to_string().into_bytes(),
            });
        }
    }
    examples
}

impl Example {
    /// The example as the event rules read it.
    pub fn event(&self) -> Event {
        normalised(&self.event, MediaType::Json, &self.body, &fresh_id())
    }
}

/// Everybody who sent an example or opened what it is about.
pub fn logins(corpus: &Corpus) -> Vec<&str> {
    let examples = || corpus.public.iter().chain(&corpus.enterprise);
    let places = ["/sender/login", "/issue/user/login", "/pull_request/user/login"];
    let mut logins: Vec<&str> = examples()
        .flat_map(|example| places.into_iter().filter_map(|place| example.json.pointer(place)?.as_str()))
        .collect();
    logins.sort_unstable();
    logins.dedup();
    logins
}

/// A delivery id as GitHub makes them.
pub fn fresh_id() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// The event a body is.
pub fn normalised(event: &str, media: MediaType, bytes: &[u8], id: &str) -> Event {
    let trusted = TrustedBody::from_own_request(Bytes::copy_from_slice(bytes));
    let json = body::read(media, &trusted).unwrap();
    webhook::normalise(event, DeliveryId::parse(id).unwrap(), &json)
}

/// The issue or pull request a body is about.
pub fn item_named(media: MediaType, bytes: &[u8]) -> Option<(WorkItemRef, SubjectKind)> {
    let trusted = TrustedBody::from_own_request(Bytes::copy_from_slice(bytes));
    webhook::item_named(&body::read(media, &trusted).unwrap())
}

/// The first hex digits of a SHA-256.
pub fn digest(bytes: &[u8], digits: usize) -> String {
    hex(&Sha256::digest(bytes))[..digits].to_owned()
}
