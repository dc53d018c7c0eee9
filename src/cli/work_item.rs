//! Work items on the command line: references, `#15` and `15` for the repository at hand, and addresses.

use std::path::{Path, PathBuf};

use crate::domain::config::Config;
use crate::domain::reference::{RepoRef, WorkItemRef};
use crate::domain::remote::Remote;

use super::context::Setup;
use super::exit::{Failure, Kind};

/// One work item: `REF`, or `--work-item REF` as the earlier system spells it.
#[derive(Debug, Clone, clap::Args)]
#[group(required = true, multiple = false)]
pub struct WorkItemArg {
    /// The work item: `github:owner/repo#15`, `owner/repo#15`, its address, or `15` in the repository at hand
    #[arg(value_name = "REF", id = "reference")]
    reference: Option<String>,
    /// The same as `REF`
    #[arg(long = "work-item", value_name = "REF")]
    work_item: Option<String>,
}

impl WorkItemArg {
    /// The item that was meant.
    pub fn resolve(&self, setup: &Setup) -> Result<WorkItemRef, Failure> {
        let text = self.reference.as_deref().or(self.work_item.as_deref()).unwrap_or_default();
        resolve(text, || at_hand(&setup.config, &setup.home.dir))
    }
}

/// Any number of work items, in the order of the line.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct WorkItemArgs {
    /// The work items, each as `github:owner/repo#15`, `owner/repo#15`, an address, or `15`
    #[arg(value_name = "REF", id = "references")]
    references: Vec<String>,
    /// The same as `REF`; may be repeated
    #[arg(long = "work-item", value_name = "REF")]
    work_items: Vec<String>,
}

impl WorkItemArgs {
    /// Whether none was named.
    pub fn is_empty(&self) -> bool {
        self.references.is_empty() && self.work_items.is_empty()
    }

    /// The items that were meant.
    pub fn resolve(&self, setup: &Setup) -> Result<Vec<WorkItemRef>, Failure> {
        let all = self.references.iter().chain(&self.work_items);
        all.map(|text| resolve(text, || at_hand(&setup.config, &setup.home.dir))).collect()
    }
}

/// Reads a work item as people write it. `at_hand` is asked only for a bare number.
pub fn resolve(text: &str, at_hand: impl FnOnce() -> Result<RepoRef, Failure>) -> Result<WorkItemRef, Failure> {
    let text = text.trim();
    let wrong = |error: &dyn std::fmt::Display| {
        Failure::new(Kind::Usage, error.to_string()).hint("write `owner/repo#15`, or `15` in the repository at hand")
    };
    let number = text.strip_prefix('#').unwrap_or(text);
    if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) {
        // The one rule for numbers is the reference's own; the repository here only carries it.
        WorkItemRef::parse(&format!("github:o/r#{number}")).map_err(|_| {
            wrong(&format!("`{text}` is not a work item: the number is 1 to 9007199254740991, without leading zeros"))
        })?;
        return WorkItemRef::parse(&format!("{}#{number}", at_hand()?)).map_err(|error| wrong(&error));
    }
    if let Some(reference) = from_address(text) {
        return WorkItemRef::parse(&reference).map_err(|error| wrong(&error));
    }
    // The provider that was left out is not what is wrong with `owner/repo#0`.
    let is_short = text.contains('#') && !text.contains(':');
    WorkItemRef::parse(text).or_else(|error| {
        WorkItemRef::parse(&format!("github:{text}")).map_err(|short| wrong(if is_short { &short } else { &error }))
    })
}

/// `https://host/owner/repo/issues/15`, or `/pull/15`, with anything behind it.
fn from_address(text: &str) -> Option<String> {
    let rest = text.strip_prefix("https://")?;
    let rest = rest.split(['?', '#']).next()?;
    match rest.split('/').collect::<Vec<_>>().as_slice() {
        [host, owner, name, "issues" | "pull", number, ..] => Some(format!("github:{host}/{owner}/{name}#{number}")),
        _ => None,
    }
}

/// The repository at hand: the only one configured, else the one that `origin` of the configuration's home names.
pub fn at_hand(config: &Config, home: &Path) -> Result<RepoRef, Failure> {
    if let [only] = config.repositories.as_slice() {
        return Ok(only.clone());
    }
    let unknown = |why: String| {
        Failure::new(Kind::Usage, format!("there is no repository at hand: {why}"))
            .hint("write the whole reference, such as `owner/repo#15`")
    };
    let file = git_config(home).ok_or_else(|| unknown(format!("`{}` is in no git repository", home.display())))?;
    let text = std::fs::read_to_string(&file)
        .map_err(|error| unknown(format!("could not read `{}`: {error}", file.display())))?;
    let url = origin(&text).ok_or_else(|| unknown(format!("`{}` names no remote `origin`", file.display())))?;
    // The address may hold a password, so it is not shown.
    Remote::parse(&url)
        .and_then(|remote| remote.repository())
        .ok_or_else(|| unknown(format!("`origin` in `{}` is not on a host", file.display())))
}

