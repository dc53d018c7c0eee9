//! Lines that clap could not read, in the product's own words; help and version.

use std::ffi::OsString;

use clap::error::ErrorKind;

use super::exit::{Exit, Failure, Kind};
use super::output::Output;

/// Whether a flag stands on the line, for use before the line could be read. What follows `--` is no flag.
pub fn wants(args: &[OsString], flag: &str) -> bool {
    args.iter().skip(1).take_while(|arg| *arg != "--").any(|arg| arg == flag)
}

/// Commands that agents call by their exit codes, of which 2 says something else than wrong usage.
const FAMILIES: [&str; 6] = ["run", "verify", "profile", "skill", "model-eval", "evolve"];

/// Whether the line is for one of them.
pub fn is_family(args: &[OsString]) -> bool {
    let mut args = args.iter().skip(1).filter_map(|arg| arg.to_str());
    while let Some(arg) = args.next() {
        match arg {
            "--config" => drop(args.next()),
            option if option.starts_with('-') => {}
            verb => return FAMILIES.contains(&verb),
        }
    }
    false
}

/// Answers help and version with success, and anything else with what is wrong and what was probably meant.
pub fn answer(error: &clap::Error, json: bool, plain: bool, is_family: bool) -> Exit {
    let out = Output::bare(json);
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        let text = error.render();
        let styled =
            !plain && std::io::IsTerminal::is_terminal(&std::io::stdout()) && std::env::var_os("NO_COLOR").is_none();
        let text = if styled { text.ansi().to_string() } else { text.to_string() };
        return out.data(&text).map_or_else(|failure| out.failure(&failure), |()| Exit::Done);
    }
    let failure = translate(&error.render().to_string());
    out.failure(&if is_family { Failure { kind: Kind::WrongUsage, ..failure } } else { failure })
}

/// Clap's text as `error` and `hint`.
fn translate(text: &str) -> Failure {
    let mut message = Vec::new();
    let mut hints = Vec::new();
    for line in text.lines() {
        let trimmed = line.trim();
        if let Some(tip) = trimmed.strip_prefix("tip: ") {
            hints.push(quoted(tip));
        } else if let Some(usage) = trimmed.strip_prefix("Usage: ") {
            hints.push(format!("usage: `{usage}`"));
        } else if message.is_empty() || (line.starts_with("  ") && hints.is_empty()) {
            message.push(quoted(trimmed.strip_prefix("error: ").unwrap_or(trimmed)));
        }
    }
    let message = message.into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n  ");
    let failure = Failure::new(Kind::Usage, message);
    if hints.is_empty() { failure.hint("`the-loop --help` lists the commands") } else { failure.hint(hints.join("; ")) }
}

fn quoted(text: &str) -> String {
    text.replace('\'', "`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(line: &str) -> Failure {
        let error = super::super::command().try_get_matches_from(line.split(' ')).expect_err(line);
        translate(&error.render().to_string())
    }

    #[test]
    fn mistyped_names_get_a_suggestion() {
        let wrong = failure("the-loop confg check");
        assert_eq!(wrong.message, "unrecognized subcommand `confg`");
        assert!(wrong.hint.as_deref().is_some_and(|hint| hint.contains("`config`")), "{wrong:?}");
        let wrong = failure("the-loop config check --jso");
        assert_eq!(wrong.message, "unexpected argument `--jso` found");
        assert!(wrong.hint.as_deref().is_some_and(|hint| hint.contains("`--json`")), "{wrong:?}");
    }

    #[test]
    fn what_is_missing_is_named() {
        for line in ["the-loop", "the-loop config", "the-loop sessions", "the-loop dispatch", "the-loop webhook"] {
            let wrong = failure(line);
            assert!(wrong.message.starts_with(&format!("`{line}` requires a subcommand")), "{wrong:?}");
        }
        assert!(failure("the-loop webhook send").message.contains("<FILE>"));
    }

    #[test]
    fn flags_are_seen_before_the_line_is_read_and_not_behind_two_dashes() {
        let args = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert!(wants(&args("the-loop x --json"), "--json"));
        assert!(!wants(&args("the-loop x -- --json"), "--json"));
        assert!(!wants(&args("--json x"), "--json"));
    }
}
