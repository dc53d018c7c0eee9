//! Outcomes of runs that ended, taken into the ledger once each, and the classes of those that failed.

use std::collections::HashMap;

use sha2::{Digest as _, Sha256};

use super::Evolve;
use super::walk::Listed;
use crate::app::kept::KeptError;
use crate::domain::evolve::{Case, Class, Classification, Outcome, Source, Tally, What, cases, sound};
use crate::domain::kept::{Shelf, TEMPORARY};
use crate::domain::reference::hex;
use crate::domain::run::{FilesError, Run, archive_number, manifest_name, parse};
use crate::domain::secrets::Scanned;
use crate::domain::verdict;

/// Most ids of a class that are named.
const NAMED: usize = 20;

/// What was collected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collected {
    /// Cases that are in the ledger now and were not before: id and case.
    pub new: Vec<(String, Case)>,
    /// How many are there already.
    pub known: usize,
    /// Files that gave none, each with why.
    pub refused: Vec<(String, String)>,
}

/// The classes of failures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classified {
    /// What was counted.
    pub classification: Classification,
    /// Of each class the first ids.
    pub ids: Vec<(Class, Vec<String>)>,
    /// Whether this is a new entry; otherwise it stands there already.
    pub is_new: bool,
}

/// Files that gave no case, each with why.
type Refused = Vec<(String, String)>;

/// A file as it was read, and where it came from.
type Read<T> = (Result<T, String>, Source);

/// What tells a case from others: where it is from and of what.
type Key = (String, String);

fn key(case: &Case) -> Key {
    (case.source.file.clone(), case.subject.clone())
}

impl Evolve<'_> {
    /// Takes the outcomes of every archived run into the ledger that are not there yet.
    ///
    /// # Errors
    /// The ledger cannot be trusted, or a file cannot be read or written. An archive that cannot be trusted is no error:
    /// it gives nothing and is named.
    pub fn collect(&self) -> Result<Collected, KeptError> {
        let (mut found, mut refused) = self.archived()?;
        let all = found.len();
        let mut waiting: HashMap<Key, usize> = found.iter().enumerate().map(|(at, case)| (key(case), at)).collect();
        let mut changed: Vec<Source> = Vec::new();
        let walked = self.walk(&mut |_, entry| {
            if let What::Case(case) = entry.what
                && let Some(at) = waiting.remove(&key(&case))
                && found[at].source.digest != case.source.digest
            {
                changed.push(found[at].source.clone());
            }
        })?;
        // What was collected once and is another file now was changed, and is believed nothing any more.
        changed.dedup();
        refused
            .extend(changed.iter().map(|source| (source.file.clone(), "it was changed after it was collected".into())));
        let is_wanted = |case: &Case| waiting.contains_key(&key(case)) && !changed.contains(&case.source);
        found.retain(is_wanted);
        let ids = self.append(&walked, found.iter().cloned().map(What::Case).collect())?;
        let known = all - found.len();
        Ok(Collected { new: ids.into_iter().zip(found).collect(), known, refused })
    }

    /// Counts the failed cases by class, and writes that down when it is not the last thing written.
    ///
    /// # Errors
    /// The ledger cannot be trusted or written.
    pub fn classify(&self) -> Result<Classified, KeptError> {
        let (mut tally, mut last) = (Tally::default(), None);
        let mut ids: Vec<(Class, Vec<String>)> = Class::ALL.map(|class| (class, Vec::new())).into();
        let walked = self.walk(&mut |id, entry| match entry.what {
            What::Case(case) => {
                let class = tally.add(&case);
                let named = ids.iter_mut().find(|(known, named)| Some(*known) == class && named.len() < NAMED);
                named.into_iter().for_each(|(_, named)| named.push(id.to_owned()));
            }
            What::Classification(classification) => last = Some(classification),
            _ => {}
        })?;
        let classification = tally.classification();
        let is_new = last.as_ref() != Some(&classification);
        if is_new {
            self.append(&walked, vec![What::Classification(classification.clone())])?;
        }
        Ok(Classified { classification, ids, is_new })
    }

    /// Every case of every archive that can be trusted, and what cannot.
    fn archived(&self) -> Result<(Vec<Case>, Refused), KeptError> {
        let (project, fingerprint) = self.today()?;
        let names = self.files.names(Shelf::Archive)?;
        let is_run = |name: &&String| name.ends_with(".json") && !name.ends_with(".verification.json");
        let (mut found, mut refused) = (Vec::new(), Vec::new());
        for name in names.iter().filter(is_run).filter(|name| !name.contains(TEMPORARY)) {
            match self.of_archive(name, &fingerprint, &project.root)? {
                Ok(cases) => found.extend(cases),
                Err(why) => refused.push((name.clone(), why)),
            }
        }
        Ok((found, refused))
    }

    fn of_archive(&self, name: &str, project: &str, root: &str) -> Result<Result<Vec<Case>, String>, KeptError> {
        let Some((run, of_run)) = self.document(name, |bytes| parse(bytes).map_err(|why| why.to_string()))? else {
            return Ok(Ok(Vec::new()));
        };
        let run: Run = match run.and_then(|run| scanned(crate::domain::run::document(&run)).map(|()| run)) {
            Ok(run) => run,
            Err(why) => return Ok(Err(why)),
        };
        let Some(number) = archive_number(&run.task_id, name) else {
            return Ok(Err(format!("it is of the task {}", run.task_id)));
        };
        let beside = manifest_name(&run.task_id, number);
        let manifest = self.document(&beside, |bytes| verdict::parse(bytes).map_err(|why| why.to_string()))?;
        let manifest = match manifest {
            None => None,
            Some((Ok(manifest), source)) => match scanned(verdict::document(&manifest)) {
                Ok(()) => Some((manifest, source)),
                Err(why) => return Ok(Err(format!("`{beside}`: {why}"))),
            },
            Some((Err(why), _)) => return Ok(Err(format!("`{beside}`: {why}"))),
        };
        if let Err(why) = sound(&run, project, manifest.as_ref().map(|(manifest, _)| manifest)) {
            return Ok(Err(why));
        }
        Ok(Ok(cases(&run, &of_run, manifest.as_ref().map(|(manifest, source)| (manifest, source)), root)))
    }

    /// A file of the archive, read, and where it came from.
    fn document<T>(
        &self,
        name: &str,
        read: impl FnOnce(&[u8]) -> Result<T, String>,
    ) -> Result<Option<Read<T>>, KeptError> {
        let source = |bytes: &[u8]| Source { file: name.to_owned(), digest: hex(&Sha256::digest(bytes)) };
        match self.files.read_kept(Shelf::Archive, name) {
            Ok(found) => Ok(found.map(|bytes| (read(&bytes), source(&bytes)))),
            // One that cannot be read is named like one that cannot be trusted, and stands in the way of no other.
            Err(FilesError::Io { said, .. }) => Ok(Some((Err(said), source(b"")))),
            Err(error) => Err(error.into()),
        }
    }
}

/// Whether nothing in a document looks like a secret; one that does was not written by this program.
fn scanned(document: serde_json::Value) -> Result<(), String> {
    Scanned::json(document).map(drop).map_err(|leaks| leaks.to_string())
}

impl Listed {
    /// Whether it is a case that failed.
    pub fn is_failure(&self) -> bool {
        matches!(&self.entry.what, What::Case(case) if case.outcome == Outcome::Failed)
    }
}
