//! Tests of the search, the home and the secret, on real directories.

use std::fs;
use std::path::{Path, PathBuf};

use super::*;

/// A temporary tree: `repo/.git`, `repo/sub/deep`, `user`, `plain`.
struct Tree {
    dir: tempfile::TempDir,
}

impl Tree {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for path in ["repo/.git", "repo/sub/deep", "user", "plain"] {
            fs::create_dir_all(dir.path().join(path)).unwrap();
        }
        Self { dir }
    }

    fn path(&self, path: &str) -> PathBuf {
        fs::canonicalize(self.dir.path()).unwrap().join(path)
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn around(&self, cwd: &str) -> Surroundings {
        Surroundings { cwd: self.path(cwd), user_home: Some(self.path("user")), config_variable: None }
    }
}

fn config(root: &str) -> String {
    format!("state: {{root: {root}}}\n")
}

fn root_of(found: &Found) -> PathBuf {
    found.reading.config.state_root(&found.home)
}

#[test]
fn the_file_is_found_in_the_stated_order() {
    let tree = Tree::new();
    let mut around = tree.around("repo/sub/deep");
    assert!(load(None, &around).unwrap().file.is_none());
    let user = tree.write("user/.the-loop/cli-config.yaml", config("u"));
    assert_eq!(load(None, &around).unwrap().file, Some((user, Chosen::User)));
    let repo = tree.write("repo/.the-loop/cli-config.yaml", config("r"));
    assert_eq!(load(None, &around).unwrap().file, Some((repo, Chosen::Repository)));
    let near = tree.write("repo/sub/.the-loop/cli-config.yaml", config("n"));
    assert_eq!(load(None, &around).unwrap().file, Some((near, Chosen::Repository)));
    let env = tree.write("plain/env.yaml", config("e"));
    around.config_variable = Some(env.clone().into());
    assert_eq!(load(None, &around).unwrap().file, Some((env, Chosen::Variable)));
    let named = tree.write("repo/sub/deep/named.yaml", config("o"));
    assert_eq!(load(Some(Path::new("named.yaml")), &around).unwrap().file, Some((named, Chosen::Option)));
    around.config_variable = Some("".into());
    assert_eq!(load(None, &around).unwrap().file.map(|(_, chosen)| chosen), Some(Chosen::Repository));
}

#[test]
fn the_search_ends_at_the_repository_root_and_without_one_at_the_working_directory() {
    let tree = Tree::new();
    tree.write(".the-loop/cli-config.yaml", config("above"));
    for cwd in ["repo/sub", "plain"] {
        assert!(load(None, &tree.around(cwd)).unwrap().file.is_none(), "{cwd}");
    }
    fs::remove_dir(tree.path("repo/.git")).unwrap();
    tree.write("repo/.git", "gitdir: /elsewhere\n");
    tree.write("repo/.the-loop/cli-config.yaml", config("worktree"));
    assert!(load(None, &tree.around("repo/sub")).unwrap().file.is_some());
}

#[test]
fn k33_k70_a_file_in_the_directory_of_an_item_chooses_nothing_for_a_person_who_stands_in_it() {
    let tree = Tree::new();
    let own = tree.write("repo/.the-loop/cli-config.yaml", config("own"));
    let checkout = "repo/.the-loop/local/worktrees/github-octo-hello-7";
    let theirs = tree.write(&format!("{checkout}/.the-loop/cli-config.yaml"), config("theirs"));
    tree.write(&format!("{checkout}/sub/x"), "");
    tree.write(&format!("{checkout}/.git/HEAD"), "ref: refs/heads/x\n");
    let around = tree.around(&format!("{checkout}/sub"));
    assert_eq!(load(None, &around).unwrap().file, Some((theirs, Chosen::Repository)), "a repository like any other");
    tree.write(&format!("{checkout}/.git/the-loop-item"), "github:octo/hello#7\n");
    assert_eq!(load(None, &around).unwrap().file, Some((own.clone(), Chosen::Repository)));
    fs::remove_dir(tree.path("repo/.git")).unwrap();
    assert_eq!(load(None, &around).unwrap().file, Some((own.clone(), Chosen::Repository)), "without a repository too");
    fs::create_dir(tree.path("repo/.git")).unwrap();
    fs::remove_file(own).unwrap();
    let found = load(None, &around).unwrap();
    assert_eq!((found.file, found.home.dir), (None, tree.path("repo")));
}

#[test]
fn a_named_file_that_is_not_there_is_an_error_that_names_it() {
    let tree = Tree::new();
    let mut around = tree.around("repo");
    tree.write("repo/.the-loop/cli-config.yaml", config("r"));
    let said = load(Some(Path::new("no.yaml")), &around).unwrap_err().to_string();
    assert!(said.contains("repo/no.yaml") && said.contains("--config"), "{said}");
    around.config_variable = Some("gone.yaml".into());
    let said = load(None, &around).unwrap_err().to_string();
    assert!(said.contains("repo/gone.yaml") && said.contains("THE_LOOP_CLI_CONFIG"), "{said}");
}

