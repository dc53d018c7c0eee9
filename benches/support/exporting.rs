//! Export as a person waits for it before a commit: one changed item among many, and a check of all.

use std::time::Duration;

use anyhow::ensure;
use the_loop::domain::decide::Urgency;
use the_loop::domain::item::{Item, Sections};
use the_loop::domain::portable::{Command, Control, RequestedAt, Source};

use crate::commands::{once, row};
use crate::home::{Home, reference, time};
use crate::report::{Row, median};

/// Items with a portable file.
const ITEMS: u64 = 10_000;
const TIMES: u64 = 11;

/// Both rows.
pub fn rows() -> anyhow::Result<Vec<Row>> {
    let home = Home::new("")?;
    start(&home, 0..ITEMS, 1)?;
    once(&home, &["export"])?;
    let files = std::fs::read_dir(home.layout().portable_dir())?.count() as u64;
    ensure!(files >= ITEMS, "{files} files for {ITEMS} items");
    // A file that was written just now is not trusted by its time alone; older ones are what a person has.
    std::thread::sleep(Duration::from_secs(3));
    once(&home, &["export"])?;
    let mut took = Vec::new();
    for round in 0..TIMES {
        start(&home, round..round + 1, 2 + round)?;
        took.push(once(&home, &["export"])?);
    }
    let one = median(took);
    std::thread::sleep(Duration::from_secs(3));
    once(&home, &["export"])?;
    let checks = (0..TIMES).map(|_| once(&home, &["export", "--check"])).collect::<anyhow::Result<Vec<_>>>()?;
    Ok(vec![
        row(&format!("`export` with 1 of {ITEMS} items changed"), one, 50),
        row(&format!("`export --check` of {ITEMS} unchanged"), median(checks), 300),
    ])
}

/// Somebody says start on these items, for the `version`th time.
fn start(home: &Home, items: std::ops::Range<u64>, version: u64) -> anyhow::Result<()> {
    let (store, at) = (home.store()?, time());
    let numbers: Vec<u64> = items.collect();
    for chunk in numbers.chunks(2_000) {
        let items = chunk.iter().map(|number| {
            let control = Control {
                command: Command::Start,
                source: Source::Comment,
                actor: "mona".into(),
                requested_at: RequestedAt::At(at),
                note: None,
                extra: serde_json::Map::new(),
            };
            let sections = Sections { control: Some(control), commanded_at: Some(at), ..Sections::default() };
            Ok(Item { sections, version, ..Item::new(reference(*number)?) })
        });
        let items = items.collect::<anyhow::Result<Vec<_>>>()?;
        store.write(move |tx| {
            items.iter().try_for_each(|item| {
                tx.put_item(item)?;
                tx.put_mark(&item.reference.key(), Urgency::Now, at)
            })
        })?;
    }
    Ok(store.close()?)
}
