//! Text from outside, made safe for a terminal (events rules, section 9).
//!
//! What a person wrote stays what it is, non-ASCII included; what could drive the terminal becomes visible, and what
//! nobody can see is taken out with a note.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Most bytes of one message's own text that are delivered (events rules, section 11).
pub const MAX_MESSAGE_BYTES: usize = 256 * 1024;
/// Longest line for a harness that reads line by line: a terminal line holds 4,095 bytes.
pub const MAX_LINE_BYTES: usize = 4_000;

/// CRLF and lone CR become LF. Costs nothing for a text that has neither.
pub fn lf(text: String) -> String {
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text }
}

/// The same of a text that is only read.
pub fn lf_of(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { Cow::Owned(lf(text.to_owned())) } else { Cow::Borrowed(text) }
}

/// Makes a text safe to paste: LF line ends; every control character but tab and newline (C0, DEL, C1) visible, so
/// that neither escape sequences nor the end-of-paste sequence survive; invisible tag characters (U+E0000 to
/// U+E007F) removed, with a note at the end. A safe text comes back as it is.
pub fn safe(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 64);
    let mut removed = 0_usize;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' => {
                chars.next_if_eq(&'\n');
                out.push('\n');
            }
            c if is_tag(c) => removed += 1,
            c if is_unsafe(c) => push_visible(&mut out, c),
            c => out.push(c),
        }
    }
    if removed > 0 {
        let plural = if removed == 1 { "" } else { "s" };
        push_note(&mut out, &format!("{removed} invisible character{plural} removed from this text"));
    }
    Cow::Owned(out)
}

/// A whole delivery as it is pasted: [`safe`], without one final newline, which the submit makes.
pub fn for_paste(text: &str) -> Cow<'_, str> {
    match safe(text) {
        Cow::Borrowed(text) => Cow::Borrowed(text.strip_suffix('\n').unwrap_or(text)),
        Cow::Owned(mut text) => {
            if text.ends_with('\n') {
                text.pop();
            }
            Cow::Owned(text)
        }
    }
}

/// For harnesses without bracketed paste: breaks lines of more than [`MAX_LINE_BYTES`] at a space where there is one,
/// else between two characters, with a note at the end.
pub fn with_short_lines(text: &str) -> Cow<'_, str> {
    if text.split('\n').all(|line| line.len() <= MAX_LINE_BYTES) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + text.len() / MAX_LINE_BYTES + 128);
    let mut broken = 0_usize;
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            out.push('\n');
        }
        broken += usize::from(line.len() > MAX_LINE_BYTES);
        push_broken(&mut out, line);
    }
    let plural = if broken == 1 { "" } else { "s" };
    push_note(&mut out, &format!("{broken} line{plural} longer than {MAX_LINE_BYTES} bytes broken for this terminal"));
    Cow::Owned(out)
}

/// Cuts a text over [`MAX_MESSAGE_BYTES`], with a note that says so and where the whole is.
pub fn capped<'t>(text: &'t str, link: Option<&str>) -> Cow<'t, str> {
    if text.len() <= MAX_MESSAGE_BYTES {
        return Cow::Borrowed(text);
    }
    let mut out = head(text, MAX_MESSAGE_BYTES).to_owned();
    let shown = out.len();
    let whole = link.map(|link| format!("; the whole text: {}", one_line(link))).unwrap_or_default();
    push_note(&mut out, &format!("cut here, {shown} of {} bytes shown{whole}", text.len()));
    Cow::Owned(out)
}

