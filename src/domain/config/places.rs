//! Where the paths in a configuration lead (`state` rules, section 2).

use std::path::{Path, PathBuf};

use super::Config;

/// What relative paths are relative to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    /// The configuration's home, absolute: the directory that holds the `.the-loop` folder the file lies in, else the
    /// file's own directory; without a file the repository's root, else the working directory.
    pub dir: PathBuf,
    /// The user's home, for paths that begin with `~/`.
    pub user: Option<PathBuf>,
}

impl Home {
    /// The home of a configuration file, by its absolute path; links are not followed, so that a file kept elsewhere and
    /// linked to its place counts where it is linked.
    pub fn of_file(file: &Path, user: Option<PathBuf>) -> Self {
        let dir = file.parent().unwrap_or(Path::new("/"));
        let dir = match dir.parent() {
            Some(above) if dir.file_name().is_some_and(|name| name == ".the-loop") => above,
            _ => dir,
        };
        Self { dir: dir.to_owned(), user }
    }

    /// The path a text of the configuration means: absolute as it is, `~/…` from the user's home, anything else from
    /// the configuration's home. Never from the working directory: two programs that read the same file agree.
    pub fn resolve(&self, text: &str) -> PathBuf {
        let path = match (text.strip_prefix("~/"), &self.user) {
            (Some(rest), Some(user)) => user.join(rest),
            _ if text == "~" => self.user.clone().unwrap_or_else(|| self.dir.join(text)),
            _ => self.dir.join(text),
        };
        // Takes out `.`; `..` stays, because it means the parent of a link's target.
        path.components().collect()
    }
}

impl Config {
    /// `state.root`.
    pub fn state_root(&self, home: &Home) -> PathBuf {
        home.resolve(&self.state.root)
    }

    /// Directory of the local store: `routing.registryDir`, else `<state.root>/local`.
    pub fn local_dir(&self, home: &Home) -> PathBuf {
        or_default(&self.routing.registry_dir, home, || self.state_root(home).join("local"))
    }

    /// The event log's file: `eventLog.path`, else `<state.root>/logs/events.jsonl`.
    pub fn event_log_file(&self, home: &Home) -> PathBuf {
        or_default(&self.event_log.path, home, || self.state_root(home).join("logs").join("events.jsonl"))
    }
}

fn or_default(text: &str, home: &Home, default: impl FnOnce() -> PathBuf) -> PathBuf {
    if text.is_empty() { default() } else { home.resolve(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_resolved_against_the_home_only() {
        let home = Home { dir: "/repo".into(), user: Some("/u".into()) };
        for (text, want) in [
            (".the-loop", "/repo/.the-loop"),
            ("./a/./b", "/repo/a/b"),
            ("/abs", "/abs"),
            ("~/x", "/u/x"),
            ("~", "/u"),
            ("~x", "/repo/~x"),
            ("../s", "/repo/../s"),
        ] {
            assert_eq!(home.resolve(text), Path::new(want), "{text}");
        }
    }

    #[test]
    fn k64_every_path_follows_the_state_root() {
        let home = Home { dir: "/repo".into(), user: None };
        let mut config = Config::default();
        config.state.root = "elsewhere".into();
        assert_eq!(config.state_root(&home), Path::new("/repo/elsewhere"));
        assert_eq!(config.local_dir(&home), Path::new("/repo/elsewhere/local"));
        assert_eq!(config.event_log_file(&home), Path::new("/repo/elsewhere/logs/events.jsonl"));
        config.routing.registry_dir = "reg".into();
        config.event_log.path = "/var/e.jsonl".into();
        assert_eq!(config.local_dir(&home), Path::new("/repo/reg"));
        assert_eq!(config.event_log_file(&home), Path::new("/var/e.jsonl"));
    }

    #[test]
    fn the_home_is_beside_the_folder() {
        for (file, want) in [
            ("/r/.the-loop/cli-config.yaml", "/r"),
            ("/r/conf/my.yaml", "/r/conf"),
            ("/my.yaml", "/"),
            ("/.the-loop/c.yaml", "/"),
        ] {
            assert_eq!(Home::of_file(Path::new(file), None).dir, Path::new(want), "{file}");
        }
    }
}
