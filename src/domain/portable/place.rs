//! Finds the line of a key in JSON text that was already checked.

/// The line (from 1) of the key at `path`, or of its deepest part that is written there; 1 when none is.
pub(super) fn line_of(text: &str, path: &[&str]) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut line, mut depth, mut found, mut best) = (0, 1, 0_usize, 0_usize, 1);
    while let (Some(&byte), Some(wanted)) = (bytes.get(at), path.get(found)) {
        match byte {
            b'\n' => line += 1,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let end = string_end(bytes, at);
                if is_key(bytes, end) {
                    if depth == found + 1 && &text[at + 1..end] == *wanted {
                        best = line;
                        found += 1;
                    } else if depth <= found && depth > 0 {
                        return best;
                    }
                }
                at = end;
            }
            _ => {}
        }
        at += 1;
    }
    best
}

/// The index of the quote that ends the string beginning at `start`.
pub(super) fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Whether a colon follows the string that ends at `end`.
fn is_key(bytes: &[u8], end: usize) -> bool {
    bytes.iter().skip(end + 1).find(|byte| !byte.is_ascii_whitespace()) == Some(&b':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_at_their_depth_only() {
        let text = "{\n \"graph\": {\"control\": 1,\n  \"command\": 2},\n \"a\": \"\\\"control\\\":\",\n \"control\": {\n  \"x\": [{}],\n  \"command\": 5}\n}";
        assert_eq!(line_of(text, &["control"]), 5);
        assert_eq!(line_of(text, &["control", "command"]), 7);
        assert_eq!(line_of(text, &["graph", "x"]), 2);
        assert_eq!(line_of(text, &["none"]), 1);
        assert_eq!(line_of("", &["none"]), 1);
    }
}
