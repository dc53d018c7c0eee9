//! One thin translation per outside thing, behind the traits of `domain::ports`.

pub mod portable_files;
