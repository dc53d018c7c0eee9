//! What must hold in the end, by name.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use the_loop::app::App;
use the_loop::domain::effect::EffectBody;
use the_loop::domain::item::Item;
use the_loop::domain::log::EventName;
use the_loop::domain::reference::WorkItemRef;
use the_loop::store::View as _;

use crate::oracle::{Fate, Figures, Kind, Message, State};
use crate::people::REPOSITORIES;
use crate::world::World;

/// The marks in a text. A check is named at its beginning and says its name again.
pub fn marks(text: &str) -> Vec<u64> {
    let mut parts = text.split("say-");
    let mut before = parts.next().unwrap_or_default();
    let mut marks = Vec::new();
    for part in parts {
        let mark = part.split_once("-end").and_then(|(mark, _)| mark.parse().ok());
        let again = |mark: &u64| !before.ends_with("check: ") && text.contains(&format!("check: say-{mark}-end"));
        marks.extend(mark.filter(|mark| !again(mark)));
        before = part;
    }
    marks
}

/// What was typed, by mark: the machines and the panes that got it.
fn heard(world: &World) -> BTreeMap<u64, Vec<(&'static str, String)>> {
    let mut heard: BTreeMap<u64, Vec<(&'static str, String)>> = BTreeMap::new();
    for computer in &world.computers {
        for (pane, text) in computer.typed() {
            let at = (computer.name, pane);
            marks(&text).into_iter().for_each(|mark| heard.entry(mark).or_default().push(at.clone()));
        }
    }
    heard
}

pub fn check(world: &World) -> Vec<String> {
    let heard = heard(world);
    let unknown = unknown(world);
    let mut violations = Vec::new();
    for (mark, message) in &world.oracle.messages {
        let panes = heard.get(mark).map_or(&[][..], Vec::as_slice);
        violations.extend(arrivals(*mark, message, panes, unknown.contains(mark)));
        violations.extend(panes.iter().filter_map(|(_, pane)| elsewhere(world, *mark, message, pane)));
    }
    let edits = world.oracle.edits.iter().filter(|mark| heard.contains_key(mark));
    violations.extend(edits.map(|mark| format!("an edit is heard by nobody: {mark}")));
    violations.extend(stopped(world));
    violations.extend(words_act_once(world));
    violations.extend(told_once(world));
    violations.extend(fits_together(world));
    violations.extend(converges(world));
    violations
}

fn arrivals(mark: u64, message: &Message, panes: &[(&str, String)], is_unknown: bool) -> Option<String> {
    let (times, about) = (panes.len(), format!("{mark} of {message:?}"));
    // No file names checks that were heard: who takes an item over hears of those that still count.
    let machines = panes.iter().map(|(machine, _)| machine).collect::<BTreeSet<_>>().len();
    let most = if message.kind == Kind::Check { machines } else { 1 };
    match message.fate {
        _ if times > most => Some(format!("nothing arrives twice: {about} in {panes:?}")),
        Fate::Must if times == 0 && !is_unknown => Some(format!("everything arrives: {about}")),
        Fate::Never(_) if times > 0 => Some(format!("nothing arrives that should not: {about} in {panes:?}")),
        _ => None,
    }
}

/// A text is typed into the conversation of what it was said on; a closed pull request's into its record's.
fn elsewhere(world: &World, mark: u64, message: &Message, pane: &str) -> Option<String> {
    let (repo, number) = message.place;
    let own = format!("github:{repo}#{number}");
    let of_record = message.owner.map(|owner| format!("github:{repo}#{owner}"));
    let pull = world.oracle.pulls.get(&message.place);
    let by_the_record = pull.is_some_and(|pull| pull.was_closed) && of_record.as_deref() == Some(pane);
    (own != pane && !by_the_record)
        .then(|| format!("everything arrives in its own conversation: {mark} of {message:?} in {pane}"))
}

/// Deliveries that were cut in two and whose pane lives no longer: shown, never repeated.
fn unknown(world: &World) -> BTreeSet<u64> {
    let mut unknown = BTreeSet::new();
    for app in apps(world) {
        let letters = app.store().read(|tx| tx.dead_letters()).expect("they can be read");
        for (_, letter) in letters {
            if let EffectBody::Deliver { message, .. } = &letter.effect.body {
                unknown.extend(marks(&format!("{message:?}")));
            }
        }
    }
    unknown
}

fn apps(world: &World) -> impl Iterator<Item = &App> {
    world.computers.iter().filter_map(|computer| computer.app.as_ref())
}

fn items(app: &App) -> Vec<Item> {
    let mut items = Vec::new();
    let visit = &mut |item: Result<Item, _>| {
        items.push(item.expect("every row can be read"));
        ControlFlow::Continue(())
    };
    app.store().read(|tx| tx.for_each_item(visit)).expect("the items can be read");
    items
}

/// What was stopped or closed last has no session, or one that only another machine's word holds.
fn stopped(world: &World) -> Vec<String> {
    let mut violations = Vec::new();
    let off = world.oracle.issues.iter().filter(|(_, issue)| issue.state == State::Off);
    let off: BTreeSet<String> = off.map(|((repo, number), _)| format!("github:{repo}#{number}")).collect();
    for item in apps(world).flat_map(items).filter(|item| off.contains(&item.reference.to_string())) {
        let armed = item.sections.control.as_ref().is_some_and(|c| c.arms_after(item.sections.ended.as_ref()));
        if armed || (item.live_session().is_some() && !item.held_by_adoption) {
            violations.push(format!("a stop is undone by nothing older: {item:?}"));
        }
    }
    violations
}

/// A word acts on one machine, once.
fn words_act_once(world: &World) -> Vec<String> {
    let mut acted: BTreeMap<(String, String), u64> = BTreeMap::new();
    for app in apps(world) {
        let journal = app.store().read(|tx| tx.journal(0, usize::MAX)).expect("the journal can be read");
        for (_, _, entry) in journal.iter().filter(|(_, _, entry)| entry.event == EventName::ControlCommand) {
            let text = |key: &str| entry.fields.get(key).and_then(|v| v.as_str()).unwrap_or_default().to_owned();
            *acted.entry((text("workItem"), text("command"))).or_default() += 1;
        }
    }
    let said = |item: &str, word: &str| {
        let all = world.oracle.words.iter();
        let here = all.filter(|(((repo, number), said), _)| *said == word && format!("github:{repo}#{number}") == item);
        here.map(|(_, count)| *count).sum::<u64>()
    };
    let doubled = acted.iter().filter(|((item, word), count)| **count > said(item, word));
    doubled.map(|((item, word), count)| format!("a word acts once: {word} on {item} acted {count} times")).collect()
}

/// The hidden lines by which our own comments are known, of all of them.
fn told(world: &World) -> Vec<String> {
    let fake = world.fake.lock().unwrap();
    let comments = REPOSITORIES.iter().flat_map(|(name, _, _)| fake.repo(name).comments.values());
    let lines = comments.flat_map(|comment| comment.text.lines().filter(|line| line.contains("the-loop:told:")));
    lines.map(str::to_owned).collect()
}

fn told_once(world: &World) -> Vec<String> {
    let mut lines = told(world);
    lines.sort();
    let doubled = lines.windows(2).filter(|pair| pair[0] == pair[1]);
    doubled.map(|pair| format!("everything is told once: {}", pair[0])).collect()
}

fn fits_together(world: &World) -> Vec<String> {
    let found =
        apps(world).flat_map(|app| app.store().read(|tx| the_loop::store::check(tx)).expect("it can be checked"));
    found.map(|finding| format!("the store fits together: {finding:?}")).collect()
}

/// Both checkouts say the same, byte for byte, and for each session that began there is a file.
fn converges(world: &World) -> Vec<String> {
    let [a, b] = &world.computers;
    let (ours, theirs) = (a.folder.texts(), b.folder.texts());
    let names: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    let other = names.into_iter().filter(|name| ours.get(*name) != theirs.get(*name));
    let mut violations: Vec<String> = other
        .map(|name| format!("both checkouts converge: {name} is {:?} and {:?}", ours.get(name), theirs.get(name)))
        .collect();
    let begun = world.oracle.issues.iter().filter(|(_, issue)| issue.state == State::Live).map(|(place, _)| *place);
    for (repo, number) in begun {
        let item = WorkItemRef::parse(&format!("github:{repo}#{number}")).expect("a reference");
        if !ours.contains_key(&item.slug().file_name()) {
            violations.push(format!("both checkouts converge: {item} has no file"));
        }
    }
    violations
}

/// What both machines noted and typed, for a look at a single seed.
pub fn trail(world: &World) -> String {
    let mut lines = Vec::new();
    for computer in &world.computers {
        let app = computer.app.as_ref().expect("both are on in the end");
        let journal = app.store().read(|tx| tx.journal(0, usize::MAX)).expect("the journal can be read");
        let entry = |(_, at, entry): &(_, the_loop::domain::time::Time, the_loop::domain::log::LogEntry)| {
            format!("journal {} {at} {} {:?}", computer.name, entry.event.as_str(), entry.fields)
        };
        lines.extend(journal.iter().map(entry));
        lines.extend(
            computer.typed().into_iter().map(|(pane, text)| format!("typed {} {pane} {text:?}", computer.name)),
        );
    }
    lines.join("\n")
}

pub fn figures(world: &World) -> Figures {
    let (happenings, requests, takeovers) = world.figures();
    let told = told(world).len() as u64;
    let mut figures = Figures { happenings, requests, takeovers, told, ..Figures::default() };
    let (heard, unknown) = (heard(world), unknown(world));
    for (mark, message) in &world.oracle.messages {
        match message.fate {
            Fate::Must if heard.contains_key(mark) || !unknown.contains(mark) => figures.must += 1,
            Fate::Must => figures.unknown += 1,
            Fate::Open(why) => *figures.open.entry(why).or_default() += 1,
            Fate::Never(_) => figures.never += 1,
        }
    }
    figures
}
