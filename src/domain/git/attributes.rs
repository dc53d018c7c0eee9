//! The line of `.gitattributes` for portable files: our merge driver, and no conversion of line ends.
//!
//! `-text` and not `eol=lf`: what is committed is what lies there, byte for byte, on every machine and with every
//! `core.autocrlf`. A file that was once committed with CR LF then does not stay changed for ever.

use super::lines::{append, content, line_end, lines};
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

/// The text with the line at its end, where it wins, and how often it stood above; `None` when it is the last one
/// already, and what takes it back stands elsewhere.
pub fn edit(text: &str, spot: &Spot) -> Option<(String, String, usize)> {
    let (all, line) = (lines(text), line(spot));
    let is_rule = |text: &&str| !content(text).is_empty() && !content(text).starts_with('#');
    if all.iter().copied().rfind(is_rule).is_some_and(|last| content(last) == line) {
        return None;
    }
    let kept: Vec<&str> = all.iter().copied().filter(|text| content(text) != line).collect();
    let mut new = kept.concat();
    append(&mut new, std::slice::from_ref(&line), line_end(&all));
    Some((new, line, all.len() - kept.len()))
}

/// Whether records have what the line says; the two are what git answers.
pub fn hold(merge: &str, text: &str) -> bool {
    merge == MERGE && text == "unset"
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::domain::layout::StateLayout;

    use super::*;

    fn spot(root: &str) -> Spot {
        let layout = StateLayout::new(root);
        Spot::of(Path::new("/r"), Path::new("/r"), &layout, &layout.event_log()).unwrap()
    }

    #[test]
    fn the_line_stands_once_and_last() {
        let line = ".the-loop/portable/*.json merge=the-loop -text";
        for (text, want) in [
            (String::new(), Some(format!("{line}\n"))),
            ("* text=auto".to_owned(), Some(format!("* text=auto\n\n{line}\n"))),
            ("*.png binary\r\n".to_owned(), Some(format!("*.png binary\r\n\r\n{line}\r\n"))),
            (format!("{line}\n*.json text\n"), Some(format!("*.json text\n\n{line}\n"))),
            (format!("*.json text\n{line}\n# the end\n"), None),
        ] {
            let new = edit(&text, &spot("/r/.the-loop")).map(|(new, ..)| new);
            assert_eq!(new, want, "{text:?}");
            if let Some(new) = new {
                assert_eq!(edit(&new, &spot("/r/.the-loop")), None, "not twice");
            }
        }
    }

    #[test]
    fn a_root_with_blanks_is_quoted() {
        assert_eq!(line(&spot("/r/my \"state\"")), "\"my \\\"state\\\"/portable/*.json\" merge=the-loop -text");
    }
}
