//! Every portable file: whether it can be read, whose it is, and what a crash left.

use std::collections::BTreeMap;

use crate::adapters::portable_files::PortableDir;
use crate::adapters::system::SystemClock;
use crate::app::progress::Progress as _;
use crate::cli::output::Output;
use crate::daemon::compose::Setting;
use crate::domain::findings::{Finding, Fix};
use crate::domain::portable::files::{FileError, Look};
use crate::domain::portable::{self, Record};
use crate::domain::ports::{Clock as _, PortableFiles as _};
use crate::domain::reference::{RefKey, WorkItemRef};
use crate::domain::time::Time;

/// What changed within so many seconds is otherwise read again later, because it may still be being written.
const YOUNG_SECONDS: i64 = 3;

pub(super) fn look(setting: &Setting, out: &Output) -> Vec<Finding> {
    let files = PortableDir::new(setting.layout.portable_dir());
    let mut findings = read(&files, out).unwrap_or_else(|error| vec![unreadable(&error)]);
    let leftovers = leftovers(&files).unwrap_or_else(|error| vec![unreadable(&error)]);
    findings.extend(leftovers.into_iter().filter(|finding| finding.id != "portable.unreadable"));
    findings
}

fn unreadable(error: &FileError) -> Finding {
    Finding::error("portable.unreadable", error.to_string())
        .because("what other machines said is not heard, and what this one says is not told")
        .todo("see whose the folder is, and that it is a folder and no link")
}

fn read(files: &PortableDir, out: &Output) -> Result<Vec<Finding>, FileError> {
    let (names, now) = (files.names()?, SystemClock.now());
    let bar = out.progress("reading portable files");
    bar.begins(names.len());
    let mut findings = Vec::new();
    let mut owners: BTreeMap<RefKey, String> = BTreeMap::new();
    for name in &names {
        bar.did(1);
        // Half a file is named however young it is: a person looks, nothing is decided, and `--fix` looks at it again.
        match files.look(name, None, now.plus_seconds(YOUNG_SECONDS)) {
            Ok(Look::Refused(refusal)) => findings.push(
                Finding::error("portable.refused", format!("{name}, {refusal}"))
                    .because("it changes nothing here and is not written until it can be read")
                    .todo("correct the file, or have it set aside")
                    .fixed_by(Fix::SetAside { name: name.clone() }),
            ),
            Ok(Look::News(news)) => {
                findings.extend(place_of(name, &news.record.reference, &mut owners));
                findings.extend(ahead(name, &news.record, now));
            }
            Err(error) => findings.push(unreadable(&error)),
            Ok(_) => {}
        }
    }
    if findings.is_empty() {
        findings.push(Finding::ok("portable.readable", format!("files that can be read: {}", names.len())));
    }
    Ok(findings)
}

/// Temporaries of an exporter that was killed.
fn leftovers(files: &PortableDir) -> Result<Vec<Finding>, FileError> {
    let now = SystemClock.now();
    let joined = files.leftovers(now)?.into_iter().map(|item| {
        Finding::note("portable.leftover", format!("a temporary file of {item} is there"))
            .because("an export was cut off; nothing of it is lost")
            .todo("its next export joins and removes what a crash left")
            .fixed_by(Fix::Join { item: (&item).into() })
    });
    let mut findings: Vec<Finding> = joined.collect();
    findings.extend(files.unreadable_leftovers(now)?.into_iter().map(|name| {
        Finding::note("portable.leftover-unreadable", format!("the temporary file {name} holds no record"))
            .because("an export was cut off before it was written; no export will remove it")
            .todo("have it set aside")
            .fixed_by(Fix::SetAside { name })
    }));
    Ok(findings)
}

/// Times that a wrong clock wrote. The newest time wins in a join, so they stand in the file until somebody corrects them.
fn ahead(name: &str, record: &Record, now: Time) -> Option<Finding> {
    let reports: Vec<String> = portable::ahead(record, now).iter().map(ToString::to_string).collect();
    (!reports.is_empty()).then(|| {
        Finding::warning("portable.ahead", format!("{name}: {}", reports.join("; ")))
            .because("commands here are obeyed all the same, but the file cannot tell them to other machines")
            .todo("see whose clock is wrong; correct the time in the file, then `the-loop export`")
    })
}

/// Whether a record lies under a name of its item, and alone.
fn place_of(name: &str, item: &WorkItemRef, owners: &mut BTreeMap<RefKey, String>) -> Option<Finding> {
    let (key, slug) = (item.key(), item.slug());
    let own = [slug.file_name(), slug.file_name_with(&key)];
    if !own.iter().any(|own| own.eq_ignore_ascii_case(name)) {
        let what = format!("{name} is about {item}, whose file is named `{}`", own[0]);
        return Some(
            Finding::error("portable.wrong-name", what)
                .because("under this name it is nobody's: it is neither read nor written")
                .todo("rename it, or take it out of the folder"),
        );
    }
    let other = owners.insert(key, name.to_owned())?;
    Some(
        Finding::warning("portable.two-files", format!("{other} and {name} are both about {item}"))
            .because("which of them another machine reads is chance")
            .todo("its next export joins them into one")
            .fixed_by(Fix::Join { item: item.into() }),
    )
}
