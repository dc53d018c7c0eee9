//! What sessions see of the daemon's environment: a safe base set, and what the configuration names.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Variables a terminal program needs and that hold no secret. `TMUX_TMPDIR` says where tmux keeps its sockets.
const BASE: [&str; 20] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TERM",
    "COLORTERM",
    "TERMINFO",
    "TZ",
    "TMPDIR",
    "TMUX_TMPDIR",
    "XDG_RUNTIME_DIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
    "XDG_STATE_HOME",
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
];

/// The part of `environment` that tmux and what it starts may see.
///
/// `TMUX` and `TMUX_PANE` never pass, named or not: they would point at another server.
pub(super) fn for_sessions(environment: &[(OsString, OsString)], pass: &[String]) -> Vec<(OsString, OsString)> {
    let passes = |name: &str| {
        !matches!(name, "TMUX" | "TMUX_PANE")
            && (BASE.contains(&name) || name.starts_with("LC_") || pass.iter().any(|passed| passed == name))
    };
    environment.iter().filter(|(name, _)| name.to_str().is_some_and(passes)).cloned().collect()
}

/// Whether `program` names something executable, by itself or in the `PATH` of `environment`.
pub(super) fn can_run(program: &str, environment: &[(OsString, OsString)]) -> bool {
    let executable =
        |path: &Path| fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0);
    if program.contains('/') {
        return executable(Path::new(program));
    }
    let path = environment.iter().find(|(name, _)| name == "PATH");
    !program.is_empty()
        && path.is_some_and(|(_, dirs)| std::env::split_paths(dirs).any(|dir| executable(&dir.join(program))))
}

/// Whether the text is a variable's name: letters, digits and `_`, not beginning with a digit.
pub(super) fn is_variable_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(names: &[&str], pass: &[&str]) -> Vec<String> {
        let environment: Vec<_> = names.iter().map(|name| (OsString::from(name), OsString::from("v"))).collect();
        let pass: Vec<String> = pass.iter().map(|name| (*name).to_owned()).collect();
        for_sessions(&environment, &pass).into_iter().map(|(name, _)| name.into_string().unwrap()).collect()
    }

    #[test]
    fn k28_only_the_base_set_and_what_is_named_passes() {
        let all = ["PATH", "LC_ALL", "GITHUB_TOKEN", "THE_LOOP_WEBHOOK_SECRET", "TMUX", "TMUX_PANE", "MINE"];
        assert_eq!(seen(&all, &[]), ["PATH", "LC_ALL"]);
        assert_eq!(seen(&all, &["MINE", "TMUX"]), ["PATH", "LC_ALL", "MINE"]);
    }

    #[test]
    fn variable_names_are_words() {
        assert!(is_variable_name("GH_TOKEN2"));
        for bad in ["", "2A", "A B", "A=B", "A;", "*"] {
            assert!(!is_variable_name(bad), "{bad}");
        }
    }
}
