//! A change as `git diff` writes it, read without git: which files it touches, and that none of them is a link. What
//! cannot be read with certainty is refused, so that nothing is looked past that git would apply.

use std::collections::BTreeSet;

use super::paths::target;
use super::rules::Refusal;

/// Kinds of files, as git numbers them, that a change may not touch: links and submodules.
const BENT: [&str; 2] = ["120000", "160000"];
/// Longest header, bytes: two names of the longest that there are. Where they part is looked for at each blank.
const LONGEST: usize = 8300;
/// What stands before the kind of a file.
const MODES: [&str; 4] = ["new file mode ", "deleted file mode ", "new mode ", "old mode "];
/// What stands before a name that has no `a/` or `b/` of its own.
const BARE: [&str; 6] = ["rename from ", "rename to ", "rename old ", "rename new ", "copy from ", "copy to "];

/// Looks at a patch before git does; answers the files that it touches, each once.
///
/// # Errors
/// A path leads outside or into an agent's own folder, a link or a submodule is touched, or it cannot be read.
pub fn check_patch(patch: &str) -> Result<Vec<String>, Refusal> {
    let mut found = Names::default();
    let mut lines = patch.split('\n');
    while let Some(line) = lines.next() {
        if line.starts_with("@@ ") {
            skip_hunk(line, &mut lines).ok_or_else(|| unreadable(line))?;
        } else {
            found.look_at(line)?;
        }
    }
    match found.is_git {
        false => Err(Refusal::Patch("it is no change as `git diff` writes it".into())),
        true => found.names.into_iter().map(|name| target(&name)).collect(),
    }
}

#[derive(Default)]
struct Names {
    names: BTreeSet<String>,
    is_git: bool,
}

impl Names {
    /// One line outside of what the change says of a file's content.
    fn look_at(&mut self, line: &str) -> Result<(), Refusal> {
        let bent = |mode: &str| BENT.contains(&mode.trim_end());
        if let Some(both) = line.strip_prefix("diff --git ") {
            self.is_git = true;
            return self.header(both, line);
        }
        if let Some(name) = line.strip_prefix("--- ").or_else(|| line.strip_prefix("+++ ")) {
            let name = name.split('\t').next().unwrap_or_default();
            if name != "/dev/null" {
                self.names.insert(below(&unquoted(name, line)?, line)?);
            }
        } else if let Some(name) = BARE.iter().find_map(|head| line.strip_prefix(head)) {
            self.names.insert(unquoted(name, line)?);
        } else if MODES.iter().any(|head| line.strip_prefix(head).is_some_and(bent))
            || (line.starts_with("index ") && line.rsplit(' ').next().is_some_and(bent))
        {
            return Err(Refusal::Patch("it touches a link or a submodule".into()));
        }
        Ok(())
    }

    /// Both names of a header. Where they differ, the lines below it say them.
    fn header(&mut self, both: &str, line: &str) -> Result<(), Refusal> {
        if both.len() > LONGEST {
            return Err(unreadable(line));
        }
        if both.split(['/', ' ', '"']).any(|part| part == "..") {
            return Err(Refusal::Traversal(line.to_owned()));
        }
        if both.contains('"') {
            let (one, other) = quoted_pair(both).ok_or_else(|| unreadable(line))?;
            self.names.extend([below(&unquoted(one, line)?, line)?, below(&unquoted(other, line)?, line)?]);
            return Ok(());
        }
        for (at, _) in both.match_indices(' ') {
            let (one, other) = (&both[..at], &both[at + 1..]);
            if let (Some((_, one)), Some((_, other))) = (one.split_once('/'), other.split_once('/'))
                && one == other
            {
                self.names.insert(unquoted(one, line)?);
            }
        }
        Ok(())
    }
}

fn unreadable(line: &str) -> Refusal {
    Refusal::Patch(format!("`{}` cannot be read", crate::domain::text::head(line, 200)))
}

/// Two names of which at least one is quoted.
fn quoted_pair(both: &str) -> Option<(&str, &str)> {
    if !both.starts_with('"') {
        return both.find(" \"").map(|at| (&both[..at], &both[at + 1..]));
    }
    let mut is_escaped = false;
    let end = both.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == '"' && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        ends
    });
    let (one, rest) = both.split_at(end?.0 + 1);
    rest.strip_prefix(' ').map(|other| (one, other))
}

/// A name as it is on disk.
fn unquoted(name: &str, line: &str) -> Result<String, Refusal> {
    let plain = match name.strip_prefix('"') {
        Some(rest) => rest.strip_suffix('"').and_then(unescaped),
        None => Some(name.to_owned()),
    };
    plain.filter(|name| !name.is_empty() && !name.contains(char::is_control)).ok_or_else(|| unreadable(line))
}

fn unescaped(text: &str) -> Option<String> {
    let (mut bytes, mut rest) = (Vec::new(), text.bytes());
    while let Some(byte) = rest.next() {
        match (byte, if byte == b'\\' { Some(rest.next()?) } else { None }) {
            (byte, None) => bytes.push(byte),
            (_, Some(plain @ (b'"' | b'\\'))) => bytes.push(plain),
            (_, Some(first @ b'0'..=b'3')) => {
                let digits = [first, rest.next()?, rest.next()?];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 8).ok()?);
            }
            // The others are control characters, which no name may have.
            _ => return None,
        }
    }
    String::from_utf8(bytes).ok()
}

/// A name without its `a/` or `b/`.
fn below(name: &str, line: &str) -> Result<String, Refusal> {
    name.split_once('/').map(|(_, name)| name.to_owned()).ok_or_else(|| unreadable(line))
}

/// Goes past what a change says of a file's content, which may look like anything: as many lines as its head counts.
fn skip_hunk<'l>(head: &str, lines: &mut impl Iterator<Item = &'l str>) -> Option<()> {
    let count = |range: &str| match range.split_once(',') {
        Some((_, count)) => count.parse::<u64>().ok(),
        None => Some(1),
    };
    let mut parts = head.split(' ').skip(1);
    let mut old = count(parts.next()?.strip_prefix('-')?)?;
    let mut new = count(parts.next()?.strip_prefix('+')?)?;
    while old > 0 || new > 0 {
        match lines.next()?.bytes().next() {
            Some(b'-') => old = old.checked_sub(1)?,
            Some(b'+') => new = new.checked_sub(1)?,
            Some(b' ') | None => (old, new) = (old.checked_sub(1)?, new.checked_sub(1)?),
            Some(b'\\') => {}
            Some(_) => return None,
        }
    }
    Some(())
}
