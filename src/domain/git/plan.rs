//! What has to change in a repository so that state travels rightly: effects as data, shown before they are done.

use std::path::PathBuf;

use serde::Serialize;

use super::{FileText, Seen, Spot, attributes, driver, ignore};

/// What a change is made to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Target {
    /// A file, absolute.
    File(PathBuf),
    /// A key of the repository's git configuration.
    Setting(String),
}

/// One change. It is made again from what is there when it is carried out.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// To what.
    pub target: Target,
    /// Lines, or the value, that come.
    pub added: Vec<String>,
    /// Lines, or the value, that go.
    pub removed: Vec<String>,
    /// The whole file, or the value, afterwards.
    #[serde(skip)]
    pub after: String,
}

/// Everything that has to change, and what keeps it from being whole.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// In the order they are made.
    pub changes: Vec<Change>,
    /// Files that have to be changed and are not touched, with the reason.
    pub refused: Vec<(PathBuf, &'static str)>,
}

/// What has to change. `program` is how the merge driver is to be called where that is not settled yet.
pub fn plan(seen: &Seen, spot: &Spot, program: &str) -> Plan {
    let mut plan = Plan::default();
    plan.file(spot.folder.join(".gitignore"), &seen.gitignore, |text| {
        ignore::edit(text, spot).map(|edit| (edit.text, edit.added, edit.removed))
    });
    let hold = attributes::hold(&seen.merge, &seen.text);
    plan.file(spot.folder.join(".gitattributes"), &seen.gitattributes, |text| {
        let (text, line, above) = if hold { None } else { attributes::edit(text, spot) }?;
        Some((text, vec![line.clone()], vec![line; above]))
    });
    plan.setting(driver::NAME_KEY, seen.driver_name.as_deref(), driver::NAME, seen.driver_name.is_some());
    let holds = seen.driver_runs && seen.driver.as_deref().and_then(driver::program).is_some();
    plan.setting(driver::DRIVER_KEY, seen.driver.as_deref(), &driver::command(program), holds);
    plan
}

impl Plan {
    fn file(
        &mut self,
        path: PathBuf,
        there: &FileText,
        edit: impl FnOnce(&str) -> Option<(String, Vec<String>, Vec<String>)>,
    ) {
        let text = match there {
            FileText::Missing => "",
            FileText::Text(text) => text,
            FileText::Unusable(why) => return self.refused.push((path, *why)),
        };
        if let Some((after, added, removed)) = edit(text) {
            self.changes.push(Change { target: Target::File(path), added, removed, after });
        }
    }

    fn setting(&mut self, key: &str, there: Option<&str>, wanted: &str, holds: bool) {
        if !holds && there != Some(wanted) {
            self.changes.push(Change {
                target: Target::Setting(key.to_owned()),
                added: vec![wanted.to_owned()],
                removed: there.map(str::to_owned).into_iter().collect(),
                after: wanted.to_owned(),
            });
        }
    }
}

impl Change {
    /// How much it is, for people.
    pub fn summary(&self) -> String {
        match self.target {
            Target::File(_) => format!("{} lines added, {} taken out", self.added.len(), self.removed.len()),
            Target::Setting(_) => "set".to_owned(),
        }
    }
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let quoted = |lines: &[String]| {
            let said = lines.iter().filter(|line| !line.starts_with('#')).map(|line| format!("`{line}`"));
            said.collect::<Vec<_>>().join(", ")
        };
        let taken =
            if self.removed.is_empty() { String::new() } else { format!("take {} out of and ", quoted(&self.removed)) };
        match &self.target {
            Target::File(_) if self.added.is_empty() => {
                write!(f, "take {} out of {}", quoted(&self.removed), self.target)
            }
            Target::File(_) => write!(f, "{taken}put {} into {}", quoted(&self.added), self.target),
            Target::Setting(_) => write!(f, "set {} to {}", self.target, quoted(&self.added)),
        }
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => write!(f, "`{}`", path.display()),
            Self::Setting(key) => write!(f, "`{key}` in the repository's git configuration"),
        }
    }
}
