//! The version gate: which versions are read, which keys were removed, which are passed over.

use std::fmt;

use serde_json::Value as Json;

use super::problem::{Note, Place, Problem, ProblemKind};
use super::schema::{At, Reader, Shape, Value};
use super::tree::{Data, Node, shown};

/// The version this program writes and reads.
pub const CURRENT: Version = Version(0, 4, 0);

const MIGRATE: &str = "run `the-loop migrate-config`";

/// A version of the configuration's format: three numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(u64, u64, u64);

impl Default for Version {
    fn default() -> Self {
        CURRENT
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

impl Version {
    /// Parses `0.4.0`; a bare number counts as the first of the three, so that another numbering is seen as newer.
    pub fn parse(text: &str) -> Option<Self> {
        let number = |part: &str| {
            let digits = !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
            digits.then(|| part.parse().unwrap_or(u64::MAX))
        };
        match text.split('.').map(number).collect::<Option<Vec<_>>>()?.as_slice() {
            [major] => Some(Self(*major, 0, 0)),
            [major, minor, patch] => Some(Self(*major, *minor, *patch)),
            _ => None,
        }
    }
}

impl Value for Version {
    /// An absent version is accepted, because nothing can be lost by it; one that is there must be the current one.
    fn read(node: &Node, at: &At<'_>, reader: &mut Reader) -> Option<Self> {
        let problem = match declared(node, &at.path) {
            Ok(version) if version == CURRENT => return Some(version),
            Ok(version) => {
                let message =
                    format!("this file is of version {}, this program reads {CURRENT}", written(node, version));
                Problem::new(node.place, at.path.clone(), ProblemKind::Version, message).hint(MIGRATE)
            }
            Err(problem) => problem,
        };
        reader.problems.push(problem);
        None
    }

    fn show(&self) -> Json {
        Json::from(self.to_string())
    }

    fn shape() -> Shape {
        Shape::Text
    }
}

/// The version that a text says it is of, when this program knows it: its own or an earlier one.
///
/// # Errors
///
/// The problem of something that is no version, or of a newer one.
pub fn declared(node: &Node, path: &str) -> Result<Version, Problem> {
    let version = match &node.data {
        Data::Text(text) => Version::parse(text),
        Data::Int(number) => u64::try_from(*number).ok().map(|major| Version(major, 0, 0)),
        _ => None,
    };
    let gate = |message: String| Problem::new(node.place, path, ProblemKind::Version, message);
    match version {
        Some(version) if version > CURRENT => Err(gate(format!(
            "this file is of version {}, this program reads {CURRENT}: it needs a newer the-loop",
            written(node, version)
        ))
        .hint("install a newer the-loop, or use the file it was before")),
        Some(version) => Ok(version),
        None => {
            let found = node.data.found();
            Err(gate(format!("expected a version such as \"{CURRENT}\", in quotes, found {found}")))
        }
    }
}

/// The version as the file writes it, so that the reader finds it there.
fn written(node: &Node, version: Version) -> String {
    match &node.data {
        Data::Text(text) => shown(text),
        Data::Int(number) => number.to_string(),
        _ => version.to_string(),
    }
}

/// Keys of earlier versions that mean nothing here. A key stands for everything below it.
const IGNORED: &[(&str, &str)] = &[
    ("integrations", "GitHub is reached by its API, see `github`"),
    ("service", "commands reach the daemon by its control socket"),
    ("routing.enabled", "routing is always on; `routing.spawnOnUnmatched` decides what starts"),
    ("routing.dedupCacheSize", "deliveries are remembered in the store"),
    ("routing.webTerminal", "there is no web terminal"),
    ("routing.harnessPlugins", "plugins are the harness's own affair"),
    ("routing.graph", "the process graph is not part of this program"),
    ("routing.interaction", "interaction is the harness's own affair"),
    ("routing.tmux.remainOnExit", "panes always remain until the session ends"),
    ("routing.tmux.resumeProbeSeconds", "a harness that exits within two seconds counts as not started"),
    ("routing.tmux.killHarnessOnClose", "a session that ends always ends its harness"),
    ("routing.workspace.defaultHost", "a reference names its own host"),
    ("routing.workspace.gitBinary", "git is found by `PATH`"),
    ("routing.harnessTrust.acceptBypassPermissions", "no permission is ever accepted on its own"),
];

/// The problem with a removed key; `None` for any other. Such a key is refused, because to pass over a value that
/// somebody set would change what happens without a word.
pub fn removed(path: &str, place: Place) -> Option<Problem> {
    let replacement = super::migrate::replacement(path)?;
    let message = format!("this key was removed; it is replaced by {replacement}");
    Some(Problem::new(place, path, ProblemKind::Removed, message).hint(MIGRATE))
}

/// The note on a key that means nothing here; `None` for any other.
pub fn ignored(path: &str, place: Place) -> Option<Note> {
    let (_, why) = IGNORED.iter().find(|(key, _)| *key == path)?;
    let message = format!("this key of an earlier version is ignored: {why}");
    Some(Note { place, key: path.to_owned(), message })
}
