//! Evaluations of models: read a record, have the pure step decide, scan what comes of it and write.

use super::kept::KeptError;
use crate::domain::kept::{KeptFiles, Shelf};
use crate::domain::model_eval::{
    Comparison, NewRun, Profile, Record, Refusal, RunId, compare, complete, document, observe, open, parse,
    parse_observation, profile, shipped,
};
use crate::domain::run::{Corrupt, ProjectFacts};
use crate::domain::secrets::Scanned;
use crate::domain::time::Time;

/// The evaluations of one project at one moment.
pub struct ModelEval<'a> {
    /// Their files.
    pub files: &'a dyn KeptFiles,
    /// The project.
    pub project: &'a dyn ProjectFacts,
    /// Whether an agent's session asks, and not a person.
    pub is_session: bool,
    /// When.
    pub now: Time,
}

impl ModelEval<'_> {
    /// Starts an evaluation. The second value is worth knowing beside the record.
    ///
    /// # Errors
    /// A session asks, there is a record of the same model, label and tasks, or it holds a secret.
    pub fn start(&self, of: NewRun) -> Result<(Record, Vec<String>), KeptError> {
        let record = open(of, shipped(), self.fingerprint()?, self.is_session, self.now)?;
        if self.files.read_kept(Shelf::ModelEval, &record.run_id.file_name())?.is_some() {
            return Err(Refusal::Duplicate { run: record.run_id }.into());
        }
        let text = Scanned::json(document(&record))?.pretty();
        let notes = self.project.exclude().err().map(|error| error.to_string()).into_iter().collect();
        self.files.replace_kept(Shelf::ModelEval, &record.run_id.file_name(), None, &text, record.generation)?;
        Ok((record, notes))
    }

    /// Writes down one observation as it was typed.
    ///
    /// # Errors
    /// There is no such record or it is closed, or the observation is none (`Err` of the inner result).
    pub fn observe(&self, run: &RunId, typed: &[u8]) -> Result<Result<Record, String>, KeptError> {
        let (before, record) = self.own(run)?;
        let observation = match parse_observation(typed) {
            Ok(observation) => observation,
            Err(why) => return Ok(Err(why)),
        };
        let next = observe(&record, observation, shipped(), self.now)?;
        self.write(&before, next).map(Ok)
    }

    /// Closes a record for ever.
    ///
    /// # Errors
    /// There is no such record, it is closed already, or it lacks observations or a statement of its limitations.
    pub fn complete(&self, run: &RunId, limitations: &str) -> Result<Record, KeptError> {
        let (before, record) = self.own(run)?;
        self.write(&before, complete(&record, limitations, shipped(), self.now)?)
    }

    /// One record.
    ///
    /// # Errors
    /// There is none, or it cannot be trusted.
    pub fn record(&self, run: &RunId) -> Result<Record, KeptError> {
        Ok(self.read(&run.file_name())?.ok_or_else(|| none(run))?.1)
    }

    /// Every record of this project, by their ids.
    ///
    /// # Errors
    /// One cannot be trusted: what is left out silently would be missing in every count.
    pub fn records(&self) -> Result<Vec<Record>, KeptError> {
        let names = self.files.names(Shelf::ModelEval)?;
        let names = names.iter().filter(|name| name.ends_with(".json"));
        names.filter_map(|name| self.read(name).map(|found| found.map(|(_, record)| record)).transpose()).collect()
    }

    /// What the completed records of a model come to; or one record, by its id.
    ///
    /// # Errors
    /// There is nothing completed, or it is of different task sets.
    pub fn profile(&self, name: &str) -> Result<Profile, KeptError> {
        let records = match RunId::parse(name) {
            Some(run) => vec![self.record(&run)?],
            None => self.records()?.into_iter().filter(|record| record.of.model.as_str() == name.trim()).collect(),
        };
        Ok(profile(name.trim(), &records)?)
    }

    /// Two models, or two records, side by side.
    ///
    /// # Errors
    /// As with [`ModelEval::profile`]; or they are one and the same.
    pub fn compare(&self, one: &str, other: &str) -> Result<Comparison, KeptError> {
        Ok(compare(self.profile(one)?, self.profile(other)?)?)
    }

    fn fingerprint(&self) -> Result<String, KeptError> {
        Ok(self.project.project()?.identity().fingerprint)
    }

    /// A record that may be written to by this project.
    fn own(&self, run: &RunId) -> Result<(Vec<u8>, Record), KeptError> {
        self.read(&run.file_name())?.ok_or_else(|| none(run))
    }

    fn read(&self, name: &str) -> Result<Option<(Vec<u8>, Record)>, KeptError> {
        let Some(bytes) = self.files.read_kept(Shelf::ModelEval, name)? else { return Ok(None) };
        let path = self.files.path(Shelf::ModelEval, name);
        let record = match trusted(&bytes, name) {
            Ok(record) => record,
            Err(why) => return Err(KeptError::Corrupt { path, why }),
        };
        match record.project == self.fingerprint()? {
            true => Ok(Some((bytes, record))),
            false => Err(KeptError::Foreign(path)),
        }
    }

    fn write(&self, before: &[u8], next: Record) -> Result<Record, KeptError> {
        let text = Scanned::json(document(&next))?.pretty();
        let name = next.run_id.file_name();
        self.files.replace_kept(Shelf::ModelEval, &name, Some(before), &text, next.generation)?;
        Ok(next)
    }
}

/// Reads a record; one that holds a secret, or lies under another name, was not written by this program.
fn trusted(bytes: &[u8], name: &str) -> Result<Record, Corrupt> {
    let record = parse(bytes)?;
    if record.run_id.file_name() != name {
        return Err(Corrupt::Invalid(format!("it is the record `{}`", record.run_id)));
    }
    match Scanned::json(document(&record)) {
        Ok(_) => Ok(record),
        Err(leaks) => Err(Corrupt::Invalid(leaks.to_string())),
    }
}

fn none(run: &RunId) -> KeptError {
    let hint = "`the-loop model-eval show` lists the records".to_owned();
    KeptError::Refused { said: format!("there is no record `{run}`"), hint }
}
