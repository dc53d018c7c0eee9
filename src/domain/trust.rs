//! A harness's own trust in directories: how far ours reaches, and the one edit of Claude's configuration it needs.
//!
//! Claude keeps `projects.<directory>.hasTrustDialogAccepted` in one JSON file beside a user's whole history, and takes
//! a trusted directory for everything below it. The edit is made in the text: what it does not need stays byte for byte.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

const PROJECTS: &str = "projects";
const ACCEPTED: &str = "hasTrustDialogAccepted";

/// How far trust is granted before a harness starts (`routing.harnessTrust`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// Never.
    Off,
    /// The session's working directory alone.
    Directory,
    /// This directory, for sessions that work in it or below it; others get none.
    Root(PathBuf),
}

impl Trust {
    /// The directory to be trusted for a session that works in `cwd`.
    pub fn directory<'a>(&'a self, cwd: &'a Path) -> Option<&'a Path> {
        match self {
            Self::Off => None,
            Self::Directory => Some(cwd),
            Self::Root(root) => cwd.starts_with(root).then_some(root),
        }
    }
}

/// Why a configuration was left alone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotEdited {
    /// It is no JSON, or no object where there must be one.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    /// A key stands twice where it matters: readers disagree about which counts.
    #[error("`{0}` stands in it twice")]
    Twice(String),
    /// The answer is neither yes nor no.
    #[error("`{ACCEPTED}` of `{0}` is no boolean")]
    NoBoolean(String),
}

/// The text with `directory` (absolute, resolved) trusted; `None` when it is already, by itself or by a directory above.
pub fn grant(text: &str, directory: &str) -> Result<Option<String>, NotEdited> {
    let file = Object::read(text, 0)?;
    let accepted = format!("{}: true", quoted(ACCEPTED));
    let entry = format!("{}: {{{accepted}}}", quoted(directory));
    let Some(projects) = file.member(PROJECTS)? else {
        return Ok(Some(file.with(text, &format!("{}: {{{entry}}}", quoted(PROJECTS)))));
    };
    let projects = Object::read(projects.get(), offset(text, projects))?;
    for above in Path::new(directory).ancestors().filter_map(Path::to_str) {
        if let Some(project) = projects.member(above)? {
            let project = Object::read(project.get(), offset(text, project))?;
            if project.member(ACCEPTED)?.is_some_and(|answer| answer.get() == "true") {
                return Ok(None);
            }
        }
    }
    let Some(project) = projects.member(directory)? else { return Ok(Some(projects.with(text, &entry))) };
    let project = Object::read(project.get(), offset(text, project))?;
    match project.member(ACCEPTED)? {
        None => Ok(Some(project.with(text, &accepted))),
        Some(answer) if answer.get() == "false" => {
            let at = offset(text, answer);
            Ok(Some(format!("{}true{}", &text[..at], &text[at + answer.get().len()..])))
        }
        Some(_) => Err(NotEdited::NoBoolean(directory.to_owned())),
    }
}

/// A text as JSON writes it.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Where a value stands in the text it was read from.
fn offset(text: &str, value: &RawValue) -> usize {
    value.get().as_ptr() as usize - text.as_ptr() as usize
}

/// An object as it stands in a text.
struct Object<'t> {
    /// Where its brace stands in the whole text.
    at: usize,
    members: Vec<(String, &'t RawValue)>,
}

impl<'t> Object<'t> {
    /// Reads `text`, which begins at `at` of the whole.
    fn read(text: &'t str, at: usize) -> Result<Self, NotEdited> {
        let Members(members) = serde_json::from_str(text).map_err(|error| NotEdited::Unreadable(error.to_string()))?;
        let blank = text.len() - text.trim_start().len();
        Ok(Self { at: at + blank, members })
    }

    fn member(&self, name: &str) -> Result<Option<&'t RawValue>, NotEdited> {
        let mut found = self.members.iter().filter(|(key, _)| key == name).map(|(_, value)| *value);
        match (found.next(), found.next()) {
            (_, Some(_)) => Err(NotEdited::Twice(name.to_owned())),
            (found, None) => Ok(found),
        }
    }

    /// The whole text with one more member at the end of this object, set apart like its first one.
    fn with(&self, text: &str, member: &str) -> String {
        let inner = &text[self.at + 1..];
        let apart = &inner[..inner.len() - inner.trim_start().len()];
        let (at, member) = match self.members.last() {
            None => (self.at + 1, member.to_owned()),
            Some((_, last)) => (offset(text, last) + last.get().len(), format!(",{apart}{member}")),
        };
        format!("{}{member}{}", &text[..at], &text[at..])
    }
}

