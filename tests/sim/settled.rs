//! What must hold of the portable files whatever happened, by name.

use the_loop::app::App;
use the_loop::domain::item::Item;
use the_loop::domain::portable::{Record, Volatile, same_meaning};
use the_loop::store::View as _;

use crate::invariants::digest;
use crate::world::World;

pub fn check(app: &App, world: &World) -> Vec<String> {
    let mut violations = world.machine.violations.clone();
    violations.extend(marks_left(app));
    violations.extend(settles(app, world));
    for item in items(app) {
        violations.extend(armed_by_a_stranger(&item));
        violations.extend(other_than_the_store(app, world, &item));
    }
    violations.extend(lost_comments(app, world));
    violations
}

fn items(app: &App) -> Vec<Item> {
    let mut items = Vec::new();
    let visit = &mut |item: Result<Item, _>| {
        items.push(item.expect("every row can be read"));
        std::ops::ControlFlow::Continue(())
    };
    app.store().read(|tx| tx.for_each_item(visit)).expect("the items can be read");
    items
}

fn marks_left(app: &App) -> Option<String> {
    let marks = app.store().read(|tx| tx.marks()).expect("the marks can be read");
    (!marks.is_empty()).then(|| format!("export settles: marks are left: {marks:?}"))
}

/// Once everything was written, writing everything changes nothing: no byte of a file, no row of the store.
fn settles(app: &App, world: &World) -> Vec<String> {
    let mut violations = Vec::new();
    let first = app.export_all().expect("a calm folder can be written");
    let checked = app.export_check().expect("a calm folder can be read");
    if !first.exported.held.is_empty() || !checked.written.is_empty() || !checked.held.is_empty() {
        violations.push(format!("export settles: {:?}, then {checked:?}", first.exported));
    }
    let before = (world.folder.texts(), digest(app));
    let second = app.export_all().expect("a calm folder can be written");
    if !second.exported.written.is_empty() || before != (world.folder.texts(), digest(app)) {
        violations.push(format!("export settles: a second export changed {:?}", second.exported));
    }
    violations
}

fn armed_by_a_stranger(item: &Item) -> Option<String> {
    let control = item.sections.control.as_ref()?;
    let arms = control.command.arms() && control.actor == "stranger";
    arms.then(|| format!("nobody arms by a file who may not: {} by {control:?}", item.reference))
}

/// A file says what the store says, unless it keeps an arming that does not count here.
fn other_than_the_store(app: &App, world: &World, item: &Item) -> Option<String> {
    let seen = app.store().read(|tx| tx.seen(&item.reference.key())).expect("the comments can be read");
    let store = Record::from_store(item, seen);
    if store.is_husk() {
        return None;
    }
    let Some(file) = world.folder.record(&item.reference) else {
        return Some(format!("export settles: {} has no file", item.reference));
    };
    let refused = file.control.present().is_some_and(|control| control.actor == "stranger");
    let same = refused || same_meaning(&store, &file, Volatile::Ignored);
    (!same).then(|| format!("export settles: {} is {store:?} in the store and {file:?} in the file", item.reference))
}

fn lost_comments(app: &App, world: &World) -> Vec<String> {
    let mut violations = Vec::new();
    for (item, told) in &world.machine.told {
        let seen = app.store().read(|tx| tx.seen(&item.key())).expect("the comments can be read");
        let file = world.folder.record(item);
        let in_file = file.as_ref().and_then(Record::seen_comments);
        for comment in told {
            if !seen.contains(comment) || !in_file.is_some_and(|comments| comments.contains(comment)) {
                violations.push(format!("no seen comment is lost: {comment} of {item}"));
            }
        }
    }
    violations
}
