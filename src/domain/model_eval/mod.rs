//! Evaluations of models: what was observed of a model on identical tasks, and nothing that could rank one above another
//! (`runs` rules, section 4). No provider is called and no credential is known; somebody plays a task with a model and
//! writes down what was seen.

mod profile;
mod record;
mod shape;
mod task_set;

pub use profile::{Comparison, DISCLAIMER, Profile, SMALLEST_SAMPLE, Sample, compare, profile};
pub use record::{
    Completion, Line, NewRun, Observation, Record, Refusal, RunId, complete, observe, open, run_id, seal_of,
};
pub use shape::{document, parse, parse_observation};
pub use task_set::{Dimension, Edition, Task, TaskSet, shipped};

#[cfg(test)]
mod tests;
