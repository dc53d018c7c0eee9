//! Where agents work: a worktree or a clone each, over a hub of bare repositories that GitHub's addresses lead to.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value as Json;

use super::hub::{Delivery, LABEL, hello, reference};
use super::world::{PATIENCE, World};
use crate::payloads::{Item, Repo};
use crate::support::wait_for;

/// A server of repositories below `slow/` that says when somebody comes and answers once `gate` is there.
const SERVE: &str = "#!/bin/sh
echo $$ >> @/came
n=0
while [ ! -e @/gate ] && [ $n -lt 1200 ]; do sleep 0.05; n=$((n+1)); done
exec \"$1\" \"@/hub/slow/$2\"
";

impl World {
    /// A machine whose repository is a checkout of `octo/hello`, with a hub that has that and `slow/repo`.
    fn with_hub(routing: &str) -> Self {
        let world = Self::asleep(routing);
        let root = world.path("").to_str().unwrap().trim_end_matches('/').to_owned();
        let serve = world.path("serve");
        fs::write(&serve, SERVE.replace('@', &root)).unwrap();
        fs::set_permissions(&serve, fs::Permissions::from_mode(0o755)).unwrap();
        let config = format!(
            "[user]\n\tname = t\n\temail = t@example.org\n[init]\n\tdefaultBranch = main\n\
             [url \"{root}/hub/\"]\n\tinsteadOf = https://github.com/\n\
             [url \"ext::{root}/serve %S \"]\n\tinsteadOf = https://github.com/slow/\n[protocol \"ext\"]\n\tallow = always\n"
        );
        fs::write(world.path("user/.gitconfig"), config).unwrap();
        for name in ["octo/hello", "slow/repo"] {
            world.publish(name);
        }
        fs::remove_dir(world.path("repo/.git")).unwrap();
        world.git("repo", &["init", "-q"]);
        world.git("repo", &["remote", "add", "origin", "https://github.com/octo/hello.git"]);
        world.git("repo", &["fetch", "-q", "origin"]);
        world
    }

    fn publish(&self, name: &str) {
        let bare = self.path("hub").join(format!("{name}.git"));
        fs::create_dir_all(&bare).unwrap();
        let work = format!("work-{}", name.replace('/', "-"));
        self.git(&bare, &["init", "-q", "--bare"]);
        fs::create_dir(self.path(&work)).unwrap();
        self.git(&work, &["init", "-q"]);
        fs::write(self.path(&work).join("README"), name).unwrap();
        // As a branch can bring it: another store, and nobody else's.
        fs::create_dir(self.path(&work).join(".the-loop")).unwrap();
        fs::write(self.path(&work).join(".the-loop/cli-config.yaml"), "state: {root: elsewhere}\n").unwrap();
        self.git(&work, &["add", "."]);
        self.git(&work, &["commit", "-qm", name]);
        self.git(&work, &["push", "-q", bare.to_str().unwrap(), "main"]);
    }

