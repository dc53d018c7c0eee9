//! The client of GitHub's API over real connections, against a server that says what a test wants said, and the fake GitHub
//! that the tests of everything else ask.

mod client;
mod doctor;
mod door;
mod fake;
mod fake_hooks;
mod fake_server;
mod places;
mod tokens;
mod wire;
