//! `doctor --fix`: says what it would do, asks, does it, and looks again. It never ends a session.
//!
//! What needs the store is done by whoever owns it, or refused with his process id.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::adapters::owner_file::{self, Owner, PidFile};
use crate::adapters::places;
use crate::adapters::portable_files::PortableDir;
use crate::adapters::system::{RandomIds, SystemClock};
use crate::app::request::{Order, Response};
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure, Kind};
use crate::cli::output::columns;
use crate::cli::repository::{Place, repository};
use crate::cli::setting::{order, owner, reader, store_failure};
use crate::daemon::compose::Setting;
use crate::domain::findings::{Finding, Fix};
use crate::domain::git::Target;
use crate::domain::ports::Clock as _;
use crate::domain::reference::WorkItemRef;
use crate::domain::session::Liveness;
use crate::store::{self, Store, StoreError, View as _};

/// A portable file that was changed a moment ago is written again after two seconds.
const SETTLED: Duration = Duration::from_secs(4);
const PAUSE: Duration = Duration::from_millis(300);

/// What came of one fix.
struct Tried {
    fix: Fix,
    result: Result<String, Failure>,
}

/// Fixes what is safe to fix, after asking; `yes` answers beforehand.
pub(super) fn run(
    setting: &Setting,
    look: &dyn Fn() -> Vec<Finding>,
    yes: bool,
    context: &Context,
) -> Result<Exit, Failure> {
    let findings = look();
    let fixes: BTreeSet<Fix> = findings.iter().filter_map(|finding| finding.fix.clone()).collect();
    if fixes.is_empty() {
        context.out.result(
            || json!({ "findings": findings, "fixes": [] }),
            || format!("{}nothing to fix that is safe to fix\n", super::text(&findings)),
        )?;
        return Ok(super::exit(&findings));
    }
    if !yes && !is_wanted(&fixes, context) {
        let rows: Vec<Json> = fixes.iter().map(|fix| json!({ "fix": fix, "done": false })).collect();
        let list = || fixes.iter().map(|fix| format!("would {fix}\n")).collect::<String>();
        context.out.result(|| json!({ "findings": findings, "fixes": rows }), list)?;
        context.out.note("nothing was changed: it was not confirmed; `--yes` confirms it beforehand");
        return Ok(Exit::Refused);
    }
    let tried = fix_all(setting, fixes);
    let after = look();
    let rows = || tried.iter().map(row).collect::<Vec<Json>>();
    context.out.result(|| json!({ "findings": after, "fixes": rows() }), || text(&tried) + &super::text(&after))?;
    let failed = tried.iter().any(|tried| tried.result.is_err());
    Ok(if failed { Exit::Refused } else { super::exit(&after) })
}

/// Asks the person at the terminal; without one, or with `--json`, nobody said yes.
fn is_wanted(fixes: &BTreeSet<Fix>, context: &Context) -> bool {
    let list: String = fixes.iter().map(|fix| format!("  {fix}\n")).collect();
    context.out.ask(&format!("doctor would\n{list}Shall it? [y/N] ")).unwrap_or(false)
}

fn row(tried: &Tried) -> Json {
    match &tried.result {
        Ok(said) => json!({ "fix": tried.fix, "done": true, "said": said }),
        Err(failure) => json!({ "fix": tried.fix, "done": false, "said": failure.message, "hint": failure.hint }),
    }
}

fn text(tried: &[Tried]) -> String {
    let mut rows = Vec::new();
    for Tried { fix, result } in tried {
        let (word, said, hint) = match result {
            Ok(said) => ("fixed", said, None),
            Err(failure) => ("not fixed", &failure.message, failure.hint.as_ref()),
        };
        rows.push([word.to_owned(), fix.to_string()]);
        rows.extend([Some(said), hint].into_iter().flatten().map(|more| [String::new(), format!("  {more}")]));
    }
    columns(&rows)
}

/// Does all of them, in the order of their kinds: rights, then the store, then what needs the store.
fn fix_all(setting: &Setting, fixes: BTreeSet<Fix>) -> Vec<Tried> {
    let gone: Vec<WorkItemRef> = fixes.iter().filter_map(gone_item).collect();
    let mut marked = None;
    let mut tried = Vec::new();
    for fix in fixes {
        let result = match &fix {
            Fix::Close { path } => close(path),
            Fix::Empty { path } => empty(setting, path),
            Fix::RepairStore { path } => repair(setting, path),
            Fix::SetAside { name } => set_aside(setting, name),
            Fix::Join { item } => item.item().map_or_else(nobody, |item| export(setting, vec![item])),
            // One look at tmux serves all of them.
            Fix::MarkGone { item } => {
                let marked = marked.get_or_insert_with(|| mark_gone(setting, &gone));
                marked.clone().map(|marked| said_of(&marked, item.item()))
            }
            Fix::Git { change } => in_git(setting, &change.target),
        };
        tried.push(Tried { fix, result });
    }
    tried
}

fn nobody() -> Result<String, Failure> {
    Err(Failure::new(Kind::Bug, "a reference that cannot be read"))
}

fn gone_item(fix: &Fix) -> Option<WorkItemRef> {
    match fix {
        Fix::MarkGone { item } => item.item(),
        _ => None,
    }
}

fn close(path: &Path) -> Result<String, Failure> {
    let outside = |error| Failure::new(Kind::Outside, format!("`{}`: {error}", path.display()));
    places::close(path).map_err(outside).map(|()| "nobody else can read or change it now".to_owned())
}

