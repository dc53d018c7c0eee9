//! From events to what is typed at an agent.

use crate::domain::event::{Check, Event, Form, Speech, Subject};
use crate::domain::message::{Message, MessageKind};
use crate::domain::reference::WorkItemRef;

/// The message of a comment or review; `text` is its text without a control word.
pub(super) fn of_speech(event: &Event, speech: &Speech, subject: &Subject, text: String) -> Message {
    let kind = match &speech.form {
        Form::ReviewComment { path, line, hunk } => {
            MessageKind::ReviewComment { path: path.clone(), line: *line, hunk: hunk.clone() }
        }
        Form::Review { state } => MessageKind::Review { state: state.clone() },
        Form::Comment | Form::Check(_) => MessageKind::Comment,
    };
    Message {
        kind,
        about: subject.reference.clone(),
        delivery: event.delivery.clone(),
        author: speech.author.as_ref().map(|login| login.as_str().to_owned()),
        title: subject.title.clone(),
        link: speech.link.clone().or_else(|| subject.link.clone()),
        text,
    }
}

/// The message of a failed check on `about`.
pub(super) fn of_check(event: &Event, speech: &Speech, check: &Check, about: WorkItemRef) -> Message {
    Message {
        kind: MessageKind::Check { name: check.name.clone(), conclusion: check.conclusion.clone() },
        about,
        delivery: event.delivery.clone(),
        author: None,
        title: String::new(),
        link: speech.link.clone(),
        text: speech.text.clone(),
    }
}

/// The first prompt of a new conversation about `about`: the item itself, as far as the event shows it.
pub(super) fn first_prompt(event: &Event, subject: &Subject, about: &WorkItemRef) -> Message {
    let shown = subject.reference.key() == about.key();
    Message {
        kind: MessageKind::FirstPrompt,
        about: about.clone(),
        delivery: event.delivery.clone(),
        author: subject.author.as_ref().filter(|_| shown).map(|login| login.as_str().to_owned()),
        title: if shown { subject.title.clone() } else { String::new() },
        link: Some(subject.link.clone().filter(|_| shown).unwrap_or_else(|| about.url())),
        text: if shown { subject.body.clone() } else { String::new() },
    }
}