/// The `config` of the repository that holds `dir`; in a worktree it is the main repository's.
fn git_config(dir: &Path) -> Option<PathBuf> {
    let dot_git = dir.ancestors().map(|dir| dir.join(".git")).find(|path| path.exists())?;
    if dot_git.is_dir() {
        return Some(dot_git.join("config"));
    }
    let text = std::fs::read_to_string(&dot_git).ok()?;
    let git_dir = dot_git.parent()?.join(text.strip_prefix("gitdir:")?.trim());
    let common = std::fs::read_to_string(git_dir.join("commondir")).unwrap_or_default();
    Some(git_dir.join(common.trim()).join("config"))
}

/// The first `url` of `[remote "origin"]`.
fn origin(config: &str) -> Option<String> {
    let mut inside = false;
    for line in config.lines().map(str::trim) {
        if line.starts_with('[') {
            let section = line.trim_start_matches('[').split(']').next().unwrap_or_default();
            let mut words = section.splitn(2, char::is_whitespace);
            let is_remote = words.next().is_some_and(|word| word.eq_ignore_ascii_case("remote"));
            inside = is_remote && words.next().map(str::trim) == Some("\"origin\"");
        } else if let Some((key, value)) = line.split_once('=').filter(|_| inside)
            && key.trim().eq_ignore_ascii_case("url")
        {
            let value = value.trim();
            return Some(value.strip_prefix('"').and_then(|v| v.strip_suffix('"')).unwrap_or(value).to_owned());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(text: &str) -> Result<String, Failure> {
        let at_hand = || Ok(RepoRef::parse("octo/hello").unwrap());
        resolve(text, at_hand).map(|item| item.to_string())
    }

    #[test]
    fn work_items_are_read_as_people_write_them() {
        for (text, want) in [
            ("15", "github:octo/hello#15"),
            ("#15", "github:octo/hello#15"),
            (" github:mona/x#1 ", "github:mona/x#1"),
            ("mona/x#1", "github:mona/x#1"),
            ("ghe.example/mona/x#1", "github:ghe.example/mona/x#1"),
            ("https://github.com/Mona/x/issues/7#issuecomment-1", "github:Mona/x#7"),
            ("https://ghe.example:8443/mona/x/pull/7/files?w=1", "github:ghe.example:8443/mona/x#7"),
        ] {
            assert_eq!(meant(text).as_deref(), Ok(want), "{text}");
        }
        for text in
            ["", "#", "0", "#0", "015", "-1", "9007199254740992", "mona/x", "x#1", "https://github.com/mona/x", "a b#1"]
        {
            assert_eq!(meant(text).map_err(|failure| failure.kind), Err(Kind::Usage), "{text}");
        }
        let said = meant("mona/x#0").unwrap_err().message;
        assert!(said.contains("number") && !said.contains("begins with"), "{said}");
    }

    #[test]
    fn origin_is_found_in_a_git_config_and_no_other_remote() {
        let config = "[core]\n\turl = no\n[remote \"upstream\"]\n\turl = u\n[Remote \"origin\"]\n\tfetch = +x\n\tURL = git@h.x:a/b\n";
        assert_eq!(origin(config).as_deref(), Some("git@h.x:a/b"));
        assert_eq!(origin("[remote \"origin2\"]\nurl=x\n"), None);
        assert_eq!(origin("[remote \"origin\"]\nurl = \"a b\"\n").as_deref(), Some("a b"));
    }

    #[test]
    fn the_repository_at_hand_is_the_configured_one_else_origin_also_from_a_worktree() {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let mut config = Config::default();
        let kind = |found: Result<RepoRef, Failure>| found.map(|repo| repo.to_string()).map_err(|f| f.kind);
        write("main/.git/config", "[remote \"origin\"]\n\turl = https://user:word@github.com/octo/hello\n");
        write("main/.git/worktrees/w/commondir", "../..\n");
        write("w/.git", "gitdir: ../main/.git/worktrees/w\n");
        for home in ["main", "main/sub", "w"] {
            std::fs::create_dir_all(dir.path().join(home)).unwrap();
            assert_eq!(kind(at_hand(&config, &dir.path().join(home))).as_deref(), Ok("github:octo/hello"), "{home}");
        }
        write("main/.git/config", "[remote \"origin\"]\n\turl = https://user:word@github.com/octo\n");
        let failure = at_hand(&config, &dir.path().join("main")).unwrap_err();
        assert!(!failure.message.contains("word"), "{failure:?}");
        config.repositories = vec![RepoRef::parse("mona/x").unwrap()];
        assert_eq!(kind(at_hand(&config, dir.path())).as_deref(), Ok("github:mona/x"));
    }
}
