//! Lines of a file that people edit: what is added takes the file's own line ends, and nothing else changes.

/// The text cut into lines, each with its end.
pub(super) fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// A line without its end, blanks at its end and a byte-order mark.
pub(super) fn content(line: &str) -> &str {
    line.strip_prefix('\u{feff}').unwrap_or(line).trim_end()
}

/// The line end that most lines have.
pub(super) fn line_end(lines: &[&str]) -> &'static str {
    let crlf = lines.iter().filter(|line| line.ends_with("\r\n")).count();
    let ended = lines.iter().filter(|line| line.ends_with('\n')).count();
    if crlf * 2 > ended { "\r\n" } else { "\n" }
}

/// Adds lines at the end, behind an empty one when something stands above.
pub(super) fn append(text: &mut String, added: &[String], end: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push_str(end);
    }
    let above = text.lines().next_back().map(content);
    if above.is_some_and(|line| !line.is_empty()) {
        text.push_str(end);
    }
    for line in added {
        text.push_str(line);
        text.push_str(end);
    }
}
