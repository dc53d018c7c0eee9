//! Which files a change may touch, and what a suite may be called with: nothing outside, and nothing of an agent's own.

use super::rules::Refusal;

/// Folders in which agents, git and this program keep their own.
const OWN: [&str; 11] = [
    ".agents",
    ".claude",
    ".codex",
    ".config",
    ".cursor",
    ".gemini",
    ".git",
    ".loop",
    ".opencode",
    ".the-loop",
    ".local",
];

/// A path below the root that a change may be for.
///
/// # Errors
/// It leads outside, or into an agent's own folder.
pub fn target(path: &str) -> Result<String, Refusal> {
    let is_below = !path.starts_with(['/', '~']) && !path.contains(['\\', '\0', '\n']);
    if !is_below || path.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err(Refusal::Traversal(path.to_owned()));
    }
    match path.split('/').any(|part| OWN.iter().any(|own| part.eq_ignore_ascii_case(own))) {
        true => Err(Refusal::AgentFolder(path.to_owned())),
        false => Ok(path.to_owned()),
    }
}

/// Looks at a patch before git does: no path of it leads outside, and it makes no link and no submodule.
///
/// # Errors
/// Which line does.
pub fn check_patch(patch: &str) -> Result<(), Refusal> {
    if !patch.lines().any(|line| line.starts_with("diff --git ")) {
        return Err(Refusal::Patch("it is no change as `git diff` writes it".into()));
    }
    for line in patch.lines() {
        let is_name = ["--- ", "+++ ", "rename ", "copy ", "diff --git "].iter().any(|head| line.starts_with(head));
        if is_name && line.split(['/', ' ', '"', '\t']).any(|part| part == "..") {
            return Err(Refusal::Traversal(line.to_owned()));
        }
        let is_mode = ["new file mode ", "new mode "].iter().find_map(|head| line.strip_prefix(head));
        if matches!(is_mode, Some("120000" | "160000")) {
            return Err(Refusal::Patch("it makes a link or a submodule".into()));
        }
    }
    Ok(())
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
        let climbs = argument.split(['/', '=', ':']).any(|part| part == "..");
        if climbs || (root.len() > 1 && argument.contains(root)) {
            return Err(Refusal::Traversal(argument.clone()));
        }
    }
    Ok(())
}
