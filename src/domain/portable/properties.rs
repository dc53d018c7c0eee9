//! What the join promises, on generated records.

use proptest::prelude::*;

use super::samples::{dated_records, records};
use super::*;

/// The join's record, or its conflict's name: conflicts have to agree as well.
fn joined(a: &Record, b: &Record) -> Result<Record, &'static str> {
    match join(a, b, None) {
        Ok(joined) => Ok(joined.record),
        Err(Conflict::Keys { .. }) => Err("keys"),
        Err(Conflict::References { .. }) => Err("references"),
    }
}

fn made_one(a: &Record, b: &Record) -> Record {
    joined(a, b).unwrap()
}

/// The greatest command of some records, by time, then rank; and the latest ending.
fn newest(records: &[&Record]) -> (Option<Control>, Option<Time>) {
    let controls = records.iter().filter_map(|record| record.control.present());
    let control = controls.max_by_key(|control| (control.at(), control.command.rank())).cloned();
    (control, records.iter().filter_map(|record| record.ended.as_ref()).map(|ended| ended.at).max())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_is_rendered_reads_back(record in records(true)) {
        let text = render(&record);
        prop_assert_eq!(parse(text.as_bytes()).unwrap(), record.clone());
        prop_assert_eq!(render(&parse(text.as_bytes()).unwrap()), text);
        prop_assert!(same_meaning(&record, &record, Volatile::Compared));
    }

    #[test]
    fn dating_is_done_once(record in records(true)) {
        let once = date::dated(&record, None, None);
        prop_assert_eq!(date::dated(&once, None, None), once.clone());
        prop_assert!(same_meaning(&record, &once, Volatile::Compared));
    }

    #[test]
    fn dated_join_is_commutative_and_idempotent(a in dated_records(true), b in dated_records(true)) {
        prop_assert_eq!(joined(&a, &b), joined(&b, &a));
        prop_assert_eq!(made_one(&a, &a), a.clone());
        if let Ok(one) = joined(&a, &b) {
            prop_assert_eq!(made_one(&one, &a), one.clone());
            prop_assert_eq!(made_one(&one, &one), one);
        }
    }

    #[test]
    fn dated_join_is_associative(a in dated_records(true), b in dated_records(true), c in dated_records(true)) {
        let left = joined(&a, &b).and_then(|ab| joined(&ab, &c));
        let right = joined(&b, &c).and_then(|bc| joined(&a, &bc));
        prop_assert_eq!(left, right);
    }

    #[test]
    fn undated_join_is_commutative_and_idempotent(
        a in records(true),
        b in records(true),
        base in prop::option::of(records(true)),
    ) {
        let base = base.as_ref();
        let swap = |result: Result<Joined, Conflict>| match result {
            Ok(joined) => Ok(joined),
            Err(Conflict::Keys { keys, rest }) => Err((keys.len(), rest)),
            Err(Conflict::References { .. }) => unreachable!(),
        };
        prop_assert_eq!(swap(join(&a, &b, base)), swap(join(&b, &a, base)));
        let own = join(&a, &a, base).unwrap().record;
        prop_assert_eq!(join(&own, &own, base).unwrap().record, own);
    }

    #[test]
    fn no_join_arms_what_its_newest_command_or_ending_disarms(
        a in records(false),
        b in records(false),
        base in prop::option::of(records(false)),
    ) {
        let one = join(&a, &b, base.as_ref()).unwrap().record;
        let (control, ended) = newest(&[&a, &b]);
        if one.is_armed() {
            let control = control.unwrap();
            prop_assert!(control.command.arms() && control.at() > ended);
            // A tombstone that nobody dated is news of an ending: the join itself never arms over it.
            prop_assert!(!date::is_undated(&a) && !date::is_undated(&b));
            prop_assert!(a.is_armed() || b.is_armed());
            prop_assert!(control.at() >= a.commanded_at && control.at() >= b.commanded_at);
        }
        prop_assert_eq!(&date::dated(&one, None, None), &one, "the join's result is in normal form");
    }

    #[test]
    fn control_is_null_exactly_when_the_ending_is_not_before_it(a in dated_records(false), b in dated_records(false)) {
        let one = made_one(&a, &b);
        let (control, ended) = newest(&[&a, &b]);
        let null = control.as_ref().is_some_and(|control| ended.is_some() && control.at() <= ended);
        match control {
            Some(_) => prop_assert_eq!(one.control.present().is_none(), null),
            None => prop_assert!(one.control.present().is_none()),
        }
        prop_assert_eq!(one.ended.map(|ended| ended.at), ended);
        prop_assert_eq!(one.commanded_at, a.commanded_at.max(b.commanded_at));
    }

    #[test]
    fn no_seen_comment_is_lost(a in records(false), b in records(false)) {
        let one = made_one(&a, &b);
        for side in [&a, &b] {
            for id in side.seen_comments().into_iter().flatten() {
                prop_assert!(one.seen_comments().is_some_and(|seen| seen.contains(id)));
            }
        }
    }

    /// Three machines join each other's copies along any path that connects them, and end byte-equal.
    #[test]
    fn three_machines_end_with_equal_bytes(
        start in prop::collection::vec(dated_records(false), 3),
        moves in prop::collection::vec((0..3_usize, 0..3_usize), 0..12),
    ) {
        let mut machines = start;
        let settle = [(0, 1), (1, 2), (2, 0), (0, 1), (1, 2)];
        for (to, from) in moves.into_iter().chain(settle) {
            machines[to] = made_one(&machines[to], &machines[from]);
            // What travels is text.
            machines[to] = parse(render(&machines[to]).as_bytes()).unwrap();
        }
        let texts: Vec<String> = machines.iter().map(render).collect();
        prop_assert!(texts[0] == texts[1] && texts[1] == texts[2], "{}", texts.join("---\n"));
    }

    /// Adoption with a clock: again and again changes nothing, arms nothing that the newest fact disarms, loses nothing.
    #[test]
    fn adoption_settles(store in dated_records(false), file in records(true), hour in 0..6_i64) {
        let now = samples::at(hour);
        let once = adopt(&store, &file, now).unwrap();
        let again = adopt(&once.record, &file, now.plus_seconds(3600)).unwrap();
        prop_assert!(!again.changed && again.control.is_none() && again.new_comments.is_empty(), "{again:?}");
        if once.record.is_armed() {
            let (control, ended) = newest(&[&store, &file]);
            prop_assert!(control.is_some_and(|control| control.command.arms() && control.at() > ended));
        }
        let known = once.record.seen_comments().cloned().unwrap_or_default();
        prop_assert!(store.seen_comments().is_none_or(|seen| seen.is_subset(&known)));
    }
}

use crate::domain::time::Time;
