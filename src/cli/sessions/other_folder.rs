//! `--portable-dir`: another portable folder than the store's own is a view. What its files say is shown beside the
//! sessions of this store; nothing of it is taken in, and nothing is written there.

use std::path::{Path, PathBuf};

use super::is_same;
use crate::adapters::portable_files::PortableDir;
use crate::adapters::system::SystemClock;
use crate::app::request::{SessionDetail, SessionRow};
use crate::cli::exit::{Failure, Kind};
use crate::daemon::compose::Setting;
use crate::domain::portable::date::dated;
use crate::domain::portable::files::{FileError, Located};
use crate::domain::portable::{Record, join};
use crate::domain::ports::{Clock as _, PortableFiles as _};
use crate::domain::reference::WorkItemRef;

/// Another portable folder than the store's own.
#[derive(Debug)]
pub(super) struct OtherFolder {
    path: PathBuf,
    files: PortableDir,
}

impl OtherFolder {
    /// The folder at `path`, when it is another one.
    ///
    /// # Errors
    /// There is no folder.
    pub(super) fn of(path: &Path, setting: &Setting) -> Result<Option<Self>, Failure> {
        if is_same(path, setting.layout.portable_dir()) {
            return Ok(None);
        }
        if !path.is_dir() {
            let what = format!("`--portable-dir`: `{}` is no directory", path.display());
            return Err(Failure::new(Kind::Usage, what).hint("name one that exists"));
        }
        Ok(Some(Self { path: path.to_owned(), files: PortableDir::new(path) }))
    }

    /// What a verb that changes something answers.
    pub(super) fn refuse(&self) -> Failure {
        let what =
            format!("`{}` is not the portable folder of this store, so it is only looked at", self.path.display());
        Failure::new(Kind::Refused, what)
            .hint("leave `--portable-dir` out, or name the configuration of that folder with `--config`")
    }

    /// What the folder says instead of the store.
    pub(super) fn show_in_rows(&self, rows: &mut [SessionRow]) -> Result<(), Failure> {
        for row in rows.iter_mut().filter(|row| !row.is_pull_request) {
            let record = self.record(&row.work_item)?;
            row.control = record.and_then(|record| Some(record.control.present()?.command.as_str().to_owned()));
        }
        Ok(())
    }

    /// The same for one session.
    pub(super) fn show_in(&self, detail: &mut SessionDetail) -> Result<(), Failure> {
        let record = self.record(&detail.row.work_item)?;
        detail.armed = record.as_ref().is_some_and(Record::is_armed);
        let ended = record.as_ref().and_then(|record| record.ended.as_ref());
        detail.ended = ended.map(|ended| format!("{} at {}", ended.reason, ended.at));
        detail.row.control = record.and_then(|record| Some(record.control.present()?.command.as_str().to_owned()));
        Ok(())
    }

    /// The item's record; one that cannot be read says nothing, as everywhere.
    fn record(&self, item: &str) -> Result<Option<Record>, Failure> {
        let Ok(item) = WorkItemRef::parse(item) else { return Ok(None) };
        let fail = |error: FileError| Failure::new(Kind::Outside, error.to_string());
        let Located::Files(news) = self.files.locate(&item, SystemClock.now()).map_err(fail)? else { return Ok(None) };
        let joined = news.into_iter().map(|news| news.record).reduce(|ours, theirs| match join(&ours, &theirs, None) {
            Ok(joined) => joined.record,
            Err(_) => ours,
        });
        Ok(joined.map(|record| dated(&record, None, None)))
    }
}
