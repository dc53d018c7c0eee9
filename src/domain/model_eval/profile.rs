//! What records come to: counts, each beside how many tasks it rests on. There is no total, no quotient and no order of
//! models, so that nobody can read a ranking out of it.

use std::collections::BTreeSet;

use super::record::{Record, Refusal, RunId};
use super::task_set::{Dimension, Edition};

/// Fewest different tasks of a dimension that are counted at all.
pub const SMALLEST_SAMPLE: usize = 3;

/// What stands under every comparison.
pub const DISCLAIMER: &str = "These are counts of what was observed on these tasks in these environments. They are no ranking: nothing here says that one model is better than another.";

/// What was seen in one dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sample {
    /// Too few different tasks: no count is given.
    Insufficient {
        /// How many.
        tasks: usize,
    },
    /// Enough to be counted.
    Observed {
        /// How often it was a success.
        successes: usize,
        /// Of how many attempts.
        attempts: usize,
        /// On how many different tasks.
        tasks: usize,
    },
}

/// What was observed of one model, or in one record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// Name of the model or id of the record.
    pub name: String,
    /// The tasks.
    pub task_set: Edition,
    /// The records that are counted, by their ids.
    pub runs: Vec<RunId>,
    /// Every dimension, in the one order there is.
    pub samples: Vec<(Dimension, Sample)>,
    /// The environments, each once, by their text.
    pub environments: Vec<String>,
    /// What the records say that they do not show, in the order of the records.
    pub limitations: Vec<String>,
}

/// Two profiles side by side, in the order of their names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    /// Both; neither is the first but by its name.
    pub sides: [Profile; 2],
}

/// Counts the completed records among these; open ones are not evidence yet.
///
/// # Errors
/// None is completed, or they are of different task sets.
pub fn profile(name: &str, records: &[Record]) -> Result<Profile, Refusal> {
    let mut completed: Vec<&Record> = records.iter().filter(|record| record.completion.is_some()).collect();
    completed.sort_by(|one, other| one.run_id.cmp(&other.run_id));
    let Some(first) = completed.first() else { return Err(Refusal::NoRecord(format!("`{name}`"))) };
    let task_set = first.task_set.clone();
    if let Some(other) = completed.iter().find(|record| record.task_set != task_set) {
        return Err(Refusal::DifferentTasks(task_set, other.task_set.clone()));
    }
    let environments: BTreeSet<&str> = completed.iter().map(|record| record.of.environment.as_str()).collect();
    let limitations = completed.iter().filter_map(|record| record.completion.as_ref());
    Ok(Profile {
        name: name.to_owned(),
        samples: Dimension::ALL.into_iter().map(|dimension| (dimension, sample(dimension, &completed))).collect(),
        environments: environments.into_iter().map(str::to_owned).collect(),
        limitations: limitations.map(|completion| completion.limitations.clone()).collect(),
        runs: completed.iter().map(|record| record.run_id.clone()).collect(),
        task_set,
    })
}

fn sample(dimension: Dimension, records: &[&Record]) -> Sample {
    let seen = || records.iter().flat_map(|record| &record.observations).filter(|one| one.dimension == dimension);
    let tasks = seen().map(|one| one.task.as_str()).collect::<BTreeSet<_>>().len();
    match tasks < SMALLEST_SAMPLE {
        true => Sample::Insufficient { tasks },
        false => {
            Sample::Observed { successes: seen().filter(|one| one.success).count(), attempts: seen().count(), tasks }
        }
    }
}

/// Puts two profiles side by side.
///
/// # Errors
/// They are of different task sets, or are one and the same.
pub fn compare(one: Profile, other: Profile) -> Result<Comparison, Refusal> {
    if one.task_set != other.task_set {
        return Err(Refusal::DifferentTasks(one.task_set, other.task_set));
    }
    if one.name == other.name || one.runs == other.runs {
        return Err(Refusal::Same(one.name));
    }
    // Names are all that decides the order: what was observed must not.
    let sides = if one.name < other.name { [one, other] } else { [other, one] };
    Ok(Comparison { sides })
}
