//! One line per row: what, target, figure, met or missed.

use std::fmt;
use std::time::Duration;

use crate::load::Report;

/// One figure beside its target, a row of a Markdown table.
#[derive(Debug, Clone)]
pub struct Row {
    what: String,
    target: String,
    figure: String,
    met: Option<bool>,
}

impl Row {
    /// A figure with a target.
    pub fn new(what: impl Into<String>, target: &str, figure: impl Into<String>, met: bool) -> Self {
        Self { what: what.into(), target: target.into(), figure: figure.into(), met: Some(met) }
    }

    /// A figure for comparison.
    pub fn note(what: impl Into<String>, figure: impl Into<String>) -> Self {
        Self { what: what.into(), target: String::new(), figure: figure.into(), met: None }
    }

    /// The table's head.
    pub fn head() -> String {
        "| what | target | figure | |\n|---|---|---|---|".to_owned()
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.met {
            Some(true) => "met",
            Some(false) => "**missed**",
            None => "",
        };
        write!(f, "| {} | {} | {} | {word} |", self.what, self.target, self.figure)
    }
}

/// A duration in milliseconds.
pub fn ms(duration: Duration) -> String {
    format!("{:.1} ms", duration.as_secs_f64() * 1000.0)
}

/// What a run of the load client came to.
pub fn figure(report: &Report) -> String {
    format!(
        "{:.0}/s, p50 {}, p99 {}, slowest {}",
        report.per_second(),
        ms(report.p50),
        ms(report.p99),
        ms(report.slowest)
    )
}

/// The middle of several measurements.
pub fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
