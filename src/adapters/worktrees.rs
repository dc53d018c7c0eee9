//! Detached working trees of git under the system's temporary folder, in which a change is tried. The active repository
//! keeps its files, index, branches and commit; git notes the working tree beside them until it goes.

mod left;

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};

use super::checks::{self, NOT_RUN, OUT_OF_TIME};
use super::git::{WorkTree, pieces};
use super::limited::{self, Stopped};
use super::project::ProjectTree;
use crate::domain::evolve::{Bench, Ran, Workbench};
use crate::domain::ports::Limits;
use crate::domain::reference::hex;
use crate::domain::run::{ProjectError, ProjectFacts as _};

/// How long git may take to lay out a working tree.
const LIMIT: Duration = Duration::from_secs(300);
/// How the folders begin that are made under the temporary folder.
const PREFIX: &str = "the-loop-candidate-";

/// Makes working trees of one project.
#[derive(Debug)]
pub struct Worktrees<'p> {
    project: &'p ProjectTree,
    environment: Vec<(OsString, OsString)>,
    is_over: Arc<AtomicBool>,
}

impl<'p> Worktrees<'p> {
    /// Of this project; `environment` is the process's own, and `is_over` becomes true when it is told to end.
    pub const fn new(
        project: &'p ProjectTree,
        environment: Vec<(OsString, OsString)>,
        is_over: Arc<AtomicBool>,
    ) -> Self {
        Self { project, environment, is_over }
    }

    /// Takes away what a process that was killed has left under the temporary folder for this project. Answers the folders.
    pub fn tidy(&self) -> Vec<PathBuf> {
        let above = fs::canonicalize(std::env::temp_dir()).unwrap_or_default();
        left::tidy(&above, self.project.root(), self.project.work_tree())
    }

    /// A folder of its own under the temporary folder, which must not lie in the project.
    fn folder(&self) -> Result<Own, ProjectError> {
        let above = std::env::temp_dir();
        let failed = |said: String| ProjectError {
            said,
            hint: "a folder for temporary files outside of the project is needed (`TMPDIR`)".into(),
        };
        let above = fs::canonicalize(&above).map_err(|error| failed(format!("`{}`: {error}", above.display())))?;
        if above.starts_with(self.project.root()) {
            return Err(failed(format!("the temporary folder `{}` lies in the project", above.display())));
        }
        let made = tempfile::Builder::new().prefix(PREFIX).tempdir_in(&above);
        let owned = made.and_then(|folder| Ok(Own { _lock: left::claim(folder.path(), self.project.root())?, folder }));
        owned.map_err(|error| failed(format!("`{}`: {error}", above.display())))
    }
}

impl Workbench for Worktrees<'_> {
    fn open(&self, commit: &str, patch: Option<&str>) -> Result<Result<Box<dyn Bench>, String>, ProjectError> {
        let Some(tree) = self.project.work_tree() else {
            return Err(ProjectError {
                said: "candidates are tried in working trees of git, and there is no repository here".into(),
                hint: "make it one, and commit".into(),
            });
        };
        let (tree, own) = (tree.patient(LIMIT), self.folder()?);
        let root = own.folder.path().join("tree");
        let place = root.to_string_lossy().into_owned();
        if tree.run(&["cat-file", "-e", &format!("{commit}^{{commit}}")], &[]).is_err() {
            return Err(ProjectError {
                said: format!("the commit `{commit}` is not there any more"),
                hint: "make a candidate anew: `the-loop evolve candidate`".into(),
            });
        }
        // No hook of the repository runs: it could reach for the active one.
        let add = ["-c", "core.hooksPath=/dev/null", "worktree", "add", "--detach", "--quiet", &place, commit];
        tree.run(&add, &[]).map_err(|error| self.project.refused(&error))?;
        let (environment, is_over) = (self.environment.clone(), Arc::clone(&self.is_over));
        let bench = Side { root, active: tree, environment, is_over, own };
        if let Some(patch) = patch {
            let inside = bench.git()?;
            if let Err(error) = inside.run(&["apply", "--whitespace=nowarn", "-"], patch.as_bytes()) {
                return Ok(Err(error.to_string()));
            }
        }
        Ok(Ok(Box::new(bench)))
    }
}

