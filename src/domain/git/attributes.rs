//! The line of `.gitattributes` for portable files: our merge driver, and no conversion of line ends.
//!
//! `-text` and not `eol=lf`: what is committed is what lies there, byte for byte, on every machine and with every
//! `core.autocrlf`. A file that was once committed with CR LF then does not stay changed for ever.

use super::lines::{append, line_end, lines};
use super::spot::Spot;

/// The value of `merge` for portable files.
pub const MERGE: &str = "the-loop";

/// The line for this root.
pub fn line(spot: &Spot) -> String {
    let pattern = format!("{}portable/*.json", spot.pattern());
    let quoted = match pattern.contains(|c: char| c.is_whitespace() || c == '"') {
        true => format!("\"{}\"", pattern.replace('\\', "\\\\").replace('"', "\\\"")),
        false => pattern,
    };
    format!("{quoted} merge={MERGE} -text")
}

/// The text with the line at its end, where it wins.
pub fn edit(text: &str, spot: &Spot) -> (String, String) {
    let (mut new, line) = (text.to_owned(), line(spot));
    append(&mut new, std::slice::from_ref(&line), line_end(&lines(text)));
    (new, line)
}

/// Whether records have what the line says; the two are what git answers.
pub fn hold(merge: &str, text: &str) -> bool {
    merge == MERGE && text == "unset"
}
