//! Evidence and what follows from it: the manifest `.loop/verification.json`, and the verdict as a pure function of the
//! manifest and the project (`runs` rules, section 2). No model is asked, and absence is never a pass.

mod judge;
mod manifest;
mod shape;

pub use judge::{Judgement, Today, Verdict, judge, rerun};
pub use manifest::{
    Criterion, Entry, EntryError, Evidence, Exec, Finding, Level, Manifest, OpenBlocker, Proof, Severity, append,
};
pub use shape::{document, parse, parse_entry};

#[cfg(test)]
mod tests;
