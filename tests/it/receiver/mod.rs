//! The webhook receiver over real sockets, with a door that the test plays.

mod answers;
mod client;
mod limits;
mod odd_input;
mod server;
mod shapes;
mod shutdown;
mod sizes;
