//! The git repository around the state root: asked of git itself.

use crate::adapters::portable_files::PortableDir;
use crate::cli::repository::{Place, Repository, repository};
use crate::daemon::compose::Setting;
use crate::domain::findings::{Finding, git as judged};
use crate::domain::git::GitError;
use crate::domain::ports::{Git as _, PortableFiles as _};

pub(super) fn look(setting: &Setting) -> Vec<Finding> {
    let mut findings = match repository(setting) {
        Ok(Place::Inside(repository)) => inside(&repository).unwrap_or_else(|error| vec![judged::unasked(&error)]),
        Ok(Place::Outside(tree)) => vec![judged::elsewhere(setting.layout.root(), tree.top())],
        Err(error) => vec![judged::unasked(&error)],
    };
    findings.extend(judged::converted(&converted(setting)));
    findings
}

fn inside(repository: &Repository) -> Result<Vec<Finding>, GitError> {
    let (seen, plan) = repository.look()?;
    Ok(judged::judge(&seen, &repository.spot, &plan))
}

/// The names of records with a CR in them: JSON has none within a text.
fn converted(setting: &Setting) -> Vec<String> {
    let folder = setting.layout.portable_dir();
    // A folder that cannot be read is told by its own part.
    let names = PortableDir::new(folder).names().unwrap_or_default();
    let has_cr = |name: &String| {
        let path = folder.join(name);
        let is_file = path.symlink_metadata().is_ok_and(|found| found.is_file());
        is_file && std::fs::read(&path).is_ok_and(|bytes| bytes.contains(&b'\r'))
    };
    names.into_iter().filter(has_cr).collect()
}
