//! The text typed at an agent (events rules, section 11).
//!
//! First our words, from a template; then every message whole between fences its text cannot close; then the few
//! facts that matter. Nothing from outside stands out of the fences, but for the names of logins and references.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use super::event::marker::MARKER;
use super::message::{Message, MessageKind};
use super::reference::{WorkItemRef, hex};
use super::text;

mod template;
pub use template::{PLACEHOLDERS, Template, TemplateError};

/// More events than this that waited through a pause arrive as one digest.
pub const DIGEST_ABOVE: usize = 5;

/// The two templates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Templates {
    /// For a new conversation.
    pub first: Template,
    /// For what happens later.
    pub event: Template,
}

impl Default for Templates {
    fn default() -> Self {
        Self { first: Template::first(), event: Template::event() }
    }
}

/// The prompt for messages that go to the conversation of `owner` together, `first` and then `more` in order, of which
/// `held` waited through a pause. A conversation that is not introduced yet takes the template of new ones.
pub fn render(
    templates: &Templates,
    owner: &WorkItemRef,
    introduce: bool,
    first: &Message,
    more: &[Message],
    held: usize,
) -> String {
    let messages: Vec<&Message> = std::iter::once(first).chain(more).collect();
    let template = if introduce { &templates.first } else { &templates.event };
    let contents: Vec<String> = messages.iter().map(|message| content(message)).collect();
    let fence = fence(&messages, &contents);
    let block = |(at, (message, content)): (usize, (&&Message, &String))| {
        let (number, count) = (at + 1, messages.len());
        format!("----- {fence} begins ({number} of {count}: {})\n{content}----- {fence} ends", what(message))
    };
    let mut blocks = messages.iter().zip(&contents).enumerate().map(block).collect::<Vec<_>>().join("\n\n");
    if held > DIGEST_ABOVE {
        blocks = format!("{}\n\n{blocks}", index(&messages));
    }
    let rendered = template.fill(|name| match name {
        "reference" => owner.to_string(),
        "about" => first.about.to_string(),
        "url" => owner.url(),
        "summary" => summary(&messages, held),
        "marker" => MARKER.to_owned(),
        "fence" => fence.clone(),
        "messages" => blocks.clone(),
        _ => facts(&messages),
    });
    text::for_paste(&rendered).into_owned()
}

/// The word by which a transcript shows that these very messages arrived: the one that fences them, whatever the
/// template.
pub fn evidence(first: &Message, more: &[Message]) -> String {
    let messages: Vec<&Message> = std::iter::once(first).chain(more).collect();
    let contents: Vec<String> = messages.iter().map(|message| content(message)).collect();
    fence(&messages, &contents)
}

/// A word no content holds: its author would have had to know the delivery's id and the digest of the text itself.
fn fence(messages: &[&Message], contents: &[String]) -> String {
    let mut digest = Sha256::new();
    for (message, content) in messages.iter().zip(contents) {
        digest.update(message.delivery.as_str());
        digest.update(content);
    }
    let mut nonce = hex(&digest.finalize()[..8]);
    while contents.iter().any(|content| content.contains(&nonce)) {
        nonce = hex(&Sha256::digest(&nonce)[..8]);
    }
    format!("untrusted-{nonce}")
}

/// What stands between the fences: a head of `name: value` lines, then, each behind a blank line, the hunk and the
/// text whole.
fn content(message: &Message) -> String {
    let mut out = String::new();
    for (name, value) in head(message) {
        let _ = writeln!(out, "{name}: {}", text::one_line(&value));
    }
    let hunk = if let MessageKind::ReviewComment { hunk, .. } = &message.kind { hunk } else { "" };
    for part in [hunk, &message.text] {
        let part = body(part, message.link.as_deref());
        if !part.is_empty() {
            let _ = write!(out, "\n{part}\n");
        }
    }
    out
}

/// A text of several lines, made safe first so that its note stands within the fence.
fn body(text: &str, link: Option<&str>) -> String {
    text::safe(&text::capped(text, link)).trim_end_matches('\n').to_owned()
}

fn head(message: &Message) -> Vec<(&'static str, String)> {
    let mut head = vec![("on", message.about.to_string())];
    match &message.kind {
        MessageKind::Check { name, conclusion } => {
            head.push(("check", name.clone()));
            head.push(("conclusion", conclusion.clone()));
        }
        kind => {
            head.push(("author", message.author.clone().unwrap_or_else(|| "unknown".to_owned())));
            if let MessageKind::Review { state } = kind {
                head.push(("verdict", state.clone()));
            }
            if let MessageKind::ReviewComment { path, line, .. } = kind {
                head.push(("file", line.map_or_else(|| path.clone(), |line| format!("{path}, line {line}"))));
            }
        }
    }
    if !message.title.trim().is_empty() {
        head.push(("title", message.title.clone()));
    }
    head.extend(message.link.clone().map(|link| ("link", link)));
    head
}

/// The kind of a message in our own words.
const fn what(message: &Message) -> &'static str {
    match message.kind {
        MessageKind::FirstPrompt => "the work item",
        MessageKind::Comment => "a comment",
        MessageKind::ReviewComment { .. } => "a comment on a line",
        MessageKind::Review { .. } => "a review",
        MessageKind::Check { .. } => "a failed check",
    }
}

fn summary(messages: &[&Message], held: usize) -> String {
    match messages {
        [one] => format!("{} on {}.", what(one), one.about),
        many if held > DIGEST_ABOVE => format!("{} events, {held} of them held until now, oldest first.", many.len()),
        many => format!("{} events, oldest first.", many.len()),
    }
}

/// The table of contents of a digest; what people named themselves stays in the blocks.
fn index(messages: &[&Message]) -> String {
    let line = |(at, message): (usize, &&Message)| format!("{}. {} on {}", at + 1, what(message), message.about);
    format!("Held and delivered together:\n{}", messages.iter().enumerate().map(line).collect::<Vec<_>>().join("\n"))
}

/// The ids by which a transcript is matched with deliveries.
fn facts(messages: &[&Message]) -> String {
    let mut ids: Vec<&str> = messages.iter().map(|message| message.delivery.as_str()).collect();
    ids.dedup();
    format!("Delivery: {}", ids.join(" "))
}

#[cfg(test)]
mod tests;
