//! The earlier system's ledgers joined: the larger counter, the longer list, whichever side it stands on.
//!
//! JSON values form a lattice here: `null` < booleans < numbers < texts < lists < objects; within a kind the greater
//! value, for lists the union, for objects key by key. So the join of any number of copies does not depend on order.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::render::canonical;

/// Joins two ledgers. Both are brought into normal form first.
pub(super) fn join(a: &Map<String, Value>, b: &Map<String, Value>) -> Map<String, Value> {
    let mut out = normal_map(a);
    for (key, value) in normal_map(b) {
        let value = match out.get(&key) {
            Some(other) => join_values(other, &value),
            None => value,
        };
        out.insert(key, value);
    }
    out
}

/// A ledger with every list sorted and without repetition.
pub(super) fn normal_map(map: &Map<String, Value>) -> Map<String, Value> {
    map.iter().map(|(key, value)| (key.clone(), normal(value))).collect()
}

fn normal(value: &Value) -> Value {
    match value {
        Value::Array(items) => set(items.iter().map(normal)),
        Value::Object(map) => Value::Object(normal_map(map)),
        other => other.clone(),
    }
}

fn set(items: impl Iterator<Item = Value>) -> Value {
    let sorted: BTreeMap<String, Value> = items.map(|item| (canonical(&item), item)).collect();
    Value::Array(sorted.into_values().collect())
}

fn join_values(a: &Value, b: &Value) -> Value {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => Value::Object(join(a, b)),
        (Value::Array(a), Value::Array(b)) => set(a.iter().chain(b).cloned()),
        _ if compare(a, b) == Ordering::Less => b.clone(),
        _ => a.clone(),
    }
}

/// Compares values of different kinds by kind, numbers by size, everything else by its text.
fn compare(a: &Value, b: &Value) -> Ordering {
    let by_text = || canonical(a).cmp(&canonical(b));
    kind(a).cmp(&kind(b)).then_with(|| match (a, b) {
        (Value::Number(x), Value::Number(y)) => compare_numbers(&x.to_string(), &y.to_string()).then_with(by_text),
        _ => by_text(),
    })
}

const fn kind(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(_) => 2,
        Value::String(_) => 3,
        Value::Array(_) => 4,
        Value::Object(_) => 5,
    }
}

/// Compares two JSON numbers exactly, whatever their length.
fn compare_numbers(a: &str, b: &str) -> Ordering {
    let (a, b) = (Decimal::read(a), Decimal::read(b));
    let sizes = |x: &Decimal, y: &Decimal| (x.exponent, &x.digits).cmp(&(y.exponent, &y.digits));
    match (a.sign, b.sign) {
        (-1, -1) => sizes(&b, &a),
        (1, 1) => sizes(&a, &b),
        (x, y) => x.cmp(&y),
    }
}

/// `sign * 0.digits * 10^exponent`, digits without zeros at either end.
struct Decimal {
    sign: i8,
    exponent: i128,
    digits: String,
}

impl Decimal {
    fn read(text: &str) -> Self {
        let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let limit = if exponent.starts_with('-') { i128::MIN / 2 } else { i128::MAX / 2 };
        let exponent: i128 = exponent.parse().unwrap_or(limit).clamp(i128::MIN / 2, i128::MAX / 2);
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let digits = all.trim_start_matches('0');
        let zeros = all.len() - digits.len();
        let shift = i128::try_from(whole.len()).unwrap_or(0) - i128::try_from(zeros).unwrap_or(0);
        let digits = digits.trim_end_matches('0').to_owned();
        match (digits.is_empty(), negative) {
            (true, _) => Self { sign: 0, exponent: 0, digits },
            (false, true) => Self { sign: -1, exponent: exponent + shift, digits },
            (false, false) => Self { sign: 1, exponent: exponent + shift, digits },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_compare_by_size_at_any_length() {
        let rising =
            ["-1e400", "-2", "-1.5", "-0.001", "0", "1e-400", "0.5", "1", "9", "10", "9007199254740993", "1e99"];
        for (index, a) in rising.iter().enumerate() {
            for (other, b) in rising.iter().enumerate() {
                assert_eq!(compare_numbers(a, b), index.cmp(&other), "{a} {b}");
            }
        }
        for (a, b) in [("1", "1.0"), ("100", "1e2"), ("0", "-0.0"), ("0.01", "1E-2"), ("1e+2", "100")] {
            assert_eq!(compare_numbers(a, b), Ordering::Equal, "{a} {b}");
        }
    }

    #[test]
    fn the_larger_counter_stays_and_lists_unite() {
        let map = |text: &str| serde_json::from_str::<Map<String, Value>>(text).unwrap();
        let a = map(r#"{"attempts": 2, "gaveUp": true, "comments": ["b", "a"], "x": 1}"#);
        let b = map(r#"{"attempts": 10, "gaveUp": false, "comments": ["c"], "x": null}"#);
        let both = map(r#"{"attempts": 10, "gaveUp": true, "comments": ["a", "b", "c"], "x": 1}"#);
        assert_eq!(join(&a, &b), both);
        assert_eq!(join(&b, &a), both);
        assert_eq!(join(&both, &both), both);
    }
}
