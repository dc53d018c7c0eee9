//! The types that keys have: booleans, numbers, texts, words, names of GitHub, lists and maps.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::domain::ids::Login;
use crate::domain::policy::SpawnPolicy;
use crate::domain::reference::RepoRef;

use super::problem::nearest;
use super::schema::{At, Reader, Rule, Shape, Value, words_listed};
use super::tree::{Data, Node, shown};

impl Value for bool {
    fn read(node: &Node, at: &At<'_>, reader: &mut Reader) -> Option<Self> {
        match node.data {
            Data::Bool(value) => Some(value),
            _ => {
                reader.expected("a boolean (`true` or `false`)", node, at);
                None
            }
        }
    }

    fn show(&self) -> Json {
        Json::Bool(*self)
    }

    fn shape() -> Shape {
        Shape::Boolean
    }
}

/// Reads a whole number; without a stated range the type's own is the range.
fn number<N: TryFrom<i64> + TryFrom<u64>>(most: u64, node: &Node, at: &At<'_>, reader: &mut Reader) -> Option<N> {
    let Data::Int(value) = node.data else {
        reader.expected("a whole number", node, at);
        return None;
    };
    let (least, most) = match at.rule {
        Rule::Range(least, limit) => (*least, (*limit).min(most)),
        _ => (0, most),
    };
    let allowed = u64::try_from(value).is_ok_and(|value| (least..=most).contains(&value));
    match N::try_from(value) {
        Ok(value) if allowed => Some(value),
        _ => {
            reader.refuse(node, at, format!("must be {least} to {most}, is {value}"));
            None
        }
    }
}

macro_rules! numbers {
    ($($name:ty),*) => {$(
        impl Value for $name {
            fn read(node: &Node, at: &At<'_>, reader: &mut Reader) -> Option<Self> {
                number(u64::from(<$name>::MAX), node, at, reader)
            }

            fn show(&self) -> Json {
                Json::from(*self)
            }

            fn shape() -> Shape {
                Shape::Number
            }
        }
    )*};
}

numbers!(u16, u32, u64);

/// The text of a node, whatever its rule.
fn text<'n>(what: &str, node: &'n Node, at: &At<'_>, reader: &mut Reader) -> Option<&'n str> {
    match &node.data {
        Data::Text(text) => Some(text),
        _ => {
            reader.expected(what, node, at);
            None
        }
    }
}

impl Value for String {
    fn read(node: &Node, at: &At<'_>, reader: &mut Reader) -> Option<Self> {
        let value = text("a text", node, at, reader)?;
        match at.rule {
            Rule::Text(rule) if !(rule.holds)(value) => {
                reader.refuse(node, at, format!("`{}` must {}", shown(value), rule.must));
                None
            }
            Rule::OneOf(words) => word(value, words, node, at, reader).map(str::to_owned),
            _ => Some(value.to_owned()),
        }
    }

    fn show(&self) -> Json {
        Json::String(self.clone())
    }

    fn shape() -> Shape {
        Shape::Text
    }
}

/// One of a set of words, exactly as written.
fn word<'w>(value: &str, words: &[&'w str], node: &Node, at: &At<'_>, reader: &mut Reader) -> Option<&'w str> {
    let found = words.iter().find(|word| **word == value).copied();
    if found.is_none() {
        let near = nearest(value, words.iter().copied().filter(|word| !word.is_empty()));
        let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        reader.refuse(node, at, format!("must be {}, is `{}`{hint}", words_listed(words), shown(value)));
    }
    found
}

/// A closed set of words in the configuration.
pub trait Word: Sized + Copy + PartialEq + 'static {
    /// Every word with what it means.
    const WORDS: &'static [(&'static str, Self)];

    /// The word for this value.
    fn as_word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, value)| *value == self).map_or("", |(word, _)| word)
    }
}

pub(super) fn read_word<W: Word>(node: &Node, at: &At<'_>, reader: &mut Reader) -> Option<W> {
    let words: Vec<&str> = W::WORDS.iter().map(|(word, _)| *word).collect();
    let value = text(&words_listed(&words), node, at, reader)?;
    let found = word(value, &words, node, at, reader)?;
    W::WORDS.iter().find(|(word, _)| *word == found).map(|(_, value)| *value)
}

