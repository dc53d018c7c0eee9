//! `the-loop evolve classify`.

use serde_json::json;

use crate::app::evolve::{Classified, Evolve};
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::domain::evolve::{CLASSIFIER, Class, short};

/// Arguments of `evolve classify`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

pub(super) fn run(Args {}: &Args, evolve: &Evolve<'_>, context: &Context) -> Result<Exit, Failure> {
    let classified = evolve.classify()?;
    let Classified { classification, ids, is_new } = &classified;
    let named = |class: Class| ids.iter().find(|(known, _)| *known == class).map(|(_, ids)| ids.as_slice());
    let json = || {
        let cases: serde_json::Map<_, _> = ids.iter().map(|(class, ids)| (class.word().into(), json!(ids))).collect();
        json!({ "classification": classification, "cases": cases, "new": is_new })
    };
    let text = || {
        let mut text = format!("classifier {CLASSIFIER}\n");
        for class in Class::ALL {
            let Some(count) = classification.classes.get(class.word()) else { continue };
            let recurring = if count.recurring { ", recurring" } else { "" };
            let ids: Vec<&str> = named(class).unwrap_or_default().iter().map(|id| short(id)).collect();
            text += &format!("{:<14}{}{recurring}  {}", class.word(), count.failures, ids.join(" "));
            text.truncate(text.trim_end().len());
            text.push('\n');
        }
        text
    };
    context.out.result(json, text)?;
    Ok(Exit::Done)
}