/// A folder, and the lock that says that it is in use; the folder goes first.
#[derive(Debug)]
struct Own {
    folder: tempfile::TempDir,
    _lock: File,
}

/// One working tree.
#[derive(Debug)]
struct Side {
    root: PathBuf,
    active: WorkTree,
    environment: Vec<(OsString, OsString)>,
    is_over: Arc<AtomicBool>,
    own: Own,
}

impl Side {
    fn project(&self) -> Result<ProjectTree, ProjectError> {
        ProjectTree::find(&self.root, &self.environment)
    }

    fn git(&self) -> Result<WorkTree, ProjectError> {
        let found = WorkTree::find(&self.root, &self.environment);
        found.map(|tree| tree.patient(LIMIT)).map_err(|error| ProjectError {
            said: error.to_string(),
            hint: "the working tree of the candidate went away meanwhile; repeat".into(),
        })
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        left::remove_tree(&self.root, &self.active);
    }
}

impl Bench for Side {
    fn changed(&self) -> Result<Vec<String>, ProjectError> {
        let args = ["status", "--porcelain", "--no-renames", "-z", "--untracked-files=all", "--ignored=matching"];
        let project = self.project()?;
        let output = self.git()?.run(&args, &[]).map_err(|error| project.refused(&error))?;
        Ok(pieces(&output).into_iter().filter_map(|line| line.get(3..).map(str::to_owned)).collect())
    }

    fn tree(&self) -> Result<String, ProjectError> {
        self.project()?.tree().map(Option::unwrap_or_default)
    }

    fn is_bent(&self, path: &str) -> bool {
        // One that is gone was removed, which bends nothing.
        fs::symlink_metadata(self.root.join(path)).is_ok_and(|found| !found.is_file())
    }

    fn run(&self, argv: &[String], limits: Limits) -> Option<Ran> {
        let begun = Instant::now();
        let ran = self.run_to_its_end(argv, limits);
        let duration_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        match ran {
            Ok(None) => None,
            Ok(Some((exit_code, output, stopped))) => Some(Ran {
                exit_code,
                duration_ms,
                output_digest: hex(&Sha256::digest(&output)),
                output: String::from_utf8_lossy(&output).into_owned(),
                stopped,
            }),
            Err(error) => Some(Ran {
                exit_code: NOT_RUN,
                duration_ms,
                output_digest: hex(&Sha256::digest(b"")),
                output: String::new(),
                stopped: Some(format!("the suite could not be run: {error}")),
            }),
        }
    }
}

type Ended = (i64, Vec<u8>, Option<String>);

impl Side {
    /// Runs a program to its end or to one of its limits, in a process group of its own. None when we are to end.
    fn run_to_its_end(&self, argv: &[String], limits: Limits) -> std::io::Result<Option<Ended>> {
        let mut output = tempfile::tempfile()?;
        let mut command = checks::command(&self.root, argv, &output)?;
        // A suite that asks git, or this program, is to hear of its own folder.
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("GIT_") || text.starts_with("THE_LOOP_") || text == "OLDPWD" {
                command.env_remove(&name);
            }
        }
        let mut child = command.spawn()?;
        left::note_suite(self.own.folder.path(), child.id());
        let ran = limited::run_out(&mut child, &output, limits, &self.is_over);
        left::forget_suite(self.own.folder.path());
        let (status, stopped) = ran?;
        let mut printed = Vec::new();
        std::io::Seek::rewind(&mut output)?;
        std::io::Read::read_to_end(&mut std::io::Read::take(&output, limits.output), &mut printed)?;
        let ended = match stopped {
            Stopped::Unwanted => return Ok(None),
            Stopped::TooMuch => {
                (OUT_OF_TIME, printed, Some(format!("the suite printed more than {} bytes", limits.output)))
            }
            Stopped::Late => {
                let why = format!("the suite did not end within {} s", limits.time.as_secs());
                (OUT_OF_TIME, printed, Some(why))
            }
            Stopped::ByItself => {
                let signal = status.signal().map(|signal| format!("the suite was ended by the signal {signal}"));
                (checks::code(&status), printed, signal)
            }
        };
        Ok(Some(ended))
    }
}
