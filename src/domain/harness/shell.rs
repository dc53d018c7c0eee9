//! Shells: a pane in which only a shell waits for commands hosts no agent, and what is typed there would be run.

/// Names of the usual shells.
const SHELLS: [&str; 10] = ["sh", "bash", "dash", "zsh", "fish", "ksh", "mksh", "ash", "csh", "tcsh"];

/// What stands in the foreground of a terminal, by its command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foreground {
    /// Some program that is no shell.
    Program,
    /// A shell that runs a script, which may well be the harness.
    Script,
    /// A shell that takes commands.
    Shell,
    /// Nobody could say.
    Unknown,
}

impl Foreground {
    /// What this command line is.
    pub fn of(argv: &[String]) -> Self {
        match argv.first() {
            None => Self::Unknown,
            Some(program) if !is_shell(program) => Self::Program,
            Some(_) if is_bare(argv) => Self::Shell,
            Some(_) => Self::Script,
        }
    }
}

/// Whether these words start a shell that takes commands: a shell with nothing but options, none of which gives it a
/// command.
pub fn is_bare(argv: &[String]) -> bool {
    let Some((program, rest)) = argv.split_first() else { return false };
    let gives_command = |word: &String| !word.starts_with("--") && word.starts_with('-') && word.contains('c');
    is_shell(program) && rest.iter().all(|word| word.starts_with(['-', '+'])) && !rest.iter().any(gives_command)
}

/// Whether a program goes by the name of a shell; a login shell has a `-` before it.
fn is_shell(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    SHELLS.contains(&name.strip_prefix('-').unwrap_or(name))
}

/// The names as a pattern (POSIX extended) for a whole name as tmux tells it.
pub fn pattern() -> String {
    format!("^-?({})$", SHELLS.join("|"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_that_takes_commands_is_told_from_one_that_runs_a_script() {
        for (line, what) in [
            ("bash", Foreground::Shell),
            ("-zsh", Foreground::Shell),
            ("/usr/bin/fish -l", Foreground::Shell),
            ("bash --login -i", Foreground::Shell),
            ("sh +m", Foreground::Shell),
            ("sh -c agent", Foreground::Script),
            ("bash -lc agent", Foreground::Script),
            ("/bin/sh /opt/agent", Foreground::Script),
            ("bash -e agent --resume", Foreground::Script),
            ("node /usr/bin/codex", Foreground::Program),
            ("claude", Foreground::Program),
            ("sh-agent", Foreground::Program),
            ("vim", Foreground::Program),
        ] {
            let argv: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(Foreground::of(&argv), what, "{line}");
        }
        assert_eq!(Foreground::of(&[]), Foreground::Unknown);
    }
}
