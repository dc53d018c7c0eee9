//! Which project a run belongs to.

use std::fs;
use std::os::unix::fs::chown;

use super::{CHANGES, Project};

#[test]
fn a_run_of_another_project_is_refused_by_every_command_that_changes_something() {
    let project = Project::new();
    project.start();
    let before = project.bytes();
    project.git("remote set-url origin https://github.com/octo/other.git");
    for line in CHANGES.iter().filter(|line| !line.contains("start")).chain(&["run status", "run repair"]) {
        project.expect(line, 2);
        assert_eq!(project.bytes(), before, "{line}");
    }
    project.git("remote set-url origin git@github.com:Octo/Hello");
    project.expect("run pause", 0);
}

#[test]
fn u03_s06_no_user_part_of_an_address_is_ever_written_or_printed() {
    let project = Project::new();
    project.start();
    let plain = project.json()["identity"]["remote"].clone();
    let secret = ["hunter", "22p%40ss"].concat();
    project.git(&format!("remote set-url origin https://mona:{secret}@github.com/octo/hello"));
    for line in ["run checkpoint --stage 1", "run status", "run inspect", "run pause", "run resume"] {
        let ran = project.run(line);
        assert!(!ran.stdout.contains(&secret) && !ran.stderr.contains(&secret), "{line}: {ran:?}");
    }
    assert_eq!(project.json()["identity"]["remote"], plain);
    for entry in fs::read_dir(project.path(".loop")).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        assert!(!text.contains(&secret));
    }
}

#[test]
fn u05_the_raw_address_counts_unless_it_names_no_host() {
    let project = Project::new();
    project.start();
    let plain = project.json()["identity"]["remote"].clone();
    project.git("config url.git@gh-work:octo/.insteadOf https://github.com/octo/");
    project.expect("run checkpoint --stage 1", 0);
    assert_eq!(project.json()["identity"]["remote"], plain);
    project.git("config url.https://github.com/.insteadOf gh:");
    project.git("remote set-url origin gh:octo/hello");
    project.expect("run checkpoint --stage 2", 0);
    assert_eq!(project.json()["identity"]["remote"], plain);
}

#[test]
fn u08_without_a_host_the_path_counts() {
    for prepare in ["remote remove origin", "remote rename origin upstream", "remote set-url origin /srv/git/hello.git"]
    {
        let project = Project::new();
        project.git(prepare);
        project.start();
        assert_eq!(project.json()["identity"]["remote"]["kind"], "path", "{prepare}");
    }
    let project = Project::without_git();
    project.start();
    fs::create_dir(project.path("below")).unwrap();
    let mut below = project.command(assert_cmd::cargo::cargo_bin!("the-loop"));
    let below = below.args(["run", "pause"]).current_dir(project.path("below")).output().unwrap().status;
    assert!(below.success(), "the run of the folder above is found");
    assert_eq!(project.json()["status"], "PAUSED");
}

#[test]
fn u11_a_repository_that_git_refuses_is_an_error_and_never_one_without_a_remote() {
    let project = Project::new();
    project.start();
    let before = project.bytes();
    if chown(project.root(), Some(65_534), None).and_then(|()| chown(project.path(".git"), Some(65_534), None)).is_err()
    {
        eprintln!("skipped: only root can give a folder to another user");
        return;
    }
    for line in CHANGES.iter().filter(|line| !line.contains("start")).chain(&["run status"]) {
        let ran = project.expect(line, 2);
        assert!(ran.stderr.contains("dubious ownership") && ran.stderr.contains("safe.directory"), "{}", ran.stderr);
        assert_eq!(project.bytes(), before, "{line}");
    }
    project.command("git").args(["config", "--global", "safe.directory", "*"]).status().unwrap();
    project.expect("run pause", 0);
}

#[test]
fn a_repository_that_is_broken_is_not_taken_for_none() {
    let project = Project::without_git();
    fs::write(project.path(".git"), "gitdir: nowhere\n").unwrap();
    project.expect("run start --objective build", 2);
    assert!(!project.path(".loop").exists());
}
