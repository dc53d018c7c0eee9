//! The files themselves: the skill, its references, one page for each profile, and the commands.

use super::Agent;
use crate::domain::profile::{PROFILES, Profile, SAFEGUARDS};

/// What every file says about a machine without the program.
pub const MISSING: &str = "When `the-loop` is not installed (the shell does not find it), report BLOCKED, say that \
                           `the-loop` is missing, and stop: nothing is written down without it, and nothing that was \
                           written by hand counts.";

/// A file to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Relative to the agent's folder.
    pub path: String,
    /// What it holds.
    pub text: String,
}

/// A command: its name, what it is for, and its text.
const COMMANDS: [(&str, &str, &str); 5] = [
    ("loop", "Work on a task in nine stages, with evidence at the end", include_str!("texts/loop.md")),
    ("loop-status", "Show the live run and what is missing for PASS", include_str!("texts/loop-status.md")),
    ("loop-pause", "Put the live run aside", include_str!("texts/loop-pause.md")),
    ("loop-resume", "Go on with a run, through the gates", include_str!("texts/loop-resume.md")),
    ("loop-cancel", "Give the live run up and archive it", include_str!("texts/loop-cancel.md")),
];

const ABOUT: &str = "Work so that it can be interrupted and resumed honestly, and is called done only by evidence. Use it \
                     for every task that has more than one step, and whenever a run is live in the project.";

/// Every file for an agent.
pub fn files(agent: Agent) -> Vec<File> {
    let skill = |name: &str, about: &str, text: &str| {
        file(format!("skills/{name}/SKILL.md"), &format!("name: {name}\ndescription: {about}\n"), text)
    };
    let reference = |name: &str, text: &str| file(format!("skills/the-loop/references/{name}.md"), "", text);
    let mut files = vec![skill("the-loop", ABOUT, include_str!("texts/skill.md"))];
    files.push(reference("runs", include_str!("texts/runs.md")));
    files.extend(PROFILES.iter().map(|profile| reference(&format!("profiles/{}", profile.name), &page(profile))));
    files.extend(COMMANDS.map(|(name, about, text)| match agent {
        Agent::Codex => skill(name, about, &text.replace("{task}", "what was asked for beside this skill's name.")),
        Agent::Claude | Agent::Opencode => {
            let head = format!("description: {about}\n");
            file(format!("commands/{name}.md"), &head, &text.replace("{task}", "$ARGUMENTS"))
        }
    }));
    files
}

fn file(path: String, head: &str, text: &str) -> File {
    let head = if head.is_empty() { String::new() } else { format!("---\n{head}---\n\n") };
    File { path, text: format!("{head}{text}\n{MISSING}\n") }
}

/// A profile as a page.
fn page(profile: &Profile) -> String {
    let part = |heading: &str, entries: &[&str]| {
        let lines: String = entries.iter().map(|entry| format!("- {entry}\n")).collect();
        format!("\n## {heading}\n\n{lines}")
    };
    let parts: String = profile.dimensions().iter().map(|(_, heading, entries)| part(heading, entries)).collect();
    format!("# {}: {}\n{parts}{}", profile.name, profile.about, part("Universal safeguards", SAFEGUARDS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_says_what_to_do_without_the_program() {
        for agent in Agent::ALL {
            let files = files(agent);
            assert_eq!(files.len(), 2 + PROFILES.len() + COMMANDS.len());
            for File { path, text } in files {
                assert!(text.contains("report BLOCKED") && text.ends_with("counts.\n"), "{path}");
                assert!(!text.contains("{task}") && !text.contains("--force"), "{path}");
            }
        }
    }

    #[test]
    fn the_skill_teaches_the_nine_stages() {
        let text = &files(Agent::Claude)[0].text;
        assert!(text.starts_with("---\nname: the-loop\ndescription: "), "{text}");
        for stage in 0..=8 {
            assert!(text.contains(&format!("\n| {stage} ")), "stage {stage}");
        }
        let rules = ["never begin a second one", "Before you act", "PAUSED, never COMPLETED", "That archives the run"];
        for rule in rules.into_iter().chain(["verify exec", "profile task", "the-loop comment"]) {
            assert!(text.contains(rule), "{rule}");
        }
    }

    #[test]
    fn every_profile_has_a_page_with_all_seven_dimensions_and_the_safeguards() {
        let files = files(Agent::Opencode);
        for profile in PROFILES {
            let end = format!("profiles/{}.md", profile.name);
            let page = files.iter().find(|file| file.path.ends_with(&end)).expect(&end);
            for (_, heading, entries) in profile.dimensions() {
                assert!(page.text.contains(&format!("## {heading}\n\n- {}", entries[0])), "{end}: {heading}");
            }
            assert!(SAFEGUARDS.iter().all(|line| page.text.contains(line)), "{end}");
        }
    }

    #[test]
    fn commands_are_where_each_agent_looks_for_them() {
        let paths = |agent| files(agent).into_iter().map(|file| file.path).collect::<Vec<_>>();
        for (name, ..) in COMMANDS {
            assert!(paths(Agent::Claude).contains(&format!("commands/{name}.md")));
            assert!(paths(Agent::Opencode).contains(&format!("commands/{name}.md")));
            assert!(paths(Agent::Codex).contains(&format!("skills/{name}/SKILL.md")));
        }
    }
}