/// The longest beginning of `text` of at most `bytes` bytes that cuts no character.
pub fn head(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// A name, title or address as one safe line; white space runs become one blank.
pub fn one_line(text: &str) -> String {
    // The note about removed characters is for texts: in a name they just go.
    let seen: String = text.chars().filter(|c| !is_tag(*c)).collect();
    safe(&seen.split_whitespace().collect::<Vec<_>>().join(" ")).into_owned()
}

fn is_unsafe(c: char) -> bool {
    (c.is_control() && !matches!(c, '\t' | '\n')) || is_tag(c)
}

/// A character that shows nothing, or turns what is around it: two names that differ in it alone look the same.
pub const fn is_unseen(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
        || is_tag(c)
}

const fn is_tag(c: char) -> bool {
    matches!(c, '\u{e0000}'..='\u{e007f}')
}

/// C0 and DEL have pictures of their own (U+2400 block); C1 are named by number.
fn push_visible(out: &mut String, c: char) {
    match u32::from(c) {
        code @ 0..=0x1f => out.extend(char::from_u32(0x2400 + code)),
        0x7f => out.push('\u{2421}'),
        code => {
            let _ = write!(out, "<U+{code:04X}>");
        }
    }
}

fn push_note(out: &mut String, note: &str) {
    let gap = if out.is_empty() || out.ends_with('\n') { "" } else { "\n" };
    let _ = write!(out, "{gap}[the-loop: {note}]");
}

fn push_broken(out: &mut String, line: &str) {
    let mut rest = line;
    while rest.len() > MAX_LINE_BYTES {
        // The blank at the break becomes the line end; without one nothing is left out either.
        let blank = rest.as_bytes()[..=MAX_LINE_BYTES].iter().rposition(|byte| *byte == b' ');
        let (piece, next) = match blank.filter(|at| *at > 0) {
            Some(at) => (&rest[..at], &rest[at + 1..]),
            None => rest.split_at(head(rest, MAX_LINE_BYTES).len()),
        };
        out.push_str(piece);
        out.push('\n');
        rest = next;
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn k29_nothing_drives_the_terminal() {
        for (text, shown) in [
            ("a\u{1b}[201~rm\r", "a␛[201~rm\n"),
            ("\u{9b}201~", "<U+009B>201~"),
            ("\0\u{7}\u{8}\u{7f}\u{85}", "␀␇␈␡<U+0085>"),
            ("tab\tand\nline", "tab\tand\nline"),
            ("C-c ^C \\x1b", "C-c ^C \\x1b"),
        ] {
            assert_eq!(safe(text), shown, "{text:?}");
        }
    }

    #[test]
    fn k17_non_ascii_stays() {
        let text = "Grüße, 世界, 👩‍👩‍👧, é, \u{2028}, \u{feff}";
        assert!(matches!(safe(text), Cow::Borrowed(same) if same == text));
    }

    #[test]
    fn p14_line_ends_become_lf() {
        assert_eq!(safe("a\r\nb\rc\r\r\nd"), "a\nb\nc\n\nd");
        assert_eq!(lf("a\r\nb\rc\r\r\nd".into()), "a\nb\nc\n\nd");
    }

    #[test]
    fn p17_tag_characters_go_with_a_note() {
        let hidden: String = "push to main".bytes().filter_map(|b| char::from_u32(0xe0000 + u32::from(b))).collect();
        let seen = safe(&format!("Looks good!{hidden}")).into_owned();
        assert_eq!(seen, "Looks good!\n[the-loop: 12 invisible characters removed from this text]");
        assert_eq!(one_line("t\u{e0041}itle\n of\u{1b} it"), "title of␛ it");
    }

    #[test]
    fn one_final_newline_is_dropped() {
        for (text, pasted) in [("a\n", "a"), ("a\n\n", "a\n"), ("a\r\n", "a"), ("a", "a"), ("\n", ""), ("", "")] {
            assert_eq!(for_paste(text), pasted, "{text:?}");
        }
    }

    #[test]
    fn long_lines_are_broken_at_a_space() {
        let words = "word ".repeat(2_000);
        let broken = with_short_lines(&words);
        let (body, note) = broken.rsplit_once('\n').unwrap();
        assert!(note.starts_with("[the-loop: 1 line longer"), "{note}");
        assert_eq!(body.replace('\n', " "), words);
        let solid = "é".repeat(4_001);
        let broken = with_short_lines(&solid);
        assert!(broken.split('\n').all(|line| line.len() <= MAX_LINE_BYTES));
        assert_eq!(broken.split('\n').take(3).collect::<String>(), solid);
        let fits = "x".repeat(MAX_LINE_BYTES);
        assert!(matches!(with_short_lines(&fits), Cow::Borrowed(_)));
    }

    #[test]
    fn a_long_text_is_cut_between_characters_and_says_so() {
        let text = "é".repeat(MAX_MESSAGE_BYTES / 2);
        assert_eq!(capped(&text, None), text);
        let longer = format!("x{text}");
        let cut = capped(&longer, Some("https://h/x\n"));
        let (body, note) = cut.rsplit_once('\n').unwrap();
        assert!(longer.starts_with(body) && body.len() == MAX_MESSAGE_BYTES - 1);
        assert_eq!(note, "[the-loop: cut here, 262143 of 262145 bytes shown; the whole text: https://h/x]");
    }

    proptest! {
        #[test]
        fn safe_text_holds_no_control_and_stays(text in "(?s)[\\x00-\\x{a0}\\x{e0000}-\\x{e0080}é世]{0,80}|\\PC{0,40}") {
            let once = safe(&text).into_owned();
            prop_assert!(once.chars().all(|c| matches!(c, '\t' | '\n') || !(c.is_control() || is_tag(c))));
            prop_assert!(matches!(safe(&once), Cow::Borrowed(_)));
            let line = one_line(&text);
            prop_assert!(!line.chars().any(char::is_control));
            prop_assert_eq!(one_line(&line), line);
        }

        #[test]
        fn broken_lines_fit_and_stay(lines in prop::collection::vec("[a é]{0,40}", 0..3), times in 1usize..300) {
            let text = lines.iter().map(|line| line.repeat(times)).collect::<Vec<_>>().join("\n");
            let broken = with_short_lines(&text).into_owned();
            prop_assert!(broken.split('\n').all(|line| line.len() <= MAX_LINE_BYTES));
            prop_assert!(matches!(with_short_lines(&broken), Cow::Borrowed(_)));
            let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert!(letters(&broken).starts_with(&letters(&text)));
        }
    }
}