    /// git as the operator runs it, in a directory below the world.
    fn git(&self, dir: impl AsRef<Path>, args: &[&str]) -> String {
        let mut command = Command::new("git");
        command.args(args).current_dir(self.path("").join(dir)).env_clear();
        command.env("HOME", self.path("user")).env("PATH", std::env::var_os("PATH").unwrap_or_default());
        let output = command.output().unwrap();
        assert!(output.status.success(), "git {args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// Where the one living agent of an endpoint works.
    fn works_in(&self, endpoint: &str) -> PathBuf {
        let agents = self.living_agents(endpoint);
        assert_eq!(agents.len(), 1, "{endpoint}");
        fs::read_link(format!("/proc/{}/cwd", agents[0])).unwrap()
    }

    fn worktree(&self, number: u64) -> PathBuf {
        self.path("repo/.the-loop/local/worktrees").canonicalize().unwrap().join(format!("github-octo-hello-{number}"))
    }

    fn close_issue(&self, number: u64) {
        let closed = self.issue(number).closed(&self.tick());
        self.send(&Delivery::new("issues", &hello().issues("closed", &closed, "mona")));
    }

    /// What `doctor` finds of one kind.
    fn found(&self, id: &str) -> Vec<Json> {
        let document = self.run("doctor --json").json();
        document["findings"].as_array().unwrap().iter().filter(|finding| finding["id"] == id).cloned().collect()
    }
}

/// The default strategy.
const WORKTREE: &str = "  workspace: {strategy: worktree}\n";

#[test]
fn k33_k40_k44_items_work_in_worktrees_of_their_own_and_closing_removes_what_is_clean_and_pushed() {
    let world = World::with_hub(WORKTREE);
    world.start();
    world.arm(&[1, 2, 3, 4]);
    for number in 1..=4 {
        let own = world.worktree(number);
        assert_eq!(world.works_in(&reference(number)), own);
        assert_eq!(world.git(&own, &["symbolic-ref", "HEAD"]), format!("refs/heads/loop/github-octo-hello-{number}"));
        assert_eq!(world.git(&own, &["rev-parse", "HEAD"]), world.git("repo", &["rev-parse", "origin/main"]));
    }
    // A configuration in the checkout chooses nothing.
    assert!(world.worktree(1).join(".the-loop/cli-config.yaml").exists());
    let config = format!("THE_LOOP_CLI_CONFIG={}", world.path("repo/.the-loop/cli-config.yaml").display());
    let environment = world.agent_environment(&reference(1));
    assert!(environment.lines().any(|line| line == config), "{environment}");
    let shown = world.done("sessions show octo/hello#1");
    assert!(shown.stdout.contains(&format!("Directory   {}", world.worktree(1).display())), "{shown:?}");
    // A pull request's agent works where its item's does.
    let pull = world.pull(16, "loop/github-octo-hello-1");
    world.send(&Delivery::new("pull_request", &hello().pull_request("opened", &pull, "mona")));
    world.wait_event("session.pr_linked", &[("workItem", &reference(1))]);
    world.send(&world.comment_in(&hello(), &pull, "to the pull request"));
    world.wait_heard(&reference(16), "to the pull request");
    assert_eq!(world.works_in(&reference(16)), world.worktree(1));
    // One is pushed, one changed, one has a file nobody knows, one a commit nobody else has.
    world.git(world.worktree(1), &["commit", "-q", "--allow-empty", "-m", "work"]);
    world.git(world.worktree(1), &["push", "-q", "origin", "HEAD"]);
    fs::write(world.worktree(2).join("README"), "changed").unwrap();
    fs::write(world.worktree(3).join("notes"), "mine").unwrap();
    world.git(world.worktree(4), &["commit", "-q", "--allow-empty", "-m", "other work"]);
    for number in 1..=4 {
        world.close_issue(number);
    }
    world.wait_event("session.checkout_removed", &[("workItem", &reference(1))]);
    assert!(!world.worktree(1).exists());
    for endpoint in [1, 16] {
        assert!(world.living_agents(&reference(endpoint)).is_empty(), "no agent is left in a directory that is gone");
    }
    world.git("repo", &["rev-parse", "--verify", "loop/github-octo-hello-1"]);
    for (number, why) in [(2, "changed"), (3, "untracked"), (4, "unpushed")] {
        world.wait_event("session.checkout_kept", &[("workItem", &reference(number)), ("reason", why)]);
        assert!(world.worktree(number).join("README").exists());
    }
    let kept = world.found("workspaces.kept");
    assert_eq!(kept.len(), 3, "{kept:?}");
    // A later start goes on in what was kept, and has what was removed again.
    let reopened = |number| {
        world.send(&Delivery::new("issues", &hello().issues("reopened", &world.issue(number), "mona")));
        world.start_item(&hello(), &world.issue(number));
    };
    for number in [2, 1] {
        reopened(number);
        world.wait_state(&reference(number), "live");
        wait_for("the agent", PATIENCE, || world.living_agents(&reference(number)).len() == 1);
        assert_eq!(world.works_in(&reference(number)), world.worktree(number));
    }
    assert_eq!(fs::read_to_string(world.worktree(2).join("README")).unwrap(), "changed");
    let pushed = world.git("repo", &["rev-parse", "origin/loop/github-octo-hello-1"]);
    assert_eq!(world.git(world.worktree(1), &["rev-parse", "HEAD"]), pushed, "its branch was not reset");
    assert_eq!(world.found("workspaces.kept").len(), 2);
    world.stop();
}

#[test]
fn a_checkout_stays_when_that_is_configured_and_when_its_item_was_only_stopped() {
    let world = World::with_hub("  workspace: {strategy: clone, keepCheckoutOnClose: true}\n");
    world.start();
    world.arm(&[1, 2]);
    let clones = world.path("repo/.the-loop/local/clones").canonicalize().unwrap();
    for number in 1..=2 {
        let own = clones.join(format!("github-octo-hello-{number}"));
        assert_eq!(world.works_in(&reference(number)), own);
        assert!(own.join(".git").is_dir());
        let url = world.git(&own, &["config", "remote.origin.url"]);
        assert_eq!(url, "https://github.com/octo/hello.git", "what names the item, not where it was redirected");
    }
    world.say(1, "the-loop stop");
    world.close_issue(2);
    for number in 1..=2 {
        world.wait_state(&reference(number), "closed");
    }
    wait_for("the lanes to be empty", PATIENCE, || {
        world.done("dispatch list --json").json()["dispatch"] == serde_json::json!([])
    });
    assert!(world.events("session.checkout_removed").is_empty());
    assert_eq!((world.found("workspaces.kept").len(), world.found("workspaces.idle").len()), (0, 1));
    world.stop();
}

#[test]
fn a_spawn_without_a_workspace_is_refused_and_says_which_settings_help() {
    let world = World::with_hub(WORKTREE);
    world.start();
    let other = Repo::new("octo/other", 202);
    let item = Item::issue(5, "mona", &world.tick()).labeled(&[LABEL]);
    world.start_item(&other, &item);
    wait_for("the refusal", PATIENCE, || {
        world.events("session.spawn_failed").iter().any(|event| {
            let detail = event["detail"].as_str().unwrap_or_default();
            detail.starts_with("no-workspace: ") && detail.contains("`routing.workspace.root`")
        })
    });
    let dead = world.done("dispatch list").stdout;
    assert!(dead.contains("octo/other#5") && dead.contains("dead"), "{dead}");
    assert!(world.found("configuration.no-workspace").is_empty(), "others have one");
    world.stop();
    // Nobody has one where there is no repository at all.
    fs::remove_dir_all(world.path("repo/.git")).unwrap();
    let found = world.found("configuration.no-workspace");
    assert!(found.len() == 1 && found[0]["what"].as_str().unwrap().contains("routing.workspace.root"), "{found:?}");
}

#[test]
fn k44_k66_a_slow_clone_holds_nobody_else_and_a_kill_in_its_middle_leaves_nothing_that_is_trusted() {
    let world = World::with_hub("  workspace: {root: src}\n  maxConcurrentSpawns: 2\n");
    world.start();
    let slow = Repo::new("slow/repo", 303);
    let (one, two) = ("github:slow/repo#1", "github:slow/repo#2");
    for number in [1, 2] {
        world.start_item(&slow, &Item::issue(number, "mona", &world.tick()).labeled(&[LABEL]));
    }
    let came = || fs::read_to_string(world.path("came")).unwrap_or_default().lines().count();
    wait_for("the clone", PATIENCE, || came() == 1);
    // One worker clones, another item of that repository waits: both leave room.
    world.arm(&[3]);
    world.say(3, "beside the clone");
    world.wait_heard(&reference(3), "beside the clone");
    assert_eq!(came(), 1, "nobody clones a second time beside it");
    world.kill_9();
    world.start();
    world.arm(&[4]);
    assert_eq!((world.agents(one).len(), came()), (0, 1), "what the killed daemon began is waited for");
    assert_eq!(world.found("workspaces.half-made").len(), 1);
    fs::write(world.path("gate"), "").unwrap();
    for item in [one, two] {
        world.wait_state(item, "live");
        world.wait_prompted(item);
    }
    let clone = world.path("repo/src/slow/repo");
    assert!(!clone.exists());
    let clone = world.path("repo/src/github.com/slow/repo");
    world.git(&clone, &["fsck", "--strict"]);
    for (number, item) in [(1, one), (2, two)] {
        let own = world.works_in(item);
        assert!(own.ends_with(format!("local/worktrees/github-slow-repo-{number}")), "{own:?}");
        assert_eq!(fs::read_to_string(own.join("README")).unwrap(), "slow/repo");
        assert_eq!(world.git(&own, &["status", "--porcelain"]), "");
    }
    assert!(world.found("workspaces.half-made").is_empty());
    world.stop();
}
