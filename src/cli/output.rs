//! The only place that prints: results on standard output, everything else on standard error.

use std::io::{self, BufRead as _, ErrorKind, IsTerminal as _, Write as _};

use serde_json::{Map, Value as Json};

use super::Global;
use crate::adapters::system::is_hung_up;

use super::exit::{Exit, Failure, Kind};
use super::progress::Bar;

/// Version of every JSON document printed.
const SCHEMA: u64 = 1;

/// How this run speaks.
#[derive(Debug, Clone)]
pub struct Output {
    json: bool,
    quiet: bool,
    verbose: bool,
    colour: bool,
}

impl Output {
    /// By the options on the line and the terminal.
    pub fn new(global: &Global) -> Self {
        let plain = global.no_color || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let colour = !plain && io::stderr().is_terminal();
        Self { json: global.json, quiet: global.quiet, verbose: global.verbose, colour }
    }

    /// Without options: before the line could be read.
    pub fn bare(json: bool) -> Self {
        Self::new(&Global { json, no_color: true, ..Global::default() })
    }

    /// Whether results are JSON.
    pub fn is_json(&self) -> bool {
        self.json
    }

    /// Prints a result: the document with `--json`, else the text. A document is an object; `schema` is put first.
    pub fn result(&self, document: impl FnOnce() -> Json, text: impl FnOnce() -> String) -> Result<(), Failure> {
        if self.json { self.document(document()) } else { self.data(&text()) }
    }

    /// Prints a JSON document on one line.
    pub fn document(&self, fields: Json) -> Result<(), Failure> {
        let mut document = Map::new();
        document.insert("schema".into(), SCHEMA.into());
        match fields {
            Json::Object(fields) => document.extend(fields),
            other => drop(document.insert("value".into(), other)),
        }
        self.data(&format!("{}\n", Json::Object(document)))
    }

    /// Writes text to standard output as it is. A reader that went away had enough: that is a success.
    pub fn data(&self, text: &str) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(Failure::new(Kind::Outside, format!("could not write to standard output: {error}")))
            }
            _ => Ok(()),
        }
    }

    /// Whether whoever read standard output went away.
    pub fn is_left(&self) -> bool {
        is_hung_up(io::stdout())
    }

    /// Asks the person at the terminal; `None` when there is none to ask, or the answers are JSON.
    pub fn ask(&self, question: &str) -> Option<bool> {
        if self.json || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            return None;
        }
        let mut err = io::stderr().lock();
        write!(err, "{}", visible(question)).and_then(|()| err.flush()).ok()?;
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer).ok()?;
        Some(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
    }

    /// Something worth knowing; `-q` leaves it out, and so does `--json`, whose document holds what matters.
    pub fn note(&self, text: &str) {
        if !self.quiet && !self.json {
            self.aside("note", "36", text);
        }
    }

    /// Why the exit code is no success although there was a result; `-q` does not leave it out, `--json` does, whose
    /// document holds it.
    pub fn problem(&self, what: &str, todo: Option<&str>) {
        if !self.json {
            self.told(what, todo);
        }
    }

    /// A bar for work that takes more than a moment; on a terminal only, and never beside a document or with `-q`.
    pub fn progress(&self, what: &'static str) -> Bar {
        Bar::new(what, !self.json && !self.quiet && io::stderr().is_terminal())
    }

    /// What is being done; said with `-v` only.
    pub fn detail(&self, text: &str) {
        if self.verbose {
            self.aside("info", "2", text);
        }
    }

    /// Says why the command failed and gives the exit code: `error: …` then `hint: …`, or one JSON document.
    pub fn failure(&self, failure: &Failure) -> Exit {
        if self.json {
            let mut error = Map::new();
            error.insert("kind".into(), failure.kind.word().into());
            error.insert("message".into(), failure.message.clone().into());
            error.insert("hint".into(), failure.hint.clone().map_or(Json::Null, Json::String));
            error.insert("exit".into(), failure.kind.exit().code().into());
            error.extend(failure.details.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
            let document = Json::Object([("error".to_owned(), Json::Object(error))].into_iter().collect());
            if self.document(document).is_ok() {
                return failure.kind.exit();
            }
        }
        self.last_word(failure)
    }

    /// The same on standard error, whatever form results have: for what serves on after its result was printed.
    pub fn last_word(&self, failure: &Failure) -> Exit {
        self.told(&failure.message, failure.hint.as_deref());
        failure.kind.exit()
    }

    fn told(&self, what: &str, todo: Option<&str>) {
        self.aside("error", "1;31", what);
        if let Some(todo) = todo {
            self.aside("hint", "1", todo);
        }
    }

    fn aside(&self, label: &str, style: &str, text: &str) {
        let label = if self.colour { format!("\x1b[{style}m{label}\x1b[0m") } else { label.to_owned() };
        // When standard error is closed there is nowhere left to say so.
        let _ = writeln!(io::stderr().lock(), "{label}: {}", visible(text));
    }
}

/// Text from elsewhere must not drive the terminal: control characters but tab and line end are replaced.
pub fn visible(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && !matches!(c, '\n' | '\t') { '\u{fffd}' } else { c }).collect()
}

/// A number with its noun: `1 file`, `2 files`.
pub fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Rows as columns, two spaces apart, each as wide as its widest cell; nothing after the last cell of a row.
pub fn columns<R: AsRef<[String]>>(rows: &[R]) -> String {
    let cells: Vec<Vec<String>> =
        rows.iter().map(|row| row.as_ref().iter().map(|cell| one_line(cell)).collect()).collect();
    let count = cells.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |n: usize| cells.iter().filter_map(|row| row.get(n)).map(|cell| cell.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(width).collect();
    let line = |row: &Vec<String>| {
        let padded = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("{}\n", padded.collect::<Vec<_>>().join("  ").trim_end())
    };
    cells.iter().map(line).collect()
}

fn one_line(cell: &str) -> String {
    cell.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &[&[&str]]) -> Vec<Vec<String>> {
        rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect()
    }

    #[test]
    fn columns_are_two_spaces_apart_and_end_without_blanks() {
        let text = columns(&rows(&[&["Work item", "Status"], &["a", "live"], &["größer als", ""], &["x"]]));
        assert_eq!(text, "Work item   Status\na           live\ngrößer als\nx\n");
        assert_eq!(columns::<Vec<String>>(&[]), "");
    }

    #[test]
    fn k29_cells_and_messages_cannot_drive_the_terminal() {
        assert_eq!(columns(&rows(&[&["a\n\x1b[2Jb", "c"]])), "a\u{fffd}\u{fffd}[2Jb  c\n");
        assert_eq!(visible("a\x1b]0;x\x07\nb\r"), "a\u{fffd}]0;x\u{fffd}\nb\u{fffd}");
    }
}
