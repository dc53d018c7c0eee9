//! Improving the loop's own artifacts by evidence (`runs` rules, section 5): what failed is collected, a change is proposed
//! for it, a regression vetoes it, and only a person adopts it. Everything that happens is an entry of a ledger that only
//! grows. No model's weights are learnt, nothing is applied and nothing is published.

mod classify;
mod collect;
mod compare;
mod entry;
mod ledger;
mod patch;
mod paths;
mod ports;
mod replay;
mod rules;
mod suite;

pub use classify::{CLASSIFIER, Class, RECURRING, Tally, classify};
pub use collect::{cases, sanitise, sound};
pub use compare::{Change, CheckChange, Comparison, Verdict, compare};
pub use entry::{
    Candidate, Case, Claim, ClassCount, Classification, Compared, Decision, Entry, No, Outcome, Proposal, Results,
    Side, Source, Tier, What,
};
pub use ledger::{Broken, Head, Tip, genesis, link, read_line};
pub use patch::check_patch;
pub use paths::{check_argv, check_changed, target};
pub use ports::{Bench, End, LedgerFile, Ran, Workbench};
pub use replay::Replay;
pub use rules::{Dossier, Refusal, decide, propose, short};
pub use suite::{SuiteError, read_side};

#[cfg(test)]
mod tests;
