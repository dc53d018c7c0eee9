//! One thin translation per outside thing, behind the traits of `domain::ports`.

pub mod config_files;
