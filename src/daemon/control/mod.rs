//! The control socket: how commands reach the process that owns the store.
//!
//! HTTP on a Unix socket that only its user can open. The peer's user is checked besides, so nothing here depends on
//! the modes of folders. `serve` is the owner's side, `client` the command's, `wire` what crosses between them, `place`
//! where the socket lies.

pub mod client;
mod place;
mod routes;
mod serve;
pub mod wire;

pub use place::{Place, PlaceError};
pub use serve::{Bound, Control, bind, serve};