/// Every member in order, keys that stand twice included.
struct Members<'t>(Vec<(String, &'t RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Reader)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    const DIRECTORY: &str = "/src/a \"b\"";
    const ENTRY: &str = r#""/src/a \"b\"": {"hasTrustDialogAccepted": true}"#;

    #[rstest]
    #[case::nothing("{}", format!("{{\"projects\": {{{ENTRY}}}}}"))]
    #[case::no_projects("{\"n\": 1.50,\n \"z\":[ ]}\n", format!("{{\"n\": 1.50,\n \"z\":[ ],\"projects\": {{{ENTRY}}}}}\n"))]
    #[case::no_entries("{\"projects\":{ },\"a\":1}", format!("{{\"projects\":{{{ENTRY} }},\"a\":1}}"))]
    #[case::another_one(
        "{\n  \"projects\": {\n    \"/b\": {\"x\": 1e400}\n  },\n  \"a\": \"\\u00e9\"\n}",
        format!("{{\n  \"projects\": {{\n    \"/b\": {{\"x\": 1e400}},\n    {ENTRY}\n  }},\n  \"a\": \"\\u00e9\"\n}}")
    )]
    #[case::asked_before(
        r#"{"projects": {"/src/a \"b\"": {"hasTrustDialogAccepted": false, "h": [1]}}}"#,
        r#"{"projects": {"/src/a \"b\"": {"hasTrustDialogAccepted": true, "h": [1]}}}"#.into()
    )]
    #[case::never_asked(
        r#"{"projects": {"/src/a \"b\"": {"h": [1]}}}"#,
        r#"{"projects": {"/src/a \"b\"": {"h": [1],"hasTrustDialogAccepted": true}}}"#.into()
    )]
    fn only_the_key_that_is_needed_changes(#[case] text: &str, #[case] expected: String) {
        assert_eq!(grant(text, DIRECTORY).unwrap().unwrap(), expected);
        assert_eq!(grant(&expected, DIRECTORY), Ok(None), "a second time there is nothing to do");
    }

    #[rstest]
    #[case::itself("/src/a")]
    #[case::above("/src")]
    #[case::the_root("/")]
    fn what_is_trusted_already_is_left_alone(#[case] trusted: &str) {
        let text = format!(r#"{{"projects": {{"{trusted}": {{"hasTrustDialogAccepted":true}}}}}}"#);
        assert_eq!(grant(&text, "/src/a"), Ok(None));
        assert!(grant(&text.replace("true", "false"), "/src/a").unwrap().is_some());
        // A sibling whose name begins alike is none of ours.
        let sibling = text.replace(trusted, "/src/ab");
        assert!(grant(&sibling, "/src/a").unwrap().is_some());
    }

    #[rstest]
    #[case::empty("")]
    #[case::cut("{\"projects\": {")]
    #[case::a_list("[]")]
    #[case::comments("{} // mine")]
    #[case::projects_no_object(r#"{"projects": []}"#)]
    #[case::twice(r#"{"projects": {}, "projects": {}}"#)]
    #[case::entry_twice(r#"{"projects": {"/src/a": {}, "/src/a": {}}}"#)]
    #[case::no_boolean(r#"{"projects": {"/src/a": {"hasTrustDialogAccepted": "no"}}}"#)]
    fn what_cannot_be_read_for_sure_is_refused(#[case] text: &str) {
        assert!(grant(text, "/src/a").is_err());
    }

    #[test]
    fn trust_reaches_no_further_than_its_scope() {
        let root = Trust::Root("/trees".into());
        assert_eq!(root.directory(Path::new("/trees/a")), Some(Path::new("/trees")));
        assert_eq!(root.directory(Path::new("/trees-2/a")), None);
        assert_eq!(Trust::Directory.directory(Path::new("/a/b")), Some(Path::new("/a/b")));
        assert_eq!(Trust::Off.directory(Path::new("/a")), None);
    }

    proptest! {
        #[test]
        fn everything_else_stays_byte_for_byte(values in proptest::collection::btree_map("[a-z/\"\\\\é ]{0,6}", "[a-z\"\\\\\n]{0,5}", 0..5), pretty in any::<bool>()) {
            let file = serde_json::json!({"before": values, "projects": {"/x": values}, "after": [1, 2]});
            let text = if pretty { serde_json::to_string_pretty(&file) } else { serde_json::to_string(&file) }.unwrap();
            let edited = grant(&text, "/src").unwrap().unwrap();
            let more = edited.len() - text.len();
            let at = (0..=text.len()).find(|at| edited.get(..*at) == text.get(..*at) && edited.get(at + more..) == text.get(*at..) && text.is_char_boundary(*at));
            prop_assert!(at.is_some(), "{text}\n{edited}");
            let mut expected = file;
            expected["projects"]["/src"] = serde_json::json!({"hasTrustDialogAccepted": true});
            prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&edited).unwrap(), expected);
        }
    }
}