#[test]
fn k33_a_file_in_the_checkout_never_chooses_for_a_session() {
    let tree = Tree::new();
    let own = tree.write("plain/.the-loop/cli-config.yaml", config("own"));
    tree.write("repo/.the-loop/cli-config.yaml", "state: {root: evil}\ngithub: {apiUrl: https://evil.example}\n");
    // What a session gets: the daemon's file in the variable, and a checkout with a file of its own to stand in.
    let around = Surroundings { config_variable: Some(own.into()), ..tree.around("repo/sub") };
    let found = load(None, &around).unwrap();
    assert_eq!(root_of(&found), tree.path("plain/own"));
    assert_eq!(found.reading.config.github.api_url, "https://api.github.com");
    // Not even when the daemon's own file is gone: that is an error, not another choice.
    fs::remove_file(tree.path("plain/.the-loop/cli-config.yaml")).unwrap();
    assert!(matches!(load(None, &around), Err(ConfigFileError::Missing { .. })));
}

#[test]
fn k64_one_file_means_the_same_paths_from_every_directory_and_by_every_name() {
    let tree = Tree::new();
    let file = tree.write("repo/.the-loop/cli-config.yaml", config("data"));
    std::os::unix::fs::symlink(tree.path("repo"), tree.path("link")).unwrap();
    let by_variable = |cwd: &str, value: PathBuf| {
        let around = Surroundings { config_variable: Some(value.into()), ..tree.around(cwd) };
        load(None, &around).unwrap()
    };
    let all = [
        load(None, &tree.around("repo")).unwrap(),
        load(None, &tree.around("repo/sub/deep")).unwrap(),
        load(Some(Path::new("../repo/./.the-loop/cli-config.yaml")), &tree.around("plain")).unwrap(),
        load(Some(Path::new(".the-loop/cli-config.yaml")), &tree.around("repo")).unwrap(),
        load(Some(Path::new("cli-config.yaml")), &tree.around("repo/.the-loop")).unwrap(),
        by_variable("plain", file),
        by_variable("user", tree.path("link/.the-loop/cli-config.yaml")),
    ];
    for found in all {
        assert_eq!(root_of(&found), tree.path("repo/data"), "{:?}", found.file);
        assert_eq!(found.reading.config.local_dir(&found.home), tree.path("repo/data/local"));
    }
}

#[test]
fn without_a_file_the_home_is_the_repository_root_else_the_working_directory() {
    let tree = Tree::new();
    for (cwd, home) in [("repo/sub/deep", "repo"), ("plain", "plain")] {
        let found = load(None, &tree.around(cwd)).unwrap();
        assert_eq!(found.home.dir, tree.path(home));
        assert_eq!(root_of(&found), tree.path(home).join(".the-loop"));
        assert!(found.reading.blank);
    }
}

#[test]
fn a_linked_file_counts_where_it_is_linked() {
    let tree = Tree::new();
    let kept = tree.write("plain/dotfiles/loop.yaml", config("s"));
    fs::create_dir_all(tree.path("user/.the-loop")).unwrap();
    std::os::unix::fs::symlink(kept, tree.path("user/.the-loop/cli-config.yaml")).unwrap();
    assert_eq!(root_of(&load(None, &tree.around("plain")).unwrap()), tree.path("user/s"));
}

#[test]
fn k53_what_cannot_be_read_is_an_error_and_never_the_defaults() {
    let tree = Tree::new();
    let at = "repo/.the-loop/cli-config.yaml";
    let said = || load(None, &tree.around("repo")).unwrap_err().to_string();
    tree.write(at, b"a: 1\nb: \xff\n");
    assert!(said().contains("line 2"), "{}", said());
    tree.write(at, " ".repeat(2 << 20));
    assert!(said().contains("larger"), "{}", said());
    tree.write(at, "routing: [\n");
    assert!(said().ends_with("has 1 problem"), "{}", said());
    fs::remove_file(tree.path(at)).unwrap();
    fs::create_dir(tree.path(at)).unwrap();
    assert!(said().contains("is a directory"), "{}", said());
    assert!(said().contains("cli-config.yaml"));
}

#[test]
fn w08_one_final_line_end_of_a_secret_file_is_dropped() {
    let tree = Tree::new();
    let home = Home { dir: tree.path("plain"), user: None };
    let mut config = Config::default();
    config.webhooks.gh_webhook.secret_file = "secret".into();
    let secret = |config: &Config, variable: Option<&str>| {
        let value = variable.map(OsString::from);
        webhook_secret(config, &home, |_| value.clone()).unwrap().map(|secret| secret.as_bytes().to_vec())
    };
    for (bytes, want) in [
        (" It's a Secret\n", Some(" It's a Secret")),
        ("a b\r\n", Some("a b")),
        ("a\n\n", Some("a\n")),
        ("a ", Some("a ")),
        ("\n", None),
        ("", None),
    ] {
        tree.write("plain/secret", bytes);
        assert_eq!(secret(&config, None).as_deref(), want.map(str::as_bytes), "{bytes:?}");
        assert_eq!(secret(&config, Some("")).as_deref(), want.map(str::as_bytes));
    }
    assert_eq!(secret(&config, Some("x\n")).as_deref(), Some(b"x\n".as_slice()));
    fs::remove_file(tree.path("plain/secret")).unwrap();
    let said = webhook_secret(&config, &home, |_| None).unwrap_err().to_string();
    assert!(said.contains("plain/secret") && said.contains("secretFile"), "{said}");
    config.webhooks.gh_webhook.secret_file.clear();
    assert_eq!(secret(&config, None), None);
    assert_eq!(format!("{:?}", Secret(b"hidden".to_vec())), "Secret(…)");
}
