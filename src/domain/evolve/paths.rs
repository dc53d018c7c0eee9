//! Which files a change may touch, and what a suite may be called with: nothing outside, and nothing of an agent's own.

use super::rules::Refusal;
use crate::domain::text::is_unseen;

/// Folders in which agents, git and this program keep their own, in lower case.
const OWN: [&str; 28] = [
    ".agents",
    ".aider",
    ".amazonq",
    ".amp",
    ".augment",
    ".claude",
    ".cline",
    ".codeium",
    ".codex",
    ".config",
    ".continue",
    ".copilot",
    ".crush",
    ".cursor",
    ".factory",
    ".gemini",
    ".git",
    ".goose",
    ".junie",
    ".kilocode",
    ".kiro",
    ".local",
    ".loop",
    ".opencode",
    ".qwen",
    ".roo",
    ".the-loop",
    ".windsurf",
];

/// A path below the root that a change may be for.
///
/// # Errors
/// It leads outside, or into an agent's own folder.
pub fn target(path: &str) -> Result<String, Refusal> {
    let is_below = !path.starts_with(['/', '~']) && !path.contains(['\\']) && !path.contains(char::is_control);
    if !is_below || path.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err(Refusal::Traversal(path.to_owned()));
    }
    match path.split('/').any(|part| OWN.contains(&&*folded(part))) {
        true => Err(Refusal::AgentFolder(path.to_owned())),
        false => Ok(path.to_owned()),
    }
}

/// A name as file systems that do not tell case apart, and look past characters that nobody sees, know it.
fn folded(part: &str) -> String {
    let seen = part.chars().filter(|c| !is_unseen(*c)).flat_map(char::to_lowercase);
    // The long s has no upper case of its own and is one with the short one; the sign of Kelvin is lower cased above.
    let folded: String = seen.map(|c| if c == '\u{17f}' { 's' } else { c }).collect();
    folded.trim_end_matches(['.', ' ']).to_owned()
}

/// Whether what was changed lies within the targets of the proposal.
///
/// # Errors
/// Nothing was changed, or something else was.
pub fn check_changed(changed: &[String], targets: &[String]) -> Result<(), Refusal> {
    if changed.is_empty() {
        return Err(Refusal::Patch("it changes nothing".into()));
    }
    for path in changed {
        target(path)?;
        let is_within =
            |target: &String| path == target || path.strip_prefix(target).is_some_and(|rest| rest.starts_with('/'));
        if !targets.iter().any(is_within) {
            return Err(Refusal::OutsideTargets(path.clone()));
        }
    }
    Ok(())
}

/// Whether a suite stays on its side: no argument leads out of the folder it is run in, or into the active repository.
///
/// # Errors
/// Which argument does.
pub fn check_argv(argv: &[String], root: &str) -> Result<(), Refusal> {
    if argv.is_empty() {
        return Err(Refusal::NoSuite);
    }
    for argument in argv {
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '+' | '@' | '~');
        let climbs = argument.split(|c| !is_word(c)).any(|part| part == "..");
        if climbs || (root.len() > 1 && names_folder(argument, root)) {
            return Err(Refusal::Traversal(argument.clone()));
        }
    }
    Ok(())
}

/// Whether a text names this folder or something below it, however many `/` and `/.` are between.
fn names_folder(text: &str, folder: &str) -> bool {
    let mut plain = text.to_owned();
    for (long, short) in [("/./", "/"), ("//", "/")] {
        while plain.contains(long) {
            plain = plain.replace(long, short);
        }
    }
    let ends = |at: usize| !plain[at..].starts_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-'));
    plain.match_indices(folder).any(|(at, _)| ends(at + folder.len()))
}
