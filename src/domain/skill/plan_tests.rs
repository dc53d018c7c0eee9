//! A folder in memory, brought from anywhere to the files and back.

use std::collections::BTreeMap;

use super::*;

/// A folder as it lies there, and the record beside it.
#[derive(Debug, Clone, PartialEq, Default)]
struct Folder {
    files: BTreeMap<String, String>,
    record: Record,
}

impl Folder {
    fn with(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        Self { files, ..Self::default() }
    }

    fn look(&self, path: &str) -> Result<Found, SkillError> {
        let file = self.files.get(path);
        Ok(file.map_or(Found::Nothing, |text| match text.as_str() {
            "a link" => Found::Unusable("it is a link"),
            text => Found::File(Content::of(text.as_bytes())),
        }))
    }

    fn plan(&self, wanted: &[File]) -> Plan {
        install(wanted, &self.record, &|path| self.look(path), &<[String]>::to_vec).unwrap()
    }

    fn do_step(&mut self, step: &Step, half: bool) {
        match step.clone() {
            Step::Write { path, text, found, backup } => {
                assert_eq!(self.look(&path), Ok(found));
                if let Some(backup) = backup {
                    let kept = self.files[&path].clone();
                    assert_eq!(self.files.insert(backup, kept), None, "a backup is never replaced");
                }
                if !half {
                    self.files.insert(path, text);
                }
            }
            Step::Restore { path, backup, .. } => {
                let kept = self.files.remove(&backup).unwrap();
                self.files.insert(path, kept);
            }
            Step::Remove { path, .. } => drop(self.files.remove(&path).unwrap()),
        }
    }

    /// Installs and is cut off: after so many half steps, or not at all.
    fn install(&mut self, wanted: &[File], halves: usize) -> Plan {
        let plan = self.plan(wanted);
        self.record = plan.record.clone();
        for (n, step) in plan.steps.iter().enumerate().take_while(|(n, _)| n * 2 < halves) {
            self.do_step(step, halves == n * 2 + 1);
        }
        plan
    }

    fn uninstall(&mut self) -> Plan {
        let plan = uninstall(&self.record, &|path| self.look(path)).unwrap();
        plan.steps.iter().for_each(|step| self.do_step(step, false));
        self.record = plan.record.clone();
        plan
    }
}

fn wanted(texts: &[(&str, &str)]) -> Vec<File> {
    texts.iter().map(|(path, text)| File { path: (*path).to_owned(), text: (*text).to_owned() }).collect()
}

const ALL: usize = usize::MAX;
const ONE: [(&str, &str); 3] = [("c/loop.md", "v1"), ("c/pause.md", "v1"), ("s/SKILL.md", "v1")];
const TWO: [(&str, &str); 2] = [("c/loop.md", "v2"), ("s/SKILL.md", "v1")];

#[test]
fn what_was_there_comes_back_wherever_an_installation_was_cut_off() {
    let before = [
        Folder::default(),
        Folder::with(&[("c/loop.md", "mine"), ("other.md", "mine")]),
        Folder::with(&[("c/loop.md", "mine"), ("c/pause.md", "v1"), ("c/loop.md.before-the-loop", "old")]),
    ];
    for before in before {
        for halves in 0..8 {
            let mut folder = before.clone();
            folder.install(&wanted(&ONE), halves);
            let mut again = folder.clone();
            assert_eq!(folder.uninstall().kept, [], "{halves}: {folder:?}");
            assert_eq!(folder, before, "cut off after {halves} halves");
            again.install(&wanted(&ONE), ALL);
            assert!(again.plan(&wanted(&ONE)).steps.is_empty(), "a second run has nothing to do");
            again.install(&wanted(&TWO), ALL);
            assert_eq!((again.files["c/loop.md"].as_str(), again.plan(&wanted(&TWO)).same), ("v2", 2));
            assert_eq!(again.uninstall().kept, []);
            assert_eq!(again, before, "repeated after {halves} halves, then another version");
        }
    }
}

#[test]
fn what_somebody_changed_or_wrote_stays() {
    let mut folder = Folder::with(&[("c/loop.md", "mine"), ("s/SKILL.md", "a link")]);
    let plan = folder.install(&wanted(&ONE), ALL);
    assert_eq!(plan.kept, [Kept { path: "s/SKILL.md".into(), why: "it is a link".into() }]);
    folder.files.insert("c/loop.md".into(), "v1, and mine".into());
    let plan = folder.install(&wanted(&TWO), ALL);
    assert_eq!(plan.kept.iter().map(|kept| kept.path.as_str()).collect::<Vec<_>>(), ["c/loop.md", "s/SKILL.md"]);
    assert_eq!(folder.files.get("c/pause.md"), None, "this version has it not");
    let plan = folder.uninstall();
    assert_eq!(plan.kept, [Kept { path: "c/loop.md".into(), why: CHANGED.into() }]);
    assert_eq!(folder.files["c/loop.md"], "v1, and mine");
    assert_eq!(folder.files["c/loop.md.before-the-loop"], "mine");
    folder.files.remove("c/loop.md");
    assert_eq!(folder.uninstall().kept, [], "once it is out of the way the rest follows");
    assert_eq!(folder.files, Folder::with(&[("c/loop.md", "mine"), ("s/SKILL.md", "a link")]).files);
    assert_eq!(folder.record, Record::default());
}

#[test]
fn the_very_same_file_of_somebody_else_stays_his() {
    let before = Folder::with(&ONE);
    let mut folder = before.clone();
    let plan = folder.install(&wanted(&ONE), ALL);
    assert_eq!((plan.steps.len(), plan.same, plan.record.entries.len()), (0, 3, 0));
    folder.uninstall();
    assert_eq!(folder.files, before.files);
}

#[test]
fn folders_are_made_from_the_outside_in() {
    let plan = Folder::default().plan(&wanted(&[("a/b/x.md", "1"), ("a/y.md", "1")]));
    assert_eq!(plan.record.folders, ["", "a", "a/b"]);
}