/// Declares a type's words and makes it a [`Value`].
macro_rules! words {
    ($name:ty: $($word:literal => $value:expr),+ $(,)?) => {
        impl $crate::domain::config::values::Word for $name {
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, $value)),+];
        }

        impl $crate::domain::config::schema::Value for $name {
            fn read(
                node: &$crate::domain::config::tree::Node,
                at: &$crate::domain::config::schema::At<'_>,
                reader: &mut $crate::domain::config::schema::Reader,
            ) -> Option<Self> {
                $crate::domain::config::values::read_word(node, at, reader)
            }

            fn show(&self) -> serde_json::Value {
                $crate::domain::config::values::Word::as_word(*self).into()
            }

            fn shape() -> $crate::domain::config::schema::Shape {
                $crate::domain::config::schema::Shape::Word(vec![$($word),+])
            }
        }
    };
}
pub(super) use words;

words!(SpawnPolicy: "never" => SpawnPolicy::Never, "labeled" => SpawnPolicy::Labeled, "always" => SpawnPolicy::Always);

impl Value for RepoRef {
    fn read(node: &Node, at: &At<'_>, reader: &mut Reader) -> Option<Self> {
        let value = text("a repository such as `owner/repo`", node, at, reader)?;
        match Self::parse(value) {
            Ok(repo) => Some(repo),
            Err(_) => {
                let rule = "must be `owner/repo`, or `host/owner/repo` when it is not on github.com";
                reader.refuse(node, at, format!("`{}` {rule}", shown(value)));
                None
            }
        }
    }

    fn show(&self) -> Json {
        let text = self.to_string();
        Json::from(text.strip_prefix("github:").unwrap_or(&text))
    }

    fn shape() -> Shape {
        Shape::Name("repository")
    }
}

impl Value for Login {
    fn read(node: &Node, at: &At<'_>, reader: &mut Reader) -> Option<Self> {
        let value = text("a login", node, at, reader)?;
        let is_login = |login: &str| {
            let name = login.strip_suffix("[bot]").unwrap_or(login);
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
        };
        let login = Self::parse(value).filter(|login| is_login(login.as_str()));
        if login.is_none() {
            reader.refuse(node, at, format!("`{}` is not a login on GitHub", shown(value)));
        }
        login
    }

    fn show(&self) -> Json {
        Json::from(self.as_str())
    }

    fn shape() -> Shape {
        Shape::Name("login")
    }
}

impl<V: Value> Value for Vec<V> {
    fn read(node: &Node, at: &At<'_>, reader: &mut Reader) -> Option<Self> {
        let Data::List(items) = &node.data else {
            reader.expected("a list", node, at);
            return None;
        };
        let read = items.iter().enumerate().map(|(n, item)| V::read(item, &at.element(&format!("[{n}]")), reader));
        Some(read.flatten().collect())
    }

    fn show(&self) -> Json {
        Json::Array(self.iter().map(Value::show).collect())
    }

    fn shape() -> Shape {
        Shape::List(Box::new(V::shape()))
    }
}

impl<V: Value> Value for BTreeMap<String, V> {
    fn read(node: &Node, at: &At<'_>, reader: &mut Reader) -> Option<Self> {
        let Data::Map(entries) = &node.data else {
            reader.expected("names with a value each", node, at);
            return None;
        };
        let mut map = Self::new();
        for entry in entries {
            let below = at.element(&format!(".{}", shown(&entry.key)));
            if let Some(rule) = at.names.filter(|rule| !(rule.holds)(&entry.key)) {
                let key = Node { place: entry.place, data: Data::Null };
                reader.refuse(&key, &below, format!("the name `{}` must {}", shown(&entry.key), rule.must));
            }
            reader.set.push((below.path.clone(), entry.place));
            if let Some(value) = V::read(&entry.value, &below, reader) {
                map.insert(entry.key.clone(), value);
            }
        }
        Some(map)
    }

    fn show(&self) -> Json {
        Json::Object(self.iter().map(|(name, value)| (name.clone(), value.show())).collect())
    }

    fn shape() -> Shape {
        Shape::Names(Box::new(V::shape()))
    }
}
