//! What has to be done, as data: shown before it is done.

use super::{Content, Entry, File, Record, SkillError};

/// What stands behind a file's name where that which was there before is kept.
const KEPT: &str = ".before-the-loop";
/// Most names that are tried for a backup.
const NAMES: u32 = 99;

/// What lies at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// Nothing.
    Nothing,
    /// A file with this content.
    File(Content),
    /// Something that is neither read nor replaced; why.
    Unusable(&'static str),
}

/// One thing to do. Each names what was found, which has to be there still.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Writes a file; what is there is kept under the name of `backup` first, when one is named.
    Write {
        /// Which.
        path: String,
        /// With what.
        text: String,
        /// What was found.
        found: Found,
        /// Where to keep it.
        backup: Option<String>,
    },
    /// Puts that which was there before back into its place.
    Restore {
        /// Which.
        path: String,
        /// What was found.
        found: Found,
        /// Where it is kept.
        backup: String,
    },
    /// Takes a file of ours away.
    Remove {
        /// Which.
        path: String,
        /// What was found.
        found: Found,
    },
}

/// A file that is left as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Which.
    pub path: String,
    /// Why.
    pub why: String,
}

/// What has to be done.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// The steps, in their order.
    pub steps: Vec<Step>,
    /// What is in the way and stays.
    pub kept: Vec<Kept>,
    /// Files that are as they should be.
    pub same: usize,
    /// The record: before the first step of an installation, after the last of an uninstallation.
    pub record: Record,
}

/// A look at a path.
pub type Look<'a> = &'a dyn Fn(&str) -> Result<Found, SkillError>;

const CHANGED: &str = "somebody changed it since it was installed";

/// What has to be done so that `wanted` lie there. `absent` says which folders are not there.
///
/// # Errors
/// A look failed.
pub fn install(
    wanted: &[File],
    record: &Record,
    look: Look<'_>,
    absent: &dyn Fn(&[String]) -> Vec<String>,
) -> Result<Plan, SkillError> {
    // What an earlier version wrote and this one does not is taken away.
    let (old, known): (Vec<Entry>, Vec<Entry>) =
        record.entries.iter().cloned().partition(|entry| wanted.iter().all(|file| file.path != entry.path));
    let mut plan = Plan::default();
    for entry in old {
        let (steps, known) = (plan.steps.len(), entry.clone());
        plan.undo(entry, look)?;
        if plan.steps.len() > steps {
            // It is ours until it is gone; the next installation forgets it.
            plan.record.entries.push(known);
        }
    }
    let known = Record { entries: known, folders: record.folders.clone() };
    for file in wanted {
        plan.place(file, known.of(&file.path), look)?;
    }
    let mut folders = known.folders;
    let needed: Vec<String> = parents(wanted).into_iter().filter(|folder| !folders.contains(folder)).collect();
    folders.extend(absent(&needed));
    plan.record.folders = folders;
    Ok(plan)
}

/// What has to be done so that nothing of ours is left.
///
/// # Errors
/// A look failed.
pub fn uninstall(record: &Record, look: Look<'_>) -> Result<Plan, SkillError> {
    let mut plan = Plan::default();
    for entry in &record.entries {
        plan.undo(entry.clone(), look)?;
    }
    if !plan.record.entries.is_empty() {
        plan.record.folders.clone_from(&record.folders);
    }
    Ok(plan)
}

impl Plan {
    fn place(&mut self, file: &File, known: Option<&Entry>, look: Look<'_>) -> Result<(), SkillError> {
        let (path, ours) = (&file.path, Content::of(file.text.as_bytes()));
        let found = look(path)?;
        let mut entry = known.cloned().unwrap_or(Entry { path: path.clone(), written: Vec::new(), backup: None });
        let backup = match (&found, known) {
            (Found::Unusable(why), _) => {
                self.kept.push(Kept { path: path.clone(), why: (*why).to_owned() });
                self.record.entries.extend(known.cloned());
                return Ok(());
            }
            (Found::File(content), known) if *content == ours => {
                self.same += 1;
                // Without an entry somebody else wrote the very same: it stays his.
                self.record.entries.extend(known.cloned());
                return Ok(());
            }
            (Found::Nothing, _) => None,
            (Found::File(content), Some(known)) if known.written.contains(content) => None,
            (Found::File(_), None) => Some(free(path, look)?),
            (Found::File(content), Some(known)) => match &known.backup {
                // An installation was cut off before it, or between the backup and the write.
                Some(backup) if look(backup)? == Found::Nothing => Some(backup.clone()),
                Some(backup) if look(backup)? == Found::File(content.clone()) => None,
                _ => {
                    self.kept.push(Kept { path: path.clone(), why: CHANGED.to_owned() });
                    self.record.entries.push(known.clone());
                    return Ok(());
                }
            },
        };
        entry.written.retain(|content| *content != ours);
        entry.written.push(ours);
        entry.backup = entry.backup.or_else(|| backup.clone());
        self.record.entries.push(entry);
        self.steps.push(Step::Write { path: path.clone(), text: file.text.clone(), found, backup });
        Ok(())
    }

    fn undo(&mut self, entry: Entry, look: Look<'_>) -> Result<(), SkillError> {
        let found = look(&entry.path)?;
        let backup = match &entry.backup {
            Some(backup) => Some((backup.clone(), look(backup)?)).filter(|(_, kept)| *kept != Found::Nothing),
            None => None,
        };
        let is_ours = matches!(&found, Found::File(content) if entry.written.contains(content));
        let path = entry.path.clone();
        match (&found, backup) {
            (Found::Unusable(why), _) => self.keep(entry, why),
            (_, Some((backup, Found::Unusable(why)))) => {
                self.kept.push(Kept { path: backup, why: why.to_owned() });
                self.record.entries.push(entry);
            }
            (Found::File(_), Some((backup, kept))) if is_ours || found == kept => {
                self.steps.push(Step::Restore { path, found, backup });
            }
            (Found::Nothing, Some((backup, _))) => self.steps.push(Step::Restore { path, found, backup }),
            (Found::File(_), None) if is_ours => self.steps.push(Step::Remove { path, found }),
            // Nothing of ours is there: it is gone, or was never written.
            (Found::Nothing, None) => {}
            (Found::File(_), None) if entry.backup.is_some() => {}
            (Found::File(_), _) => self.keep(entry, CHANGED),
        }
        Ok(())
    }

    fn keep(&mut self, entry: Entry, why: &str) {
        self.kept.push(Kept { path: entry.path.clone(), why: why.to_owned() });
        self.record.entries.push(entry);
    }
}

/// The first name for a backup that is free.
fn free(path: &str, look: Look<'_>) -> Result<String, SkillError> {
    for number in 1..NAMES {
        let end = if number == 1 { String::new() } else { format!("-{number:02}") };
        let name = format!("{path}{KEPT}{end}");
        if look(&name)? == Found::Nothing {
            return Ok(name);
        }
    }
    Ok(format!("{path}{KEPT}-{NAMES}"))
}

/// The folders the files lie in, each before those in it.
fn parents(wanted: &[File]) -> Vec<String> {
    let mut folders = vec![String::new()];
    for file in wanted {
        for (at, _) in file.path.match_indices('/') {
            let folder = file.path[..at].to_owned();
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
    }
    folders
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
