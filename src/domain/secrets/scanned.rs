//! The proof that something was scanned.

use std::fmt;

use serde_json::Value;

use super::{find, named, rules};

/// A secret in a document: where, and by which rule; never what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leak {
    /// Path of the field, `settings.note`, or empty for a text as a whole.
    pub field: String,
    /// Name of the rule.
    pub rule: &'static str,
}

/// Why something was not let through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leaks {
    /// Secrets were found.
    Found(Vec<Leak>),
    /// The scan could not run, which is no answer.
    DidNotRun,
}

impl fmt::Display for Leaks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Found(leaks) = self else { return f.write_str("the secret scan did not run") };
        for (at, leak) in leaks.iter().enumerate() {
            let field = if leak.field.is_empty() { "the text" } else { &leak.field };
            write!(f, "{}`{field}` holds what looks like a secret ({})", if at > 0 { "; " } else { "" }, leak.rule)?;
        }
        Ok(())
    }
}

impl std::error::Error for Leaks {}

/// Something that was scanned and in which nothing was found. Only the scan makes one, and only this is written to a
/// file that travels or posted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scanned<T>(T);

impl<T> Scanned<T> {
    /// What was scanned.
    pub fn get(&self) -> &T {
        &self.0
    }

    /// What was scanned, taken out.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl Scanned<String> {
    /// Scans a text.
    ///
    /// # Errors
    /// Secrets were found, or the scan could not run.
    pub fn text(text: String) -> Result<Self, Leaks> {
        let mut leaks = Vec::new();
        look(&text, "", &mut leaks);
        judged(text, leaks)
    }
}

impl Scanned<Value> {
    /// Scans a document: every text in it, every key, and every text by the name of its key.
    ///
    /// # Errors
    /// Secrets were found, or the scan could not run.
    pub fn json(document: Value) -> Result<Self, Leaks> {
        let mut leaks = Vec::new();
        walk(&document, "", None, &mut leaks);
        judged(document, leaks)
    }
}

impl Scanned<Value> {
    /// The document as a file; what was clean in its parts is written as it is.
    pub fn pretty(&self) -> Scanned<String> {
        Scanned(crate::domain::json::pretty(&self.0))
    }

    /// The document on one line, with its line end; what was clean in its parts is written as it is.
    pub fn one_line(&self) -> Scanned<String> {
        Scanned(format!("{}\n", self.0))
    }
}

fn judged<T>(value: T, leaks: Vec<Leak>) -> Result<Scanned<T>, Leaks> {
    match (rules::all_run() && named::runs(), leaks.is_empty()) {
        (false, _) => Err(Leaks::DidNotRun),
        (true, false) => Err(Leaks::Found(leaks)),
        (true, true) => Ok(Scanned(value)),
    }
}

fn walk(value: &Value, path: &str, key: Option<&str>, leaks: &mut Vec<Leak>) {
    match value {
        Value::String(text) => {
            let before = leaks.len();
            look(text, path, leaks);
            let kind = key.and_then(named::kind_of).filter(|kind| named::is_secret(kind, text, true));
            if kind.is_some() && leaks.len() == before {
                leaks.push(Leak { field: path.to_owned(), rule: "named-secret" });
            }
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| walk(item, &format!("{path}[{at}]"), key, leaks));
        }
        Value::Object(fields) => {
            for (name, item) in fields {
                let safe = if find(name).is_empty() { name } else { super::WITHHELD };
                let path = if path.is_empty() { safe.to_owned() } else { format!("{path}.{safe}") };
                look(name, &path, leaks);
                walk(item, &path, Some(name), leaks);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn look(text: &str, path: &str, leaks: &mut Vec<Leak>) {
    leaks.extend(find(text).into_iter().map(|hit| Leak { field: path.to_owned(), rule: hit.rule }));
}
