//! The command line: clap, rendering, exit codes.
