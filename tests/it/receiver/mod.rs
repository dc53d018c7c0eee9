//! The webhook receiver over real sockets, with a door that the test plays.

mod answers;
pub mod client;
mod limits;
mod odd_input;
pub mod server;
mod shapes;
mod shutdown;
mod sizes;
