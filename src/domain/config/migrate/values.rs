//! The same changes on the values alone: what the edited text has to mean.

use super::super::problem::Place;
use super::super::tree::{self, Data, Entry, Node};

/// The value at a path of keys.
pub fn get<'d>(data: &'d Data, path: &[&str]) -> Option<&'d Data> {
    let Some((first, rest)) = path.split_first() else { return Some(data) };
    let Data::Map(entries) = data else { return None };
    get(&entries.iter().find(|entry| entry.key == *first)?.value.data, rest)
}

/// Takes the value at a path out, and every section that becomes empty by that.
pub fn remove(data: &mut Data, path: &[&str]) -> Option<Data> {
    let (first, rest) = path.split_first()?;
    let Data::Map(entries) = data else { return None };
    let at = entries.iter().position(|entry| entry.key == *first)?;
    if rest.is_empty() {
        return Some(entries.remove(at).value.data);
    }
    let below = &mut entries[at].value.data;
    let removed = remove(below, rest)?;
    if matches!(below, Data::Map(left) if left.is_empty()) {
        entries.remove(at);
    }
    Some(removed)
}

/// Sets the value at a path; sections on the way that are not there are made.
pub fn set(data: &mut Data, path: &[&str], value: Data) {
    let Some((first, rest)) = path.split_first() else { return *data = value };
    if !matches!(data, Data::Map(_)) {
        *data = Data::Map(Vec::new());
    }
    let Data::Map(entries) = data else { return };
    let at = entries.iter().position(|entry| entry.key == *first).unwrap_or_else(|| {
        let node = Node { place: Place::START, data: Data::Null };
        entries.push(Entry { key: (*first).to_owned(), place: Place::START, value: node });
        entries.len() - 1
    });
    set(&mut entries[at].value.data, rest, value);
}

/// Moves a section to the top-level key `to`; what already stands there wins, key by key.
pub fn promote(data: &mut Data, path: &[&str], to: &str) {
    let Some(old) = remove(data, path) else { return };
    let Data::Map(children) = old else { return };
    if !matches!(get(data, &[to]), Some(Data::Map(_))) {
        return set(data, &[to], Data::Map(children));
    }
    for child in children {
        if get(data, &[to, &child.key]).is_none() {
            set(data, &[to, &child.key], child.value.data);
        }
    }
}

/// Whether two values mean the same; places and the order of keys do not count. An empty section and none are one.
pub fn same(a: &Data, b: &Data) -> bool {
    match (a, b) {
        (Data::Map(a), Data::Map(b)) => a.len() == b.len() && a.iter().all(|entry| has(b, entry)),
        (Data::List(a), Data::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(&a.data, &b.data)),
        (Data::Map(empty), Data::Null) | (Data::Null, Data::Map(empty)) => empty.is_empty(),
        (a, b) => a == b,
    }
}

fn has(entries: &[Entry], wanted: &Entry) -> bool {
    entries.iter().any(|entry| entry.key == wanted.key && same(&entry.value.data, &wanted.value.data))
}

/// A value on one line.
pub fn flow(data: &Data) -> String {
    match data {
        Data::Null => "null".into(),
        Data::Bool(value) => value.to_string(),
        Data::Int(value) => value.to_string(),
        Data::Float(text) => text.clone(),
        Data::Text(text) => scalar(text),
        Data::List(items) => {
            let items: Vec<String> = items.iter().map(|item| flow(&item.data)).collect();
            format!("[{}]", items.join(", "))
        }
        Data::Map(entries) => {
            let entries: Vec<String> =
                entries.iter().map(|entry| format!("{}: {}", scalar(&entry.key), flow(&entry.value.data))).collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

/// A section as lines below its key.
pub fn block(entries: &[Entry], indent: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for entry in entries {
        let key = format!("{}{}:", " ".repeat(indent), scalar(&entry.key));
        match &entry.value.data {
            Data::Map(below) if !below.is_empty() => {
                lines.push(key);
                lines.extend(block(below, indent + 2));
            }
            other => lines.push(format!("{key} {}", flow(other))),
        }
    }
    lines
}

/// A text as a scalar: plain where it reads as itself, else in double quotes, whose escapes are those of JSON.
fn scalar(text: &str) -> String {
    let is_plain = !text.is_empty()
        && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '/' | '.' | '-' | '@' | ':' | ' '))
        && !text.contains(": ")
        && !text.starts_with(['-', ' ', ':'])
        && !text.ends_with([' ', ':'])
        && matches!(tree::parse(text, &mut Vec::new()), Some(Node { data: Data::Text(read), .. }) if read == text);
    if is_plain { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}
