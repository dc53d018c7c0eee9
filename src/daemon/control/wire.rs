//! What crosses the control socket. Two requests are the same in every version, so that a new program can name and stop
//! an old daemon: `GET /hello` and `POST /stop`. All others need the very same version on both sides.

use serde::{Deserialize, Serialize};

use crate::app::request::{Response, Trouble};
use crate::daemon::vitals::Progress;

/// Version of the program; both sides must have the same.
pub const PROGRAM: &str = env!("CARGO_PKG_VERSION");
/// The header in which a command names its version.
pub const PROGRAM_HEADER: &str = "x-the-loop-program";
/// The owner says who it is. Any version may ask.
pub const HELLO: &str = "/hello";
/// The owner is asked to end. Any version may ask.
pub const STOP: &str = "/stop";
/// The owner is asked to read its configuration again.
pub const RELOAD: &str = "/reload";
/// The owner is asked how its parts get on.
pub const PROGRESS: &str = "/progress";
/// A [`crate::app::request::Request`].
pub const REQUEST: &str = "/request";
/// Longest request, bytes.
pub const MAX_REQUEST: u64 = 1 << 20;
/// Longest answer, bytes: a list of some hundred thousand sessions.
pub const MAX_ANSWER: usize = 256 << 20;

/// Where the owner is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// It owns the store and does not serve everything yet.
    Starting,
    /// It serves.
    Running,
    /// It ends; what it still does, it settles.
    Stopping,
}

/// Who answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hello {
    /// Version of its program.
    pub program: String,
    /// Its process.
    pub pid: u32,
    /// `daemon`, or `command` for one that waits for its own work.
    pub kind: String,
    /// Where it is in its life.
    pub phase: Phase,
}

/// What an answer holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Answer {
    /// To [`HELLO`] and [`STOP`], and to whatever another version asks.
    Hello(Hello),
    /// To [`RELOAD`]: keys that changed and need a restart.
    Reloaded(Vec<String>),
    /// To [`PROGRESS`].
    Progress(Box<Progress>),
    /// To [`REQUEST`].
    Response(Box<Response>),
    /// Why not.
    Trouble(Trouble),
}
