//! The client of GitHub's API over real connections, against a server that says what a test wants said.

mod client;
mod doctor;
mod door;
mod places;
mod tokens;
