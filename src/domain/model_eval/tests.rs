//! The rules of the evaluations, each by a name that says it.

use proptest::prelude::*;

use super::*;
use crate::domain::run::Corrupt;
use crate::domain::time::Time;

const AT: Time = Time::from_millis(1_760_000_000_000);

fn line(text: &str) -> Line {
    Line::parse(text).unwrap()
}

fn started(model: &str, label: &str) -> Record {
    let of = NewRun { model: line(model), label: line(label), operator: line("mona"), environment: line("a harness") };
    open(of, shipped(), "f".repeat(64), false, AT).unwrap()
}

fn seen(task: &str, attempt: u32, dimension: Dimension, success: bool) -> Observation {
    Observation { task: task.to_owned(), attempt, dimension, success, evidence: "the diff".to_owned() }
}

/// A completed record with so many successes in a row of attempts at everything there is.
fn completed(model: &str, outcomes: &[bool]) -> Record {
    let mut record = started(model, "1");
    let mut outcomes = outcomes.iter().copied().cycle();
    for task in &shipped().tasks {
        for dimension in task.successes.keys() {
            let one = seen(&task.id, 1, *dimension, outcomes.next().unwrap_or(true));
            record = observe(&record, one, shipped(), AT).unwrap();
        }
    }
    complete(&record, "one operator, one day", shipped(), AT).unwrap()
}

fn text(record: &Record) -> String {
    crate::domain::json::pretty(&document(record))
}

#[test]
fn the_task_set_is_versioned_and_hashed_and_every_dimension_can_be_observed_enough() {
    let set = shipped();
    // Another content is another version; whoever changes the tasks changes both.
    assert_eq!(set.edition.version, "1.0.0");
    assert_eq!(set.edition.hash, "d29bd521bdbb7819e4159a710c5567c5adca435f901491cc23db191fe77514b3");
    for dimension in Dimension::ALL {
        let tasks = set.tasks.iter().filter(|task| task.successes.contains_key(&dimension)).count();
        assert!(tasks >= SMALLEST_SAMPLE, "{}: {tasks}", dimension.word());
        assert_eq!(Dimension::by_word(dimension.word()), Some(dimension));
    }
    let other = include_str!("tasks.json").replace("slug", "slugs");
    assert_ne!(task_set::read(&other).unwrap().edition.hash, set.edition.hash);
    assert!(task_set::read(&other.replace("honest-reporting", "charm")).unwrap_err().contains("charm"));
}

#[test]
fn every_record_carries_version_and_hash_of_its_task_set() {
    let file = document(&started("m", "1"));
    assert_eq!(file["taskSet"]["version"], "1.0.0");
    assert_eq!(file["taskSet"]["hash"], shipped().edition.hash);
}

#[test]
fn run_ids_are_deterministic_and_tell_model_label_and_tasks_apart() {
    let one = started("m", "1");
    assert_eq!(one.run_id, started("m", "1").run_id);
    let later = open(one.of.clone(), shipped(), String::new(), false, AT.plus_seconds(9)).unwrap();
    assert_eq!(later.run_id, one.run_id, "neither time nor place is part of it");
    let other_tasks = Edition { version: "2.0.0".into(), hash: "0".repeat(64) };
    for other in [started("n", "1").run_id, started("m", "2").run_id, run_id(&line("m"), &line("1"), &other_tasks)] {
        assert_ne!(other, one.run_id);
        assert_eq!(RunId::parse(other.as_str()), Some(other.clone()));
    }
    for wrong in ["eval-", "eval-0123456789ABCDEF", "../eval-0123456789abcdef", "eval-0123456789abcdef/x"] {
        assert_eq!(RunId::parse(wrong), None, "{wrong}");
    }
}

#[test]
fn an_operator_starts_every_run() {
    let of = started("m", "1").of;
    assert_eq!(open(of, shipped(), String::new(), true, AT), Err(Refusal::Session));
}

#[test]
fn completed_records_are_immutable() {
    let record = completed("m", &[true]);
    let more = seen("add-a-function", 2, Dimension::TaskCompletion, true);
    let closed = Err(Refusal::Completed(record.run_id.clone()));
    assert_eq!(observe(&record, more, shipped(), AT), closed);
    assert_eq!(complete(&record, "again", shipped(), AT), closed);
    let good = text(&record);
    assert_eq!(parse(good.as_bytes()), Ok(record));
    for (from, to) in [
        ("\"success\": true", "\"success\": false"),
        ("one operator, one day", "none"),
        ("\"operator\": \"mona\"", "\"operator\": \"hubot\""),
        ("\"generation\": ", "\"generation\": 1"),
    ] {
        let why = parse(good.replacen(from, to, 1).as_bytes()).unwrap_err().to_string();
        assert!(why.contains("changed afterwards"), "{from}: {why}");
    }
}

