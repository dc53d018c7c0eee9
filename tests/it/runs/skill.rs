//! `skill install` and `skill uninstall` as they are typed: for every agent and both scopes, over files of the user's.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use serde_json::Value as Json;

use super::Project;

/// Every file below a folder with its content; links and folders are named as such.
fn snapshot(folder: &Path) -> BTreeMap<String, String> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(&at).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.strip_prefix(folder).expect("below").display().to_string();
            let kind = path.symlink_metadata().expect("its kind");
            if name.ends_with(".git") {
                continue;
            }
            if kind.is_dir() {
                found.insert(name, "folder".into());
                folders.push(path);
            } else {
                let text = fs::read_to_string(&path).expect("a text");
                found.insert(name, format!("{:o} {text}", kind.permissions().mode() & 0o777));
            }
        }
    }
    found
}

/// Agent, scope, folder below the project or the home, and one of its commands.
const PLACES: [(&str, &str, &str, &str); 6] = [
    ("claude", "project", "p/.claude", "commands/loop.md"),
    ("codex", "project", "p/.agents", "skills/loop/SKILL.md"),
    ("opencode", "project", "p/.opencode", "commands/loop.md"),
    ("claude", "user", "home/.claude", "commands/loop.md"),
    ("codex", "user", "home/.agents", "skills/loop/SKILL.md"),
    ("opencode", "user", "home/.config/opencode", "commands/loop.md"),
];

#[test]
fn files_come_and_go_and_everything_of_the_users_is_as_it_was() {
    for (agent, scope, folder, command) in PLACES {
        let project = Project::new();
        let (line, base) = (format!("--agent {agent} --scope {scope}"), project.dir.path().join(folder));
        fs::create_dir_all(base.join(command).parent().unwrap()).unwrap();
        for (path, text) in [(command, "my own loop"), ("settings.json", "{}")] {
            fs::write(base.join(path), text).unwrap();
        }
        fs::set_permissions(base.join(command), fs::Permissions::from_mode(0o640)).unwrap();
        let before = snapshot(project.dir.path());
        let dry = project.expect(&format!("skill install {line} --dry-run"), 0);
        assert!(dry.stdout.contains("would write") && snapshot(project.dir.path()) == before, "{}", dry.stdout);
        project.expect(&format!("skill install {line}"), 0);
        let installed = snapshot(project.dir.path());
        assert!(installed[&format!("{folder}/{command}")].contains("the-loop run status"), "{installed:?}");
        assert!(installed[&format!("{folder}/skills/the-loop/SKILL.md")].contains("report BLOCKED"));
        assert_eq!(installed[&format!("{folder}/{command}.before-the-loop")], "640 my own loop");
        let again = project.expect(&format!("skill install {line}"), 0);
        assert_eq!((again.stdout.as_str(), snapshot(project.dir.path())), ("nothing to do\n", installed));
        let dry = project.expect(&format!("skill uninstall {line} --dry-run"), 0);
        assert!(dry.stdout.contains("would restore"), "{}", dry.stdout);
        project.expect(&format!("skill uninstall {line}"), 0);
        assert_eq!(snapshot(project.dir.path()), before, "{agent} {scope}");
        assert_eq!(project.expect(&format!("skill uninstall {line}"), 0).stdout, "nothing to do\n");
    }
}

#[test]
fn where_nothing_was_nothing_is_left() {
    for (agent, scope, ..) in PLACES {
        let project = Project::without_git();
        // Where every user's settings lie is nobody's alone.
        fs::create_dir(project.dir.path().join("home/.config")).unwrap();
        let before = snapshot(project.dir.path());
        project.expect(&format!("skill install --agent {agent} --scope {scope}"), 0);
        assert_ne!(snapshot(project.dir.path()), before);
        project.expect(&format!("skill uninstall --agent {agent} --scope {scope}"), 0);
        assert_eq!(snapshot(project.dir.path()), before, "{agent} {scope}");
    }
}

#[test]
fn what_somebody_changed_stays_and_is_named() {
    let project = Project::new();
    let (install, uninstall) = ("skill install --agent claude --json", "skill uninstall --agent claude --json");
    project.expect(install, 0);
    fs::write(project.path(".claude/commands/loop.md"), "changed").unwrap();
    for line in [install, uninstall] {
        let document: Json = serde_json::from_str(&project.expect(line, 1).stdout).unwrap();
        assert_eq!(document["kept"][0]["path"], "commands/loop.md", "{document}");
    }
    let left = snapshot(&project.path(".claude"));
    assert_eq!(left["commands/loop.md"].split_once(' ').unwrap().1, "changed");
    assert!(!left.contains_key("commands/loop-pause.md"), "{left:?}");
}

#[test]
fn links_are_not_followed_out_of_a_project() {
    let project = Project::new();
    let elsewhere = project.dir.path().join("home");
    symlink(&elsewhere, project.path(".claude")).unwrap();
    let refused = project.expect("skill install --agent claude", 1);
    assert!(refused.stderr.contains("a folder on the way is a link"), "{}", refused.stderr);
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[test]
fn a_record_that_cannot_be_read_is_left_and_nothing_is_done() {
    let project = Project::new();
    project.expect("skill install --agent claude", 0);
    fs::write(project.path(".claude/the-loop.skill.json"), "{").unwrap();
    let before = snapshot(&project.root());
    for line in ["skill install --agent claude", "skill uninstall --agent claude"] {
        let refused = project.expect(line, 1);
        assert!(refused.stderr.contains("the-loop.skill.json` cannot be read"), "{}", refused.stderr);
    }
    assert_eq!(snapshot(&project.root()), before);
}

#[test]
fn variables_move_the_users_folder() {
    let project = Project::new();
    let elsewhere = project.dir.path().join("elsewhere");
    let to = elsewhere.to_str().unwrap();
    for (agent, variable, found) in
        [("claude", "CLAUDE_CONFIG_DIR", "skills"), ("opencode", "XDG_CONFIG_HOME", "opencode/skills")]
    {
        let args = ["skill", "install", "--agent", agent, "--scope", "user"];
        assert_eq!(project.run_with(&args, "", &[(variable, to)]).code, 0);
        assert!(elsewhere.join(found).join("the-loop/SKILL.md").is_file(), "{agent}");
    }
    assert_eq!(fs::read_dir(project.dir.path().join("home")).unwrap().count(), 0);
}

/// Every command that the files name is one that there is, with options that there are.
#[test]
fn what_the_files_teach_can_be_typed() {
    let project = Project::new();
    project.expect("skill install --agent claude", 0);
    let mut lines = 0;
    for (path, text) in snapshot(&project.path(".claude")).into_iter().filter(|(path, _)| path.ends_with(".md")) {
        let in_code = text.split('`').skip(1).step_by(2).filter(|code| !code.contains('\n'));
        let in_blocks = text.lines().filter_map(|line| line.strip_prefix("    "));
        for code in in_code.chain(in_blocks) {
            let Some((_, line)) = code.split_once("the-loop ") else { continue };
            let words = line.split(" -- ").next().unwrap_or(line).split_whitespace();
            let mut command = the_loop::cli::command();
            for word in words {
                if let Some(below) = command.find_subcommand(word) {
                    command = below.clone();
                } else if let Some(option) = word.strip_prefix("--") {
                    let known = command.get_arguments().any(|argument| argument.get_long() == Some(option));
                    assert!(known || option == "help", "{path}: `{line}`: `--{option}`");
                }
            }
            assert_ne!(command.get_name(), "the-loop", "{path}: `{line}` is no command");
            lines += 1;
        }
    }
    assert!(lines > 20, "{lines}");
}
