//! One example changed in one way, and what it is then.

use serde_json::Value as Json;
use the_loop::domain::event::body::MediaType;
use the_loop::domain::event::{Content, Event, Fact, Ignored, ItemFact, Subject};

use super::examples::{Example, normalised};
use crate::corpus::rng::Rng;

/// An example changed in one way.
pub struct Mutant {
    /// The example and the change: for messages.
    pub name: String,
    /// GitHub's event name.
    pub event: String,
    /// How the body is written.
    pub media: MediaType,
    /// What is sent.
    pub body: Vec<u8>,
    /// What the signature is made over, where that is not the body.
    pub signed: Option<Vec<u8>>,
    /// What is right.
    pub right: Right,
}

/// The right answer to a mutant.
pub enum Right {
    /// 2xx (200 for a ping, else 202), and this very event.
    Event(Box<Event>),
    /// 400.
    Malformed,
    /// 401.
    Forged,
}

/// The delivery id of every [`Right::Event`].
pub const ID: &str = "mutant";

/// What an event is without a key.
type Without = fn(&mut Event);

/// Keys that GitHub sometimes leaves out or sets to null, with what the event is without them.
const KEYS: [(&str, Without); 8] = [
    ("/sender", |event| event.sender = None),
    ("/issue/user", without_opener),
    ("/pull_request/user", without_opener),
    ("/comment/user", without_author),
    ("/review/user", without_author),
    ("/label", without_label),
    ("/pull_request/head/repo", without_head_repository),
    ("/repository", without_repository),
];

/// Every mutant of an example.
pub fn of(example: &Example, rng: &mut Rng) -> Vec<Mutant> {
    let mut mutants = rewritten(example);
    mutants.extend(lines(example));
    mutants.extend(broken(example, rng));
    mutants.extend(KEYS.iter().flat_map(|(key, change)| less(example, key, *change)));
    mutants.push(unknown_action(example));
    mutants
}

/// The event of an example, under the id of mutants.
fn original(example: &Example) -> Event {
    normalised(&example.event, MediaType::Json, &example.body, ID)
}

fn mutant(example: &Example, what: &str, body: impl Into<Vec<u8>>, right: Right) -> Mutant {
    let name = format!("{}: {what}", example.name);
    Mutant { name, event: example.event.clone(), media: MediaType::Json, body: body.into(), signed: None, right }
}

fn taken(event: Event) -> Right {
    Right::Event(Box::new(event))
}

