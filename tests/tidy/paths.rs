//! Every path that stands in Rust, with groups written out: `a::{b, c::d}` is `a::b` and `a::c::d`.

/// A path and its line, which begins at 1.
#[derive(Debug, PartialEq)]
pub struct Found {
    pub line: usize,
    pub parts: Vec<String>,
}

#[derive(Debug, PartialEq)]
enum Token {
    Word(String),
    Join,
    Open,
    Close,
    Other(char),
}

/// Paths in masked Rust; a word alone is a path of one part.
pub fn paths(masked: &str) -> Vec<Found> {
    let tokens = tokens(masked);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        at = match tokens[at].1 {
            Token::Word(_) => path(&tokens, at, &[], &mut found),
            _ => at + 1,
        };
    }
    found
}

/// Reads the path that begins at a word; says where it ends.
fn path(tokens: &[(usize, Token)], mut at: usize, prefix: &[String], found: &mut Vec<Found>) -> usize {
    let mut parts = prefix.to_vec();
    let line = tokens[at].0;
    while let Some((_, Token::Word(word))) = tokens.get(at) {
        parts.push(word.clone());
        at += 1;
        if !matches!(tokens.get(at), Some((_, Token::Join))) {
            break;
        }
        at += 1;
        if matches!(tokens.get(at), Some((_, Token::Open))) {
            return group(tokens, at + 1, &parts, found);
        }
    }
    found.push(Found { line, parts });
    at
}

fn group(tokens: &[(usize, Token)], mut at: usize, prefix: &[String], found: &mut Vec<Found>) -> usize {
    while let Some((_, token)) = tokens.get(at) {
        at = match token {
            Token::Close => return at + 1,
            Token::Word(_) => path(tokens, at, prefix, found),
            _ => at + 1,
        };
    }
    at
}

fn tokens(masked: &str) -> Vec<(usize, Token)> {
    let mut out = Vec::new();
    let mut line = 1;
    let mut rest = masked.chars().peekable();
    while let Some(c) = rest.next() {
        let token = match c {
            '\n' => {
                line += 1;
                continue;
            }
            c if c.is_whitespace() => continue,
            c if c.is_alphanumeric() || c == '_' => {
                let mut word = String::from(c);
                while let Some(c) = rest.next_if(|c| c.is_alphanumeric() || *c == '_') {
                    word.push(c);
                }
                Token::Word(word)
            }
            ':' if rest.next_if_eq(&':').is_some() => Token::Join,
            '{' => Token::Open,
            '}' => Token::Close,
            c => Token::Other(c),
        };
        out.push((line, token));
    }
    out
}

#[test]
fn groups_are_written_out() {
    let listed = |text: &str| paths(text).iter().map(|found| found.parts.join("::")).collect::<Vec<_>>();
    assert_eq!(
        listed("use a::{self, b, c::{d, e}, f as g}; h::i(); x"),
        ["use", "a::self", "a::b", "a::c::d", "a::c::e", "a::f", "a::as", "a::g", "h::i", "x"]
    );
    assert_eq!(paths("a\nb::c")[1], Found { line: 2, parts: vec!["b".into(), "c".into()] });
}
