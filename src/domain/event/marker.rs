//! The mark that everything we post carries, so that we never answer ourselves (guard 5).

/// Invisible on GitHub.
pub const MARKER: &str = "<!-- the-loop:agent-comment -->";

/// Whether a text is our own: it carries the marker, and not only as a quotation (`> `) or as an example in backticks.
///
/// Anywhere else counts, even within an unclosed code block: an agent's comment taken for a person's feeds itself.
pub fn is_marked(text: &str) -> bool {
    // Most texts hold it nowhere, and to see that is much faster than to look at each line.
    text.contains(MARKER)
        && text.split(['\n', '\r']).any(|line| !line.trim_start().starts_with('>') && says_marker(line))
}

fn says_marker(line: &str) -> bool {
    line.match_indices(MARKER).any(|(at, _)| !line[..at].ends_with('`') || !line[at + MARKER.len()..].starts_with('`'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p16_our_own_words_are_known_by_the_marker() {
        for own in [
            MARKER.to_owned(),
            format!("done\n\n{MARKER}\n"),
            format!("done {MARKER}\r\n"),
            format!("```\nunclosed\n{MARKER}"),
            format!("{MARKER}\n> the-loop stop"),
            format!("`x`{MARKER}"),
        ] {
            assert!(is_marked(&own), "{own:?}");
        }
        for other in [
            String::new(),
            "done".to_owned(),
            format!("> done\n> {MARKER}\nI disagree"),
            format!("it marks itself with `{MARKER}`, see"),
            "<!-- the-loop:agent -->".to_owned(),
        ] {
            assert!(!is_marked(&other), "{other:?}");
        }
    }
}
