//! A small model of git's ignore rules: the last pattern that matches wins, and nothing below an ignored folder can be
//! taken back.

/// The patterns of one `.gitignore` at the root of a repository.
#[derive(Debug, Clone)]
pub struct Ignore {
    rules: Vec<Rule>,
}

/// One line that is a pattern.
#[derive(Debug, Clone)]
struct Rule {
    /// `!` in front: takes back what an earlier pattern ignored.
    keeps: bool,
    /// `/` at the end: folders only.
    folders_only: bool,
    /// The parts between slashes; a single part without a slash anywhere matches at any depth.
    parts: Vec<Vec<u8>>,
    anchored: bool,
    /// Its line, from 0.
    line: usize,
}

impl Ignore {
    /// Reads the text of a `.gitignore`; a byte-order mark and CR LF are read as git reads them.
    pub fn parse(text: &str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let rules = text.split('\n').enumerate().filter_map(|(line, text)| Some(Rule { line, ..Rule::parse(text)? }));
        Self { rules: rules.collect() }
    }

    /// Whether git ignores `path`, relative to the repository with `/` between parts; a folder ends in `/`.
    pub fn ignores(&self, path: &str) -> bool {
        self.decides(path).is_some_and(|rule| !rule.keeps)
    }

    /// The line, from 0, of the pattern that decides about `path`; `None` when none matches it.
    pub fn deciding_line(&self, path: &str) -> Option<usize> {
        self.decides(path).map(|rule| rule.line)
    }

    /// The rule that decides: the one that ignores the outermost folder, else the one for the path itself, else the one
    /// that takes back a folder it lies in.
    fn decides(&self, path: &str) -> Option<&Rule> {
        let is_folder = path.ends_with('/');
        let parts: Vec<&[u8]> = path.trim_end_matches('/').split('/').map(str::as_bytes).collect();
        let within = || (1..parts.len()).filter_map(|length| self.last(&parts[..length], true));
        within().find(|rule| !rule.keeps).or_else(|| self.last(&parts, is_folder)).or_else(|| within().next_back())
    }

    /// The last rule that matches this very path.
    fn last(&self, path: &[&[u8]], is_folder: bool) -> Option<&Rule> {
        self.rules.iter().rev().find(|rule| rule.matches(path, is_folder))
    }
}

impl Rule {
    fn parse(line: &str) -> Option<Self> {
        let line = without_trailing_blanks(line.strip_suffix('\r').unwrap_or(line));
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        let (keeps, line) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest));
        let (folders_only, line) = line.strip_suffix('/').map_or((false, line), |rest| (true, rest));
        let anchored = line.contains('/');
        let line = line.strip_prefix('/').unwrap_or(line);
        let mut parts: Vec<Vec<u8>> = line.split('/').map(|part| part.as_bytes().to_vec()).collect();
        if let Some((_, before_slash)) = parts.split_last_mut() {
            before_slash.iter_mut().for_each(drop_escape_of_slash);
        }
        (!line.is_empty()).then_some(Self { keeps, folders_only, parts, anchored, line: 0 })
    }

    fn matches(&self, path: &[&[u8]], is_folder: bool) -> bool {
        if self.folders_only && !is_folder {
            return false;
        }
        match (self.anchored, self.parts.as_slice(), path.last()) {
            (false, [part], Some(name)) => matches_part(part, name),
            (_, parts, _) => matches_parts(parts, path),
        }
    }
}

/// A slash is the same with a backslash before it.
fn drop_escape_of_slash(part: &mut Vec<u8>) {
    let backslashes = part.iter().rev().take_while(|&&byte| byte == b'\\').count();
    if backslashes % 2 == 1 {
        part.pop();
    }
}

/// Blanks at the end do not count, unless a backslash holds them.
fn without_trailing_blanks(line: &str) -> &str {
    let (mut end, mut escaped) = (0, false);
    for (at, byte) in line.bytes().enumerate() {
        if escaped || byte != b' ' {
            end = at + 1;
        }
        escaped = !escaped && byte == b'\\';
    }
    // Every cut is beside an ASCII blank, or at the end.
    line.get(..end).unwrap_or(line)
}

/// Whole paths, `**` standing for any number of parts, at the end for at least one.
fn matches_parts(pattern: &[Vec<u8>], path: &[&[u8]]) -> bool {
    match pattern.split_first() {
        None => path.is_empty(),
        Some((part, [])) if is_any_depth(part) => !path.is_empty(),
        Some((part, rest)) if is_any_depth(part) => (0..=path.len()).any(|skip| matches_parts(rest, &path[skip..])),
        Some((part, rest)) => {
            path.split_first().is_some_and(|(name, below)| matches_part(part, name) && matches_parts(rest, below))
        }
    }
}

fn is_any_depth(part: &[u8]) -> bool {
    part.len() >= 2 && part.iter().all(|&byte| byte == b'*')
}

/// One part: `*`, `?`, `[...]` and `\` as in the shell; what is malformed matches nothing.
fn matches_part(pattern: &[u8], name: &[u8]) -> bool {
    match pattern.split_first() {
        None => name.is_empty(),
        Some((b'*', rest)) => (0..=name.len()).any(|skip| matches_part(rest, &name[skip..])),
        Some((byte, rest)) => {
            let Some((&first, below)) = name.split_first() else { return false };
            let rest = match byte {
                b'?' => Some(rest),
                b'[' => in_class(rest, first),
                b'\\' => rest.split_first().filter(|(literal, _)| **literal == first).map(|(_, rest)| rest),
                _ => (*byte == first).then_some(rest),
            };
            rest.is_some_and(|rest| matches_part(rest, below))
        }
    }
}