/// Empties what names a process that is gone, while nobody can come and write it anew.
fn empty(setting: &Setting, path: &Path) -> Result<String, Failure> {
    let store = setting.layout.store_file();
    let held = match store.exists().then(|| Store::try_open(&store, &RandomIds)) {
        Some(Ok(store)) => Some(store),
        Some(Err(StoreError::Busy)) => return Err(store_failure(setting, StoreError::Busy)),
        // One that cannot be opened has no owner.
        Some(Err(_)) | None => None,
    };
    let is_stale = match path == setting.layout.pid_file() {
        true => owner_file::read_pid(path) == PidFile::Stale,
        false => owner_file::read(path).is_some_and(|owner| owner.liveness() == Liveness::Dead),
    };
    if is_stale {
        owner_file::clear(path);
    }
    held.map_or(Ok(()), Store::close)?;
    Ok(if is_stale { "it names nobody now" } else { "there is nothing to do any more" }.to_owned())
}

fn repair(setting: &Setting, path: &Path) -> Result<String, Failure> {
    if let Some(Owner { kind, pid, .. }) = owner(setting) {
        let text = format!("the {kind} with pid {pid} has the store; a file in use is neither copied nor repaired");
        return Err(Failure::new(Kind::StoreBusy, text).hint("end it first; agents live on"));
    }
    let when = SystemClock.now().as_millis().to_string();
    match store::repair(path, &setting.layout.damaged_store(&when)) {
        Ok(repaired) => {
            let kept = repaired.kept.display();
            Ok(match repaired.changed {
                true => {
                    format!("it is whole again, as its last sound commit left it; what was there is kept in `{kept}`")
                }
                false => format!("its pages were whole; what was there is kept in `{kept}`"),
            })
        }
        Err(StoreError::Damaged(why)) => Err(Failure::new(
            Kind::StoreDamaged,
            format!("it cannot be repaired: {why}; the file was left as it is"),
        )
        .hint("move it away and start again: what was armed is read back from the portable files, sessions are not")),
        Err(error) => Err(store_failure(setting, error)),
    }
}

/// Moves a file that cannot be read out of the folder, and writes its item's file from the store.
fn set_aside(setting: &Setting, name: &str) -> Result<String, Failure> {
    let files = PortableDir::new(setting.layout.portable_dir());
    let moved = files.set_aside(name, &setting.layout.set_aside_dir(), SystemClock.now());
    let moved = moved.map_err(|error| Failure::new(Kind::Outside, error.to_string()))?;
    let Some(moved) = moved else { return Ok("it can be read by now, or is gone".into()) };
    let said = format!("it is kept in `{}`", moved.display());
    // Without a store there is nothing to write; the store's own finding tells why.
    let Ok(Some(reader)) = reader(setting) else { return Ok(said) };
    let items = reader.read(|tx| {
        let parsed = tx.item_keys()?.into_iter().filter_map(|key| Some(tx.item(&key).ok()??.reference));
        Ok(parsed.filter(|item| is_file_of(item, name)).collect::<Vec<_>>())
    })?;
    drop(reader);
    if items.is_empty() { Ok(said) } else { export(setting, items).map(|more| format!("{said}; {more}")) }
}

fn is_file_of(item: &WorkItemRef, name: &str) -> bool {
    let slug = item.slug();
    [slug.file_name(), slug.file_name_with(&item.key())].iter().any(|own| own.eq_ignore_ascii_case(name))
}

fn export(setting: &Setting, items: Vec<WorkItemRef>) -> Result<String, Failure> {
    let begun = Instant::now();
    loop {
        let Response::Exported(exported) = order(setting, &Order::ExportItems(items.clone()))? else {
            return Err(Failure::new(Kind::Bug, "an order was answered with something else"));
        };
        match exported.held.first() {
            None if exported.written.is_empty() => return Ok("its file says what the store says".into()),
            None => return Ok(format!("written: {}", exported.written.join(", "))),
            Some(_) if begun.elapsed() < SETTLED => std::thread::sleep(PAUSE),
            Some(held) => return Err(Failure::new(Kind::Outside, format!("{}: {}", held.work_item, held.reason))),
        }
    }
}

/// Makes one change in the repository, planned anew from what is there.
fn in_git(setting: &Setting, target: &Target) -> Result<String, Failure> {
    let Place::Inside(repository) = repository(setting)? else {
        return Err(Failure::new(Kind::Outside, "the state root is in no repository any more"));
    };
    let (_, plan) = repository.look()?;
    match plan.changes.iter().find(|change| change.target == *target) {
        Some(change) => {
            repository.apply(&plan, Some(target))?;
            Ok(format!("{}; other lines are as they were", change.summary()))
        }
        None => Ok("there is nothing to do any more".into()),
    }
}

fn mark_gone(setting: &Setting, items: &[WorkItemRef]) -> Result<Vec<String>, Failure> {
    match order(setting, &Order::MarkGone(items.to_vec()))? {
        Response::MarkedGone(marked) => Ok(marked),
        _ => Err(Failure::new(Kind::Bug, "an order was answered with something else")),
    }
}

fn said_of(marked: &[String], item: Option<WorkItemRef>) -> String {
    match item.is_some_and(|item| marked.contains(&item.to_string())) {
        true => "its next event starts it again, with its conversation".into(),
        false if marked.is_empty() => "its pane is there, or work on it is under way: nothing was changed".into(),
        false => "a pull request's conversation of it was marked, or its pane is there".into(),
    }
}