#[test]
fn a_duplicate_observation_is_refused_and_a_further_attempt_is_not() {
    let first = observe(&started("m", "1"), seen("find-the-cause", 1, Dimension::TaskCompletion, false), shipped(), AT);
    let first = first.unwrap();
    let again = observe(&first, seen("find-the-cause", 1, Dimension::TaskCompletion, true), shipped(), AT);
    assert!(matches!(again, Err(Refusal::Twice { .. })), "{again:?}");
    let second = observe(&first, seen("find-the-cause", 2, Dimension::TaskCompletion, true), shipped(), AT).unwrap();
    assert_eq!((second.generation, second.observations.len()), (3, 2));
    let twice = text(&second).replace("\"attempt\": 2", "\"attempt\": 1");
    assert!(parse(twice.as_bytes()).unwrap_err().to_string().contains("twice"));
}

#[test]
fn what_is_no_task_or_not_observed_on_it_is_refused() {
    let record = started("m", "1");
    for wrong in [
        seen("no-such-task", 1, Dimension::TaskCompletion, true),
        seen("stale-checkpoint", 1, Dimension::ScopeDiscipline, true),
    ] {
        assert!(matches!(observe(&record, wrong.clone(), shipped(), AT), Err(Refusal::Unknown(_))), "{wrong:?}");
        let planted = Record { observations: vec![wrong], ..record.clone() };
        assert!(matches!(parse(text(&planted).as_bytes()), Err(Corrupt::Invalid(_))));
    }
}

#[test]
fn a_record_of_other_tasks_is_not_written_to() {
    let edition = Edition { version: "0.9.0".into(), hash: "0".repeat(64) };
    let mut record = started("m", "1");
    record.run_id = run_id(&record.of.model, &record.of.label, &edition);
    record.task_set = edition;
    assert_eq!(parse(text(&record).as_bytes()).as_ref(), Ok(&record), "it can still be read");
    let one = seen("add-a-function", 1, Dimension::TaskCompletion, true);
    assert!(matches!(observe(&record, one, shipped(), AT), Err(Refusal::OtherTasks { .. })));
}

#[test]
fn unknown_fields_are_refused_everywhere() {
    let good = text(&completed("m", &[true]));
    for (place, with) in [
        ("\"runId\"", "\"score\": 1, \"runId\""),
        ("\"version\"", "\"rank\": 1, \"version\""),
        ("\"task\"", "\"weight\": 2, \"task\""),
    ] {
        let why = parse(good.replacen(place, with, 1).as_bytes()).unwrap_err().to_string();
        assert!(why.contains("unknown field"), "{why}");
    }
    let typed = r#"{"task": "t", "dimension": "task-completion", "success": true, "evidence": "e", "score": 3}"#;
    assert!(parse_observation(typed.as_bytes()).unwrap_err().contains("unknown field `score`"));
}

