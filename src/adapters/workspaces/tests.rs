//! Directories of work items over real repositories: a hub of bare ones that addresses of github.com lead to.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use rstest::rstest;

use super::*;
use crate::domain::workspace::branch;

/// A machine with a hub, an operator's repository and settings of its own for git.
struct Ground {
    dir: tempfile::TempDir,
}

impl Ground {
    fn new() -> Self {
        let ground = Self { dir: tempfile::tempdir().unwrap() };
        let hub = ground.path("hub");
        let config = format!(
            "[user]\n\tname = t\n\temail = t@example.org\n[init]\n\tdefaultBranch = main\n[url \"{}/\"]\n\tinsteadOf = \
             https://github.com/\n\tinsteadOf = gh:\n[advice]\n\tdetachedHead = false\n",
            hub.display()
        );
        fs::write(ground.path("gitconfig"), config).unwrap();
        ground.publish("octo/hello");
        ground
    }

    /// A ground whose home is a checkout of `octo/hello`.
    fn at_home() -> Self {
        let ground = Self::new();
        ground.git(".", &["clone", "-q", "https://github.com/octo/hello.git", "home"]);
        ground
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn environment(&self) -> Vec<(OsString, OsString)> {
        let set = |name: &str, value: OsString| (OsString::from(name), value);
        vec![
            set("PATH", std::env::var_os("PATH").unwrap()),
            set("HOME", self.dir.path().into()),
            set("GIT_CONFIG_GLOBAL", self.path("gitconfig").into()),
            set("GIT_CONFIG_NOSYSTEM", "1".into()),
        ]
    }

    fn git(&self, dir: impl AsRef<Path>, args: &[&str]) -> String {
        let dir = self.dir.path().join(dir);
        let output = Command::new("git").env_clear().envs(self.environment()).current_dir(&dir).args(args).output();
        let output = output.unwrap();
        assert!(output.status.success(), "git {args:?} in {}: {output:?}", dir.display());
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// A repository on the hub with one commit.
    fn publish(&self, name: &str) {
        let (bare, work) = (format!("hub/{name}.git"), format!("work-{}", name.replace('/', "-")));
        fs::create_dir_all(self.path("hub").join(name).parent().unwrap()).unwrap();
        self.git(".", &["init", "-q", "--bare", &bare]);
        self.git(".", &["init", "-q", &work]);
        fs::write(self.path(&work).join("README"), name).unwrap();
        self.git(&work, &["add", "."]);
        self.git(&work, &["commit", "-qm", name]);
        self.git(&work, &["push", "-q", self.path(&bare).to_str().unwrap(), "main"]);
    }

    fn config(&self) -> WorkspacesConfig {
        WorkspacesConfig {
            clones: false,
            home: self.path("home"),
            root: None,
            worktrees_dir: self.path("local/worktrees"),
            clones_dir: self.path("local/clones"),
            protocol: CloneProtocol::Https,
            environment: self.environment(),
            pass: Vec::new(),
        }
    }

    fn worktrees(&self) -> GitWorkspaces {
        GitWorkspaces::new(self.config())
    }

    fn rooted(&self) -> GitWorkspaces {
        GitWorkspaces::new(WorkspacesConfig { root: Some(self.path("src")), ..self.config() })
    }

    fn clones(&self) -> GitWorkspaces {
        GitWorkspaces::new(WorkspacesConfig { clones: true, ..self.config() })
    }
}

fn item(text: &str) -> WorkItemRef {
    WorkItemRef::parse(text).unwrap()
}

fn seven() -> WorkItemRef {
    item("github:octo/hello#7")
}

/// As a lane does it: who finds the repository taken comes again.
fn patiently(workspaces: &GitWorkspaces, item: &WorkItemRef) -> PathBuf {
    for _ in 0..200 {
        match workspaces.prepare(item, None) {
            Err(WorkspaceError::Busy(_)) => {}
            made => return made.unwrap(),
        }
    }
    panic!("{item} never had its turn");
}

#[test]
fn a_worktree_has_its_own_branch_from_the_default_one_of_the_remote_and_is_made_once() {
    let ground = Ground::at_home();
    ground.git("home", &["checkout", "-qb", "somewhere-else"]);
    ground.git("home", &["commit", "-q", "--allow-empty", "-m", "not pushed"]);
    let workspaces = ground.worktrees();
    let path = workspaces.prepare(&seven(), None).unwrap();
    assert_eq!(path, ground.path("local/worktrees/github-octo-hello-7"));
    assert_eq!(ground.git(&path, &["symbolic-ref", "HEAD"]), "refs/heads/loop/github-octo-hello-7");
    assert_eq!(ground.git(&path, &["rev-parse", "HEAD"]), ground.git("home", &["rev-parse", "origin/main"]));
    fs::write(path.join("notes"), "mine").unwrap();
    assert_eq!(workspaces.prepare(&seven(), Some(&path)).unwrap(), path);
    assert_eq!(workspaces.prepare(&item("github:Octo/Hello#7"), None).unwrap(), path, "case is no other item");
    assert!(path.join("notes").exists());
    let found = workspaces.checkouts();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(matches!(&found[0].state, CheckoutState::Ready(of) if of.key() == seven().key()), "{found:?}");
}

#[rstest]
#[case::worktrees_of_home(false, false)]
#[case::worktrees_of_a_clone(true, false)]
#[case::clones(false, true)]
fn k44_first_spawns_at_the_same_time_get_sound_directories_of_their_own(#[case] root: bool, #[case] clones: bool) {
    let ground = Ground::at_home();
    let root = root.then(|| ground.path("src"));
    let config = WorkspacesConfig { clones, root, ..ground.config() };
    let paths: Vec<PathBuf> = std::thread::scope(|scope| {
        let spawn = |number: u64| {
            let config = config.clone();
            let own = item(&format!("github:octo/hello#{}", number / 2));
            // Two of the same item too, each with a look of its own, as two processes have it.
            scope.spawn(move || patiently(&GitWorkspaces::new(config), &own))
        };
        let all: Vec<_> = (2..10).map(spawn).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    for pair in paths.chunks(2) {
        assert_eq!(pair[0], pair[1]);
        assert_eq!(ground.git(&pair[0], &["status", "--porcelain"]), "");
        ground.git(&pair[0], &["fsck", "--strict"]);
    }
    let mut different = paths.clone();
    different.dedup();
    assert_eq!(different.len(), 4, "{paths:?}");
}

#[test]
fn k44_equal_slugs_do_not_share_a_directory_or_a_branch() {
    let ground = Ground::at_home();
    ground.publish("a/b-c");
    ground.publish("a-b/c");
    let workspaces = ground.rooted();
    let (one, other) = (item("github:a/b-c#1"), item("github:a-b/c#1"));
    let paths = [&one, &other].map(|item| workspaces.prepare(item, None).unwrap());
    assert_ne!(paths[0], paths[1]);
    for (path, name) in paths.iter().zip(["a/b-c", "a-b/c"]) {
        assert_eq!(fs::read_to_string(path.join("README")).unwrap(), name);
    }
    assert!(ground.path("src/github.com/a/b-c").is_dir(), "cloned once, where it is looked for");
    // Whichever goes first, the other keeps its own.
    ground.git(&paths[0], &["status"]);
    assert!(matches!(workspaces.tidy(&one, None), Ok(Tidied::Removed(path)) if path == paths[0]));
    assert_eq!(workspaces.prepare(&other, None).unwrap(), paths[1]);
}

#[test]
fn k44_a_worktree_that_was_begun_and_not_finished_is_made_again() {
    let ground = Ground::at_home();
    let workspaces = ground.worktrees();
    let base = ground.path("local/worktrees");
    let name = &names(&seven())[0];
    let place = base.join(name);
    fs::create_dir_all(&base).unwrap();
    let begun = |what: &str| {
        places::note(&base, name, &seven()).unwrap();
        if what != "noted" {
            ground.git("home", &["worktree", "add", "-q", "-B", &branch(name), place.to_str().unwrap(), "origin/main"]);
        }
        match what {
            // What a killed `git worktree add` leaves: locked, files missing.
            "locked" => {
                ground.git("home", &["worktree", "lock", place.to_str().unwrap()]);
                fs::remove_file(place.join("README")).unwrap();
            }
            "without-dot-git" => fs::remove_file(place.join(".git")).unwrap(),
            _ => {}
        }
    };
    for what in ["noted", "added", "locked", "without-dot-git"] {
        begun(what);
        let listed = workspaces.checkouts();
        assert_eq!(listed, [half_made(place.clone())], "{what}");
        assert_eq!(workspaces.prepare(&seven(), None).unwrap(), place, "{what}");
        assert!(place.join("README").exists(), "{what}");
        assert_eq!(workspaces.ready(&place), Some(seven()), "{what}");
        assert_eq!(workspaces.checkouts().len(), 1, "{what}: no note is left");
        assert!(matches!(workspaces.tidy(&seven(), None), Ok(Tidied::Removed(_))), "{what}");
    }
}

#[rstest]
#[case::once_for_all(false, "src/github.com/octo/.hello.making")]
#[case::per_item(true, "src/.github-octo-hello-7.making")]
fn k44_a_clone_that_was_begun_and_not_finished_is_never_trusted(#[case] clones: bool, #[case] making: &str) {
    let ground = Ground::at_home();
    let making = ground.path(making);
    fs::create_dir_all(making.join(".git/objects")).unwrap();
    fs::write(making.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let workspaces = GitWorkspaces::new(WorkspacesConfig { clones, root: Some(ground.path("src")), ..ground.config() });
    assert!(workspaces.checkouts().iter().any(|found| found.state == CheckoutState::HalfMade));
    let path = workspaces.prepare(&seven(), None).unwrap();
    assert_eq!(fs::read_to_string(path.join("README")).unwrap(), "octo/hello");
    assert!(!making.exists());
}

#[test]
fn a_branch_that_is_there_is_used_and_never_moved() {
    let ground = Ground::at_home();
    let own = branch(&names(&seven())[0]);
    ground.git("home", &["checkout", "-qb", &own]);
    ground.git("home", &["commit", "-q", "--allow-empty", "-m", "work of before"]);
    let tip = ground.git("home", &["rev-parse", "HEAD"]);
    let workspaces = ground.worktrees();
    let error = workspaces.prepare(&seven(), None).unwrap_err();
    assert!(matches!(&error, WorkspaceError::Failed(said) if said.contains("is checked out at")), "{error}");
    assert!(workspaces.checkouts().is_empty(), "nothing is left of the try");
    ground.git("home", &["checkout", "-q", "main"]);
    let path = workspaces.prepare(&seven(), None).unwrap();
    assert_eq!(ground.git(&path, &["rev-parse", "HEAD"]), tip);
    // Somebody removed the directory: it is made again, on its branch, and nothing else is forgotten.
    ground.git("home", &["worktree", "add", "-q", "../theirs"]);
    fs::rename(ground.path("theirs"), ground.path("unplugged")).unwrap();
    fs::remove_dir_all(&path).unwrap();
    assert_eq!(workspaces.prepare(&seven(), Some(&path)).unwrap(), path);
    assert_eq!(ground.git(&path, &["rev-parse", "HEAD"]), tip);
    fs::rename(ground.path("unplugged"), ground.path("theirs")).unwrap();
    ground.git("theirs", &["status"]);
}

#[test]
fn a_fork_branches_from_the_default_branch_of_the_remote_that_is_the_items() {
    let ground = Ground::new();
    ground.publish("mona/hello");
    ground.git(".", &["clone", "-q", "https://github.com/mona/hello.git", "home"]);
    let workspaces = ground.worktrees();
    let error = workspaces.prepare(&seven(), None).unwrap_err();
    assert!(matches!(error, WorkspaceError::None(_)), "{error}");
    ground.git("home", &["remote", "add", "upstream", "gh:octo/hello.git"]);
    let error = workspaces.prepare(&seven(), None).unwrap_err().to_string();
    assert!(error.contains("github:octo/hello"), "u05: a path is nobody's: {error}");
    ground.git("home", &["remote", "set-url", "upstream", "https://github.com/octo/hello.git"]);
    let error = workspaces.prepare(&seven(), None).unwrap_err().to_string();
    assert!(error.contains("no default branch of its remote `upstream`"), "{error}");
    ground.git("home", &["fetch", "-q", "upstream"]);
    let path = workspaces.prepare(&seven(), None).unwrap();
    assert_eq!(ground.git(&path, &["rev-parse", "HEAD"]), ground.git("home", &["rev-parse", "upstream/main"]));
    assert_ne!(ground.git(&path, &["rev-parse", "HEAD"]), ground.git("home", &["rev-parse", "origin/main"]));
}

#[test]
fn without_a_repository_the_refusal_names_the_settings_that_help() {
    let ground = Ground::new();
    fs::create_dir(ground.path("home")).unwrap();
    let nowhere = ground.worktrees();
    fs::create_dir_all(ground.path("src/github.com/octo/hello/theirs")).unwrap();
    let occupied = ground.rooted();
    for (workspaces, words) in [
        (&nowhere, ["routing.workspace.root", "routing.workspace.strategy: shared"]),
        (&occupied, ["is no git repository", "routing.workspace.root"]),
    ] {
        let error = workspaces.prepare(&seven(), None).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, WorkspaceError::None(_)) && text.starts_with("no-workspace: "), "{text}");
        assert!(words.iter().all(|word| text.contains(word)), "{text}");
    }
    assert!(
        !nowhere.trouble(&[]).is_empty()
            && occupied.trouble(&[]).is_empty()
            && Ground::at_home().worktrees().trouble(&[]).is_empty()
    );
    assert!(ground.path("src/github.com/octo/hello/theirs").exists());
}

#[test]
fn u03_a_clone_that_fails_tells_no_credential_and_is_tried_again() {
    let ground = Ground::at_home();
    let config = ground.path("gitconfig");
    let text = fs::read_to_string(&config).unwrap();
    let secret = "http://someone:a-token@127.0.0.1:9/";
    fs::write(&config, text.replace(&format!("{}/", ground.path("hub").display()), secret)).unwrap();
    let error = ground.rooted().prepare(&seven(), None).unwrap_err();
    let said = error.to_string();
    assert!(matches!(error, WorkspaceError::Failed(_)) && said.contains("could not clone"), "{said}");
    assert!(!said.contains("a-token") && !said.contains("someone"), "{said}");
    assert!(ground.rooted().checkouts().is_empty(), "nothing is left of it");
    fs::write(&config, text).unwrap();
    assert!(ground.rooted().prepare(&seven(), None).is_ok());
}

#[test]
fn hooks_of_the_repository_are_not_run() {
    let ground = Ground::at_home();
    let hook = ground.path("home/.git/hooks/post-checkout");
    fs::write(&hook, format!("#!/bin/sh\ntouch {}\n", ground.path("ran").display())).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&hook, mode).unwrap();
    ground.worktrees().prepare(&seven(), None).unwrap();
    assert!(!ground.path("ran").exists());
}

/// What an agent left in its directory, and the word for what keeps it; none when nothing does.
#[rstest]
#[case::clean_and_pushed("", None)]
#[case::pushed("commit push", None)]
#[case::ignored_files("ignored", None)]
#[case::changed("change", Some("changed"))]
#[case::staged("change stage", Some("changed"))]
#[case::untracked("untracked", Some("untracked"))]
#[case::hidden("change assume", Some("hidden"))]
#[case::unpushed("commit", Some("unpushed"))]
#[case::detached("detach commit", Some("unpushed"))]
#[case::rebase("rebase", Some("under-way"))]
#[case::stashed("change stash", Some("stashed"))]
#[case::nested("nested", Some("nested"))]
#[case::repository("repository", Some("nested"))]
fn only_what_is_clean_and_pushed_is_removed(
    #[case] left: &str,
    #[case] want: Option<&str>,
    #[values(false, true)] clones: bool,
) {
    let ground = Ground::at_home();
    let workspaces = if clones { ground.clones() } else { ground.worktrees() };
    let path = workspaces.prepare(&seven(), None).unwrap();
    let git = |args: &[&str]| ground.git(&path, args);
    let exclude = |name: &str| {
        let file = path.join(git(&["rev-parse", "--path-format=absolute", "--git-path", "info/exclude"]));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, format!("{name}\n")).unwrap();
    };
    for step in left.split_whitespace() {
        match step {
            "change" => fs::write(path.join("README"), "other").unwrap(),
            "stage" => drop(git(&["add", "-A"])),
            "assume" => drop(git(&["update-index", "--assume-unchanged", "README"])),
            "untracked" => fs::write(path.join("notes"), "mine").unwrap(),
            "commit" => drop(git(&["commit", "-q", "--allow-empty", "-m", "work"])),
            "push" => drop(git(&["push", "-q", "origin", "HEAD"])),
            "detach" => drop(git(&["checkout", "-q", "--detach"])),
            "stash" => drop(git(&["stash"])),
            "rebase" => fs::create_dir(places::git_dir(&path).unwrap().join("rebase-merge")).unwrap(),
            "ignored" => {
                exclude("target");
                fs::create_dir(path.join("target")).unwrap();
                fs::write(path.join("target/out"), "").unwrap();
            }
            "nested" => {
                exclude("trees");
                drop(git(&["worktree", "add", "-q", "--detach", "trees/one"]));
            }
            "repository" => {
                exclude("vendor");
                drop(git(&["init", "-q", "vendor"]));
            }
            other => panic!("{other}"),
        }
    }
    let keeps = workspaces.keeps(&path).unwrap();
    assert_eq!(keeps.as_ref().map(Keep::as_str), want);
    let tidied = workspaces.tidy(&seven(), Some(&path)).unwrap();
    match want {
        None => {
            assert_eq!(tidied, Tidied::Removed(path.clone()));
            assert!(!path.exists() && workspaces.checkouts().is_empty());
            assert_eq!(workspaces.tidy(&seven(), Some(&path)).unwrap(), Tidied::Nothing, "and again");
            assert_eq!(workspaces.prepare(&seven(), Some(&path)).unwrap(), path, "a later start has it again");
        }
        Some(_) => assert_eq!(tidied, Tidied::Kept { path: path.clone(), why: keeps.unwrap() }),
    }
    assert!(path.exists());
}

#[test]
fn nothing_outside_the_root_is_removed_and_no_link_is_followed() {
    let ground = Ground::at_home();
    let workspaces = ground.worktrees();
    let path = workspaces.prepare(&seven(), None).unwrap();
    // Its directory was moved away and a link put in its place.
    let elsewhere = ground.path("elsewhere");
    ground.git("home", &["worktree", "move", path.to_str().unwrap(), elsewhere.to_str().unwrap()]);
    symlink(&elsewhere, &path).unwrap();
    assert_eq!(workspaces.tidy(&seven(), Some(&path)).unwrap(), Tidied::Nothing);
    assert_eq!(workspaces.tidy(&seven(), Some(&elsewhere)).unwrap(), Tidied::Nothing);
    assert_eq!(workspaces.keeps(&path).unwrap(), Some(Keep::Outside));
    assert!(elsewhere.join("README").exists() && path.is_symlink());
    // One that points at a repository of somebody else is not taken for ours.
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    fs::write(path.join(".git"), format!("gitdir: {}\n", ground.path("home/.git").display())).unwrap();
    assert_eq!(workspaces.tidy(&seven(), Some(&path)).unwrap(), Tidied::Nothing);
    assert!(ground.path("home/README").exists());
}

#[test]
fn an_item_that_got_another_name_keeps_its_directory_and_the_old_name_is_free() {
    let ground = Ground::at_home();
    let workspaces = ground.worktrees();
    let path = workspaces.prepare(&seven(), None).unwrap();
    let renamed = item("github:octo/world#7");
    assert_eq!(workspaces.prepare(&renamed, Some(&path)).unwrap(), path);
    let error = workspaces.prepare(&seven(), None).map(|other| assert_ne!(other, path)).err();
    assert!(error.is_none(), "{error:?}");
    assert!(matches!(workspaces.tidy(&renamed, Some(&path)), Ok(Tidied::Removed(_))));
}

#[test]
fn repositories_that_no_remote_leads_to_are_named_before_anything_is_started() {
    let ground = Ground::at_home();
    let repositories = ["github:octo/hello", "github:octo/other"].map(|repo| RepoRef::parse(repo).unwrap());
    let trouble = ground.worktrees().trouble(&repositories);
    assert!(trouble.len() == 1 && trouble[0].contains("github:octo/other"), "{trouble:?}");
    assert_eq!(ground.rooted().trouble(&repositories), Vec::<String>::new());
    ground.git("home", &["remote", "remove", "origin"]);
    let trouble = ground.worktrees().trouble(&[]);
    assert!(trouble.len() == 1 && trouble[0].contains("has no remote"), "{trouble:?}");
}
