//! Takes known keys out of a section, each in its one shape; what is left belongs to other versions.

use serde_json::{Map, Value};

use crate::domain::time::Time;

use super::{RefusalKind, RequestedAt};

/// A section being read.
pub(super) struct Fields {
    section: &'static str,
    left: Map<String, Value>,
}

impl Fields {
    /// The fields of `section` (empty for the record itself).
    pub(super) fn new(section: &'static str, left: Map<String, Value>) -> Self {
        Self { section, left }
    }

    /// Takes a key; `null` counts as not there.
    pub(super) fn take(&mut self, key: &str) -> Option<Value> {
        self.left.remove(key).filter(|value| !value.is_null())
    }

    /// Takes a key, telling `null` from nothing.
    pub(super) fn take_section(&mut self, key: &str) -> Option<Value> {
        self.left.remove(key)
    }

    pub(super) fn text(&mut self, key: &str) -> Result<Option<String>, RefusalKind> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.wrong(key, "text")),
        }
    }

    /// A time, cut to whole seconds.
    pub(super) fn time(&mut self, key: &str) -> Result<Option<Time>, RefusalKind> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        match Time::parse(&text) {
            Ok(at) => Ok(Some(at.whole_seconds())),
            Err(_) => Err(self.wrong(key, "a UTC time such as `2026-03-02T08:15:30Z`")),
        }
    }

    /// A time, or what stands in its place.
    pub(super) fn requested_at(&mut self, key: &str) -> RequestedAt {
        let Some(value) = self.take(key) else { return RequestedAt::Unreadable(None) };
        match value.as_str().and_then(|text| Time::parse(text).ok()) {
            Some(at) => RequestedAt::At(at.whole_seconds()),
            None => RequestedAt::Unreadable(Some(super::render::canonical(&value))),
        }
    }

    pub(super) fn flag(&mut self, key: &str) -> Result<bool, RefusalKind> {
        match self.take(key) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(_) => Err(self.wrong(key, "true or false")),
        }
    }

    pub(super) fn object(&mut self, key: &str) -> Result<Map<String, Value>, RefusalKind> {
        match self.take(key) {
            None => Ok(Map::new()),
            Some(Value::Object(map)) => Ok(map),
            Some(_) => Err(self.wrong(key, "an object")),
        }
    }

    pub(super) fn texts(&mut self, key: &str) -> Result<Vec<String>, RefusalKind> {
        let items = match self.take(key) {
            None => return Ok(Vec::new()),
            Some(Value::Array(items)) => items,
            Some(_) => return Err(self.wrong(key, "a list of texts")),
        };
        let texts = items.into_iter().map(|item| match item {
            Value::String(text) => Ok(text),
            _ => Err(self.wrong(key, "a list of texts")),
        });
        texts.collect()
    }

    /// What other versions wrote.
    pub(super) fn rest(self) -> Map<String, Value> {
        self.left
    }

    pub(super) fn wrong(&self, key: &str, wanted: &'static str) -> RefusalKind {
        let at = if self.section.is_empty() { key.to_owned() } else { format!("{}.{key}", self.section) };
        RefusalKind::Shape { at, wanted }
    }
}