/// Other bytes that say the same.
fn rewritten(example: &Example) -> Vec<Mutant> {
    let same = || taken(original(example));
    let rest = &example.body[1..];
    vec![
        mutant(example, "indented by 2", serde_json::to_vec_pretty(&example.json).unwrap(), same()),
        Mutant { media: MediaType::Form, ..mutant(example, "as a form", as_form(&example.body), same()) },
        mutant(example, "a lone surrogate", [br#"{"odd":"\ud83d","#, rest].concat(), same()),
        mutant(example, "keys nobody knows", [br#"{"odd":{"odd":[null,1e400,-0]},"#, rest].concat(), same()),
        mutant(example, "blanks around it", [b"\r\n\t ", &example.body[..], b"\r\n"].concat(), same()),
    ]
}

/// A body as a hook sends it that is set to forms.
pub fn as_form(body: &[u8]) -> Vec<u8> {
    let encoded = percent_encoding::percent_encode(body, percent_encoding::NON_ALPHANUMERIC);
    format!("payload={encoded}").into_bytes()
}

/// CRLF in every text that has lines is the event with LF there.
fn lines(example: &Example) -> Option<Mutant> {
    let with = |end: &str| {
        let mut json = example.json.clone();
        let changed = ["issue", "pull_request", "comment", "review", "release"].iter().fold(0, |changed, object| {
            let Some(text) = json.get_mut(object).and_then(|object| object.get_mut("body")) else { return changed };
            *text = format!("{}{end}{end}- second line{end}", text.as_str().unwrap_or_default()).into();
            changed + 1
        });
        (changed > 0).then(|| json.to_string())
    };
    let right = normalised(&example.event, MediaType::Json, with("\n")?.as_bytes(), ID);
    Some(mutant(example, "CRLF", with("\r\n")?, taken(right)))
}

/// What must not be taken.
fn broken(example: &Example, rng: &mut Rng) -> Vec<Mutant> {
    let body = &example.body;
    let text = std::str::from_utf8(body).unwrap();
    let at = |rng: &mut Rng| usize::try_from(rng.below(body.len() as u64)).unwrap();
    let mut flipped = body.clone();
    flipped[at(rng)] ^= 1 << rng.below(8);
    let first = example.json.as_object().unwrap().keys().next().unwrap();
    let mut broken = vec![
        Mutant { signed: Some(body.clone()), ..mutant(example, "a flipped bit", flipped, Right::Forged) },
        Mutant {
            signed: Some(body.clone()),
            ..mutant(example, "a byte more", [body, &b" "[..]].concat(), Right::Forged)
        },
        mutant(example, "cut", &body[..at(rng)], Right::Malformed),
        mutant(example, "a key twice", format!("{{\"{first}\":null,{}", &text[1..]), Right::Malformed),
        mutant(example, "no object", format!("[{text}]"), Right::Malformed),
        mutant(example, "not UTF-8", [br#"{"odd":""#, &b"\xff\","[..], &body[1..]].concat(), Right::Malformed),
    ];
    for object in ["sender", "repository", "issue", "pull_request"] {
        let Some((before, rest)) = text.split_once(&format!("\"{object}\":{{\"")) else { continue };
        let key = rest.split('"').next().unwrap();
        let twice = format!("{before}\"{object}\":{{\"{key}\":0,\"{rest}");
        broken.push(mutant(example, &format!("a key twice in `{object}`"), twice, Right::Malformed));
    }
    broken
}

/// One key set to null, and removed.
fn less(example: &Example, key: &str, change: Without) -> Vec<Mutant> {
    let (parent, name) = key.rsplit_once('/').unwrap();
    let is_there = example.json.pointer(parent).is_some_and(|object| object.get(name).is_some());
    if !is_there {
        return Vec::new();
    }
    let changed = |edit: fn(&mut serde_json::Map<String, Json>, &str), what: &str| {
        let mut json = example.json.clone();
        edit(json.pointer_mut(parent).unwrap().as_object_mut().unwrap(), name);
        let mut right = original(example);
        change(&mut right);
        mutant(example, &format!("{key} {what}"), json.to_string(), taken(right))
    };
    vec![
        changed(|object, name| drop(object.insert(name.to_owned(), Json::Null)), "null"),
        changed(|object, name| drop(object.shift_remove(name)), "removed"),
    ]
}

/// An action of the future.
fn unknown_action(example: &Example) -> Mutant {
    let mut json = example.json.clone();
    json["action"] = "zapped".into();
    let mut right = original(example);
    right.action = Some("zapped".into());
    // The event `status` has no action.
    if example.event != "status" && !is_elsewhere(&right.content) {
        right.content = Content::Ignored(Ignored::UnlistedAction);
    }
    mutant(example, "an unknown action", json.to_string(), taken(right))
}

/// Whether nothing of the payload matters for what the event is.
fn is_elsewhere(content: &Content) -> bool {
    matches!(content, Content::Ignored(Ignored::Ping | Ignored::UnknownEvent))
}

fn subject(event: &mut Event) -> Option<&mut Subject> {
    match &mut event.content {
        Content::Speech(speech) => speech.subject.as_mut(),
        Content::Fact(fact) => match fact.as_mut() {
            Fact::Item { subject, .. } | Fact::Withdrawn { subject } => Some(subject),
            Fact::Repository(_) => None,
        },
        Content::Ignored(_) => None,
    }
}

fn without_opener(event: &mut Event) {
    if let Some(subject) = subject(event) {
        subject.author = None;
    }
}

fn without_author(event: &mut Event) {
    if let Content::Speech(speech) = &mut event.content {
        speech.author = None;
    }
}

fn without_label(event: &mut Event) {
    let Content::Fact(fact) = &mut event.content else { return };
    if let Fact::Item { change: ItemFact::Labeled(label) | ItemFact::Unlabeled(label), .. } = fact.as_mut() {
        *label = None;
    }
}

fn without_head_repository(event: &mut Event) {
    if let Some(head) = subject(event).and_then(|subject| subject.head.as_mut()) {
        head.in_base_repository = false;
    }
}

fn without_repository(event: &mut Event) {
    event.repository = None;
    if !is_elsewhere(&event.content) {
        event.content = Content::Ignored(Ignored::Incomplete);
    }
}
