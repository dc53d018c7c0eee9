//! Runs in the directories of sessions.

use std::path::Path;

use crate::adapters::project_runs::ProjectRuns;
use crate::adapters::system::SystemClock;
use crate::app::doctor;
use crate::app::runs::{Judged, RunError, Runs};
use crate::daemon::compose::Setting;
use crate::domain::findings::Finding;
use crate::domain::findings::runs::{self as judged, Seen};
use crate::domain::ports::Clock as _;
use crate::domain::run::{Actor, RunPlaces as _};
use crate::store::Reader;

pub(super) fn look(setting: &Setting) -> Vec<Finding> {
    // A store that cannot be read is told by its own part.
    let Ok(reader) = Reader::open(&setting.layout.store_file()) else { return Vec::new() };
    let Ok(directories) = reader.read(|tx| doctor::directories(tx)) else { return Vec::new() };
    let (mut findings, mut live) = (Vec::new(), 0);
    for directory in directories.iter().filter(|directory| directory.is_dir()) {
        let seen = match seen(directory, setting) {
            Err(RunError::NoRun) => continue,
            seen => seen.map_err(|error| error.to_string()),
        };
        live += 1;
        let found = judged::judge(&directory.display().to_string(), seen.as_ref().map_err(String::as_str));
        findings.extend(found);
    }
    if findings.is_empty() && live > 0 {
        findings.push(judged::sound(live));
    }
    findings
}

fn seen(directory: &Path, setting: &Setting) -> Result<Seen, RunError> {
    let place = ProjectRuns::new(setting.environment.clone()).at(directory)?;
    let (files, project) = place.ok_or(RunError::NoRun)?;
    let runs = Runs { files: &*files, project: &*project, actor: Actor::default(), now: SystemClock.now() };
    let health = runs.health()?;
    let leftovers = health.leftovers.iter().map(Judged::line).collect();
    Ok(Seen { doubts: health.live.doubts, mismatch: health.mismatch, evidence: health.evidence, leftovers })
}
