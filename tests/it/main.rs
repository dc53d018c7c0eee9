//! The real binary, against real files and sockets on loopback.

mod cli;
