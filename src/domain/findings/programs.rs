//! Programs the product starts: tmux and the harnesses.

use super::Finding;

/// The oldest tmux this was written against.
const TMUX: (u32, u32) = (3, 3);

/// Whether the tmux that says `said` to `-V` is recent enough.
pub fn tmux(said: &str) -> Finding {
    match version(said) {
        Some(found) if found < TMUX => {
            Finding::error("tmux.old", format!("`{said}` is older than tmux {}.{}", TMUX.0, TMUX.1))
                .because("deliveries need conditions that it does not have")
                .todo("install tmux 3.3 or later")
        }
        Some(_) => Finding::ok("tmux.version", said),
        None => Finding::note("tmux.version", format!("`{said}` names no version that is known here")),
    }
}

/// tmux that cannot be run.
pub fn no_tmux(why: &str) -> Finding {
    Finding::error("tmux.missing", format!("could not run `tmux`: {why}"))
        .because("agents live in tmux: nothing is delivered or started without it")
        .todo("install tmux 3.3 or later, or put it into the daemon's `PATH`")
}

/// No tmux wanted: new sessions need none.
pub fn tmux_unused() -> Finding {
    Finding::note("tmux.unused", "not used for new sessions: each delivery is a process of its own")
        .because("`routing.runner` is `process`, or `auto` without a `tmux` in `PATH`")
}

/// A harness whose program is not there. `is_default` tells whether new sessions get it.
pub fn no_harness(name: &str, binary: &str, is_default: bool) -> Finding {
    let what = format!("the program of the harness `{name}` is not there: `{binary}`");
    let finding = match is_default {
        true => Finding::error("configuration.no-harness", what).because("no session can be started with it"),
        false => Finding::warning("configuration.no-harness", what).because("its sessions cannot be started again"),
    };
    finding.todo("install it, put it into the daemon's `PATH`, or correct `routing.harnesses`")
}

/// Major and minor number in `tmux 3.3a`, `tmux next-3.6`.
fn version(said: &str) -> Option<(u32, u32)> {
    let numbers = said.strip_prefix("tmux ")?.trim_start_matches(|c: char| !c.is_ascii_digit());
    let (major, minor) = numbers.split_once('.')?;
    let minor: String = minor.chars().take_while(char::is_ascii_digit).collect();
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_tmux_is_named() {
        for (said, want) in [
            ("tmux 3.3a", "tmux.version"),
            ("tmux 3.10", "tmux.version"),
            ("tmux next-3.6", "tmux.version"),
            ("tmux 4.0-rc", "tmux.version"),
            ("tmux 3.2a", "tmux.old"),
            ("tmux 2.9", "tmux.old"),
        ] {
            assert_eq!((tmux(said).id, tmux(said).is_bad()), (want, want == "tmux.old"), "{said}");
        }
        assert!(!tmux("tmux openbsd").is_bad());
    }
}