/// What follows a bracket expression that `byte` is in; nothing when it is not, or when the bracket is never closed.
fn in_class(class: &[u8], byte: u8) -> Option<&[u8]> {
    let (negated, mut left) = match class.split_first() {
        Some((b'!' | b'^', rest)) => (true, rest),
        _ => (false, class),
    };
    let (mut found, mut first) = (false, true);
    loop {
        left = match left {
            [b']', rest @ ..] if !first => return (found != negated).then_some(rest),
            [b'[', b':', rest @ ..] => {
                let end = rest.windows(2).position(|pair| pair == b":]")?;
                found |= is_named(&rest[..end], byte)?;
                &rest[end + 2..]
            }
            _ => {
                let (low, rest) = literal(left)?;
                match rest {
                    [b'-', after @ ..] if after.first().is_some_and(|&next| next != b']') => {
                        let (high, rest) = literal(after)?;
                        found |= (low..=high).contains(&byte);
                        rest
                    }
                    _ => {
                        found |= low == byte;
                        rest
                    }
                }
            }
        };
        first = false;
    }
}

/// One character of a class, a backslash taken off.
fn literal(class: &[u8]) -> Option<(u8, &[u8])> {
    match class {
        [b'\\', byte, rest @ ..] | [byte, rest @ ..] => Some((*byte, rest)),
        [] => None,
    }
}

/// Whether `byte` is in a class such as `[:alpha:]`; nothing when there is no such class.
fn is_named(name: &[u8], byte: u8) -> Option<bool> {
    Some(match name {
        b"alnum" => byte.is_ascii_alphanumeric(),
        b"alpha" => byte.is_ascii_alphabetic(),
        b"blank" => matches!(byte, b' ' | b'\t'),
        b"cntrl" => byte.is_ascii_control(),
        b"digit" => byte.is_ascii_digit(),
        b"graph" => byte.is_ascii_graphic(),
        b"lower" => byte.is_ascii_lowercase(),
        b"print" => byte.is_ascii_graphic() || byte == b' ',
        b"punct" => byte.is_ascii_punctuation(),
        b"space" => byte.is_ascii_whitespace() || byte == 0x0b,
        b"upper" => byte.is_ascii_uppercase(),
        b"xdigit" => byte.is_ascii_hexdigit(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ignored(rules: &str, path: &str) -> bool {
        Ignore::parse(rules).ignores(path)
    }

    #[test]
    fn g01_g03_nothing_below_an_ignored_folder_is_taken_back() {
        let record = ".the-loop/portable/octo-hello-7.json";
        assert!(ignored(".the-loop/\n!.the-loop/portable/\n", record));
        assert!(ignored(".the-loop/**\n!.the-loop/portable/**\n", record));
        assert!(!ignored(".the-loop/**\n!.the-loop/portable/\n!.the-loop/portable/**\n", record));
        let right = "/.the-loop/*\n!/.the-loop/portable/\n";
        assert!(!ignored(right, record) && ignored(right, ".the-loop/local/state.redb"));
    }

    #[test]
    fn g02_the_last_line_that_matches_wins() {
        assert!(ignored("!a\na\n", "a") && !ignored("a\n!a\n", "a"));
        for (rules, path, line) in [("a\n!a\n", "a", Some(1)), ("x\n\na/\n!a/b\n", "a/b", Some(2)), ("a\n", "b", None)]
        {
            assert_eq!(Ignore::parse(rules).deciding_line(path), line, "{rules:?}");
        }
    }

    #[test]
    fn g05_glued_lines_crlf_and_a_mark_read_as_git_reads_them() {
        assert!(!ignored("target//.the-loop/*\n", "target/") && !ignored("target//.the-loop/*\n", ".the-loop/x"));
        assert!(ignored("\u{feff}target/\r\n*.tmp\r\n", "target/") && ignored("a\r\n*.tmp", "x/y.tmp"));
    }

    #[test]
    fn patterns_match_as_documented() {
        for (rule, yes, no) in [
            ("a/b", "a/b", "x/a/b"),
            ("b/", "a/b/", "a/b"),
            ("**/b", "b", "b2"),
            ("a/**", "a/x/y", "a"),
            ("a/**/c", "a/c", "a/b/d"),
            ("*.p?d", "x/1.pid", "1.pd"),
            ("[!a-c]x", "dx", "bx"),
            ("[]-]", "]", "a"),
            ("[[:digit:]_]", "7", "x"),
            ("\\#a", "#a", "a"),
            ("\\!a", "!a", "a"),
            ("a\\ ", "a ", "a"),
            ("a  ", "a", "a  "),
            ("x**y", "xaby", "x/y"),
        ] {
            assert!(ignored(rule, yes), "{rule} {yes}");
            assert!(!ignored(rule, no), "{rule} {no}");
        }
        for rule in ["# a", "", "a\\", "[a", "/"] {
            assert!(!ignored(rule, "a"), "{rule}");
        }
    }
}
