//! Puts the files that teach an agent in place, or takes them away: look, plan, do.

use crate::domain::skill::{File, Plan, SkillError, SkillFiles, install, uninstall};

/// Puts the files in place; with `dry` it only says what it would do.
///
/// # Errors
/// The record or a file cannot be read or written; what was done until then is on record.
pub fn put(wanted: &[File], files: &dyn SkillFiles, dry: bool) -> Result<Plan, SkillError> {
    let record = files.record()?;
    let plan = install(wanted, &record, &|path| files.look(path), &|folders| files.absent(folders))?;
    if dry || (plan.steps.is_empty() && plan.record == record) {
        return Ok(plan);
    }
    // First what is going to be ours, so that a cut never leaves a file that nobody owns up to.
    files.write_record(&plan.record)?;
    plan.steps.iter().try_for_each(|step| files.step(step))?;
    Ok(plan)
}

/// Takes the files away and puts that which was there before back; with `dry` it only says what it would do.
///
/// # Errors
/// As with [`put`].
pub fn take(files: &dyn SkillFiles, dry: bool) -> Result<Plan, SkillError> {
    let record = files.record()?;
    let plan = uninstall(&record, &|path| files.look(path))?;
    if dry {
        return Ok(plan);
    }
    plan.steps.iter().try_for_each(|step| files.step(step))?;
    if plan.record != record {
        files.write_record(&plan.record)?;
    }
    if plan.record.entries.is_empty() {
        record.folders.iter().rev().for_each(|folder| files.take_empty(folder));
    }
    Ok(plan)
}
