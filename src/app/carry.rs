//! How state travels by git: looking at a repository, and bringing it into order. `init` and `doctor --fix` share it.

use crate::domain::git::{DRIVER_KEY, GitError, Judged, NAME_KEY, Plan, Seen, Spot, Target, driver, plan};
use crate::domain::ports::Git;

/// Looks at everything that matters for the state root at `spot`.
///
/// # Errors
/// Git did not answer, or a file could not be read.
pub fn look(git: &dyn Git, spot: &Spot) -> Result<Seen, GitError> {
    let asked: Vec<String> = spot.local.iter().cloned().chain([spot.record(), spot.temporary()]).collect();
    let mut judged = git.judge(&asked)?;
    let nothing = || Judged { path: String::new(), rule: None };
    let temporary = judged.pop().unwrap_or_else(nothing);
    let record = judged.pop().unwrap_or_else(nothing);
    let (leftovers, records): (Vec<String>, Vec<String>) =
        git.tracked(std::slice::from_ref(&spot.portable))?.into_iter().partition(|path| path.ends_with(".tmp"));
    let mut tracked = if spot.local.is_empty() { Vec::new() } else { git.tracked(&spot.local)? };
    tracked.extend(leftovers);
    let attributes = git.attributes(&spot.record(), &["merge", "text"])?;
    let attribute = |at: usize| attributes.get(at).cloned().unwrap_or_default();
    let driver = git.setting(DRIVER_KEY)?;
    Ok(Seen {
        local: judged,
        record,
        temporary,
        tracked,
        records,
        merge: attribute(0),
        text: attribute(1),
        autocrlf: git.setting("core.autocrlf")?,
        driver_runs: driver.as_deref().and_then(driver::program).is_some_and(|program| git.finds(&program)),
        driver,
        driver_name: git.setting(NAME_KEY)?,
        gitignore: git.read(&spot.folder.join(".gitignore"))?,
        gitattributes: git.read(&spot.folder.join(".gitattributes"))?,
    })
}

/// What has to change. The driver is called by its name where `PATH` finds it, else as `own`, this program's path.
pub fn plan_for(git: &dyn Git, seen: &Seen, spot: &Spot, name: &str, own: &str) -> Plan {
    plan(seen, spot, if git.finds(name) { name } else { own })
}

/// Makes the changes of a plan, or only the one to `target`.
///
/// # Errors
/// Git or the system said no; what was done until then is done.
pub fn apply(git: &dyn Git, plan: &Plan, target: Option<&Target>) -> Result<(), GitError> {
    let wanted = plan.changes.iter().filter(|change| target.is_none_or(|target| *target == change.target));
    for change in wanted {
        match &change.target {
            Target::File(path) => git.write(path, &change.after)?,
            Target::Setting(key) => git.set(key, &change.after)?,
        }
    }
    Ok(())
}
