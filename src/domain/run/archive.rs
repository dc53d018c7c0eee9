//! Names of archives, and what to think of a temporary that was left behind.

use super::record::TaskId;
use super::shape;

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

/// What a temporary beside the file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leftover {
    /// Of this task and an older or the same generation: what it held stands in the file. It can be removed.
    Superseded,
    /// Of this task and a newer generation: a write that was cut off before it took the file's place.
    Newer {
        /// Its generation.
        generation: u64,
    },
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

/// Judges a temporary by its bytes; `live` is task and generation of the file it lies beside.
pub fn judge_leftover(bytes: &[u8], live: Option<(&TaskId, u64)>) -> Leftover {
    match (shape::parse(bytes), live) {
        (Err(error), _) => Leftover::Unreadable(error.to_string()),
        (Ok(run), Some((task, generation))) if run.task_id == *task => match run.generation > generation {
            true => Leftover::Newer { generation: run.generation },
            false => Leftover::Superseded,
        },
        (Ok(_), _) => Leftover::Foreign,
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
        for other in ["task-0123456789abcdef-2.json", "task-0123456789abcdef-x.json", "task-0000000000000000.json", "x"]
        {
            assert_eq!(archive_number(&task, other), None, "{other}");
        }
    }
}
