//! The command that git runs for our merge driver.
//!
//! Git takes any exit code up to 128 for a conflict and leaves our side in place, without markers, when the program
//! cannot be found: the other side would be lost with the next `git add`. So the command falls back on git's own merge
//! whenever the program did not answer for itself (0 or 1).

/// The key of the command.
pub const DRIVER_KEY: &str = "merge.the-loop.driver";
/// The key of the name.
pub const NAME_KEY: &str = "merge.the-loop.name";
/// The name.
pub const NAME: &str = "the-loop: one portable record of two";

/// What stands behind the program.
const CALL: &str = " merge-driver %O %A %B %P";
const FALLBACK: &str = " || { test $? -gt 1 && git merge-file --marker-size=%L %A %O %B; }";

/// The command for a program: a name to be found in `PATH`, or a path.
pub fn command(program: &str) -> String {
    format!("{}{CALL}{FALLBACK}", quoted(program).replace('%', "%%"))
}

/// The program of a command of ours, however it was written; `None` for anything else.
pub fn program(command: &str) -> Option<String> {
    let (program, rest) = command.split_once(CALL)?;
    (rest == FALLBACK).then(|| unquoted(program).replace("%%", "%"))
}

/// A word for the shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-');
    if word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

fn unquoted(word: &str) -> String {
    match word.strip_prefix('\'').and_then(|word| word.strip_suffix('\'')) {
        Some(inner) => inner.replace("'\\''", "'"),
        None => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_come_back_out_of_their_command() {
        for (program_, begins) in [
            ("the-loop", "the-loop merge-driver %O %A %B %P || "),
            ("/opt/my tools/the-loop", "'/opt/my tools/the-loop' merge-driver"),
            ("/o'x/the-loop", "'/o'\\''x/the-loop' merge-driver"),
            ("/100%/the-loop", "'/100%%/the-loop' merge-driver"),
        ] {
            let command = command(program_);
            assert!(command.starts_with(begins), "{command}");
            assert_eq!(program(&command).as_deref(), Some(program_));
        }
        assert_eq!(program("the-loop merge-driver %O %A %B %P"), None, "without the fallback it is an older one");
        assert_eq!(program("true"), None);
    }
}