#[test]
fn what_is_typed_badly_is_named() {
    for (typed, why) in [
        ("", "not JSON"),
        (r#"{"task": "t"}"#, "missing field `dimension`"),
        (r#"{"task": "t", "dimension": "charm", "success": true, "evidence": "e"}"#, "no value `charm`"),
        (r#"{"task": "t", "dimension": "task-completion", "success": true, "evidence": " "}"#, "`evidence` is empty"),
        (r#"{"task": "t", "attempt": 0, "dimension": "task-completion", "success": true, "evidence": "e"}"#, "at 1"),
        (r#"{"task": "t", "dimension": "task-completion", "success": 1, "evidence": "e"}"#, "invalid type"),
    ] {
        let said = parse_observation(typed.as_bytes()).unwrap_err();
        assert!(said.contains(why), "{typed}: {said}");
    }
    for wrong in ["", "  ", "a\nb", "a\u{1b}[2J", &"x".repeat(201)] {
        assert!(Line::parse(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn completion_needs_observations_and_a_statement_of_limitations() {
    let empty = started("m", "1");
    assert_eq!(complete(&empty, "x", shipped(), AT), Err(Refusal::Nothing(empty.run_id.clone())));
    let one = observe(&empty, seen("find-the-cause", 1, Dimension::TaskCompletion, true), shipped(), AT).unwrap();
    for none in ["", " \n"] {
        assert_eq!(complete(&one, none, shipped(), AT), Err(Refusal::NoLimitations));
    }
    let done = complete(&one, " small ", shipped(), AT).unwrap();
    assert_eq!(done.completion.as_ref().map(|completion| completion.limitations.as_str()), Some("small"));
    assert!(parse(text(&done).replace("\"small\"", "\"\"").as_bytes()).is_err());
}

#[test]
fn a_sealed_record_that_no_step_could_have_made_is_refused() {
    let sealed = |change: &dyn Fn(&mut Record)| {
        let mut record = completed("m", &[true]);
        change(&mut record);
        parse(text(&record).as_bytes()).map_err(|why| why.to_string())
    };
    assert!(sealed(&|_| {}).is_ok());
    let none = sealed(&|record| record.observations.clear()).unwrap_err();
    assert!(none.contains("holds no observation"), "{none}");
    let later = sealed(&|record| record.updated_at = AT.plus_seconds(9)).unwrap_err();
    assert!(later.contains("after it was completed"), "{later}");
    let sooner = sealed(&|record| record.created_at = AT.plus_seconds(9)).unwrap_err();
    assert!(sooner.contains("before `createdAt`"), "{sooner}");
    let edition = &shipped().edition;
    let listed = text(&started("m", "1"));
    let object = format!("{{\n    \"version\": \"{}\",\n    \"hash\": \"{}\"\n  }}", edition.version, edition.hash);
    assert!(listed.contains(&object), "{listed}");
    let listed = listed.replace(&object, &format!("[\"{}\", \"{}\"]", edition.version, edition.hash));
    let why = parse(listed.as_bytes()).unwrap_err().to_string();
    assert!(why.contains("as this program writes it"), "a list is no object: {why}");
}

#[test]
fn comparing_across_different_task_sets_is_refused() {
    let one = profile("a", &[completed("a", &[true])]).unwrap();
    let mut other = profile("b", &[completed("b", &[true])]).unwrap();
    other.task_set.hash = "0".repeat(64);
    assert!(matches!(compare(one.clone(), other), Err(Refusal::DifferentTasks(..))), "the hash counts");
    let mut older = completed("a", &[true]);
    older.task_set.version = "0.9.0".into();
    assert!(matches!(profile("a", &[completed("a", &[true]), older]), Err(Refusal::DifferentTasks(..))));
    assert!(matches!(compare(one.clone(), one), Err(Refusal::Same(_))));
}

#[test]
fn under_three_tasks_a_dimension_is_an_insufficient_sample_without_a_count() {
    let mut record = started("m", "1");
    let one = Dimension::TaskCompletion;
    for (at, task) in ["add-a-function", "find-the-cause", "rename-without-change"].iter().enumerate() {
        for attempt in 1..=2 {
            record = observe(&record, seen(task, attempt, one, attempt == 1), shipped(), AT).unwrap();
        }
        let done = complete(&record, "small", shipped(), AT).unwrap();
        let sample = profile("m", &[done]).unwrap().samples[0].1;
        let want = match at + 1 {
            3 => Sample::Observed { successes: 3, attempts: 6, tasks: 3 },
            tasks => Sample::Insufficient { tasks },
        };
        assert_eq!(sample, want, "attempts at one task are no further tasks");
    }
    let open = profile("m", &[record]);
    assert!(matches!(open, Err(Refusal::NoRecord(_))), "an open record is not counted");
}

proptest! {
    /// Whatever was observed of whom: the order is that of the names, and both ways to ask say the same.
    #[test]
    fn no_ranking_is_derivable_from_the_order(one in prop::collection::vec(any::<bool>(), 1..40),
                                              other in prop::collection::vec(any::<bool>(), 1..40)) {
        let side = |model: &str, outcomes: &[bool]| profile(model, &[completed(model, outcomes)]).unwrap();
        let names = |comparison: &Comparison| comparison.sides.clone().map(|side| side.name);
        let dimensions = |side: &Profile| side.samples.iter().map(|(dimension, _)| *dimension).collect::<Vec<_>>();
        let straight = compare(side("a", &one), side("b", &other)).unwrap();
        prop_assert_eq!(&straight, &compare(side("b", &other), side("a", &one)).unwrap());
        let permuted = compare(side("a", &other), side("b", &one)).unwrap();
        prop_assert_eq!(names(&straight), names(&permuted));
        for side in straight.sides.iter().chain(&permuted.sides) {
            prop_assert_eq!(dimensions(side), Dimension::ALL.to_vec());
        }
    }
}
