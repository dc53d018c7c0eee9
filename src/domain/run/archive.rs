//! Names of archives, and what to think of a temporary that was left behind.

use super::record::TaskId;

/// The file name of an archive of a task: the first, or a later one with its number.
pub fn archive_name(task: &TaskId, number: u32) -> String {
    match number {
        0 | 1 => format!("{task}.json"),
        number => format!("{task}-{number:02}.json"),
    }
}

/// The number of an archive by its file name; `None` for what is no archive of this task.
pub fn archive_number(task: &TaskId, name: &str) -> Option<u32> {
    let rest = name.strip_prefix(task.as_str())?.strip_suffix(".json")?;
    match rest.strip_prefix('-') {
        None if rest.is_empty() => Some(1),
        Some(digits) => digits.parse().ok().filter(|number| archive_name(task, *number) == name),
        None => None,
    }
}

/// The file name of the evidence that belonged to an archived task.
pub fn manifest_name(task: &TaskId, number: u32) -> String {
    match number {
        0 | 1 => format!("{task}.verification.json"),
        number => format!("{task}-{number:02}.verification.json"),
    }
}

/// Of what a document is, and how new. `K` names what it is of: a task, for the documents of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark<K = TaskId> {
    /// Its task.
    pub task: K,
    /// Its generation.
    pub generation: u64,
}

/// What a temporary beside a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leftover {
    /// An older state of a task whose file is newer, or the very content of that file. It can be removed.
    Superseded,
    /// Of a generation that its file never reached: a write that was cut off before it took the file's place.
    Newer {
        /// Its generation.
        generation: u64,
    },
    /// As new as the file and another content: the file took that generation later. The next write supersedes it.
    Beside,
    /// Of another task, or beside no file: nobody can say what it is worth.
    Foreign,
    /// It cannot be read.
    Unreadable(String),
}

impl Leftover {
    /// Whether it may be removed: only what is provably superseded.
    pub const fn is_removable(&self) -> bool {
        matches!(self, Self::Superseded)
    }
}

impl std::fmt::Display for Leftover {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Superseded => f.write_str("superseded"),
            Self::Newer { generation } => write!(f, "a write of generation {generation} that was cut off"),
            Self::Beside => f.write_str("of this generation, and another content"),
            Self::Foreign => f.write_str("of another task"),
            Self::Unreadable(why) => write!(f, "cannot be read: {why}"),
        }
    }
}

/// Judges a temporary: `found` is what it says of itself, `known` are the files it could have become, each with whether
/// its bytes are the same.
pub fn judge_leftover<K: PartialEq>(found: Result<Mark<K>, String>, known: &[(Mark<K>, bool)]) -> Leftover {
    let mark = match found {
        Ok(mark) => mark,
        Err(why) => return Leftover::Unreadable(why),
    };
    let same = known.iter().filter(|(other, _)| other.task == mark.task);
    match same.max_by_key(|(other, is_equal)| (other.generation, *is_equal)) {
        None => Leftover::Foreign,
        Some((other, is_equal)) if *is_equal || other.generation > mark.generation => Leftover::Superseded,
        Some((other, _)) if other.generation == mark.generation => Leftover::Beside,
        Some(_) => Leftover::Newer { generation: mark.generation },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f19_archives_are_numbered_in_the_order_they_are_made() {
        let task = TaskId::parse("task-0123456789abcdef").unwrap();
        let names: Vec<String> = (1..=12).map(|number| archive_name(&task, number)).collect();
        assert_eq!(names[..2], ["task-0123456789abcdef.json", "task-0123456789abcdef-02.json"]);
        assert!(names[1..].is_sorted());
        for (at, name) in names.iter().enumerate() {
            assert_eq!(archive_number(&task, name), u32::try_from(at + 1).ok());
        }
        for other in [
            "task-0123456789abcdef-2.json",
            "task-0123456789abcdef-x.json",
            "task-0123456789abcdefx.json",
            "task-0000000000000000.json",
            "x",
        ] {
            assert_eq!(archive_number(&task, other), None, "{other}");
        }
        for (number, name) in
            [(1, "task-0123456789abcdef.verification.json"), (2, "task-0123456789abcdef-02.verification.json")]
        {
            assert_eq!(manifest_name(&task, number), name);
            assert_eq!(archive_number(&task, name), None, "its evidence is no archive of a run");
        }
    }

    #[test]
    fn each_leftover_has_its_words() {
        for (leftover, words) in [
            (Leftover::Superseded, "superseded"),
            (Leftover::Newer { generation: 6 }, "a write of generation 6 that was cut off"),
            (Leftover::Beside, "of this generation, and another content"),
            (Leftover::Foreign, "of another task"),
            (Leftover::Unreadable("torn".into()), "cannot be read: torn"),
        ] {
            assert_eq!(leftover.to_string(), words);
        }
    }

    #[test]
    fn only_what_is_provably_superseded_may_be_removed() {
        let mark = |task: &str, generation| Mark { task: TaskId::parse(task).unwrap(), generation };
        let (one, two) = ("task-0123456789abcdef", "task-fedcba9876543210");
        let live = [(mark(one, 5), false)];
        for (found, known, want) in [
            (Ok(mark(one, 4)), &live[..], Leftover::Superseded),
            (Ok(mark(one, 5)), &live[..], Leftover::Beside),
            (Ok(mark(one, 5)), &[(mark(one, 5), true)][..], Leftover::Superseded),
            (Ok(mark(one, 6)), &live[..], Leftover::Newer { generation: 6 }),
            (Ok(mark(two, 1)), &live[..], Leftover::Foreign),
            (Ok(mark(two, 1)), &[(mark(one, 5), false), (mark(two, 2), false)][..], Leftover::Superseded),
            (Ok(mark(one, 1)), &[][..], Leftover::Foreign),
            (Err("torn".to_owned()), &live[..], Leftover::Unreadable("torn".to_owned())),
        ] {
            let judged = judge_leftover(found, known);
            assert_eq!(judged, want);
            assert_eq!(judged.is_removable(), want == Leftover::Superseded);
        }
    }
}
