//! Detached working trees of git under the system's temporary folder, in which a change is tried. The active repository
//! keeps its files, index, branches and commit; git notes the working tree beside them until it goes.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};

use super::checks::{self, NOT_RUN, OUT_OF_TIME};
use super::git::{WorkTree, pieces};
use super::processes;
use super::project::ProjectTree;
use crate::domain::evolve::{Bench, Limits, Ran, Workbench};
use crate::domain::reference::hex;
use crate::domain::run::{ProjectError, ProjectFacts as _};

/// How long git may take to lay out a working tree.
const LIMIT: Duration = Duration::from_secs(300);
/// How often it is looked whether a suite has printed too much.
const LOOK: Duration = Duration::from_millis(50);

/// Makes working trees of one project.
#[derive(Debug)]
pub struct Worktrees<'p> {
    project: &'p ProjectTree,
    environment: Vec<(OsString, OsString)>,
}

impl<'p> Worktrees<'p> {
    /// Of this project; `environment` is the process's own.
    pub const fn new(project: &'p ProjectTree, environment: Vec<(OsString, OsString)>) -> Self {
        Self { project, environment }
    }

    /// A folder of its own under the temporary folder, which must not lie in the project.
    fn folder(&self) -> Result<tempfile::TempDir, ProjectError> {
        let above = std::env::temp_dir();
        let failed = |said: String| ProjectError {
            said,
            hint: "a folder for temporary files outside of the project is needed (`TMPDIR`)".into(),
        };
        let above = fs::canonicalize(&above).map_err(|error| failed(format!("`{}`: {error}", above.display())))?;
        if above.starts_with(self.project.root()) {
            return Err(failed(format!("the temporary folder `{}` lies in the project", above.display())));
        }
        let made = tempfile::Builder::new().prefix("the-loop-candidate-").tempdir_in(&above);
        made.map_err(|error| failed(format!("`{}`: {error}", above.display())))
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
        let root = own.path().join("tree");
        let place = root.to_string_lossy().into_owned();
        // No hook of the repository runs: it could reach for the active one.
        let add = ["-c", "core.hooksPath=/dev/null", "worktree", "add", "--detach", "--quiet", &place, commit];
        tree.run(&add, &[]).map_err(|error| self.project.refused(&error))?;
        let bench = Side { root, active: tree, environment: self.environment.clone(), _own: own };
        if let Some(patch) = patch {
            let inside = bench.git()?;
            if let Err(error) = inside.run(&["apply", "--whitespace=nowarn", "-"], patch.as_bytes()) {
                return Ok(Err(error.to_string()));
            }
        }
        Ok(Ok(Box::new(bench)))
    }
}

/// One working tree.
#[derive(Debug)]
struct Side {
    root: PathBuf,
    active: WorkTree,
    environment: Vec<(OsString, OsString)>,
    _own: tempfile::TempDir,
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
        let place = self.root.to_string_lossy().into_owned();
        // The folder itself goes in any case; git forgets what is gone at its next `worktree prune`.
        let _ = self.active.run(&["worktree", "remove", "--force", "--force", &place], &[]);
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

    fn run(&self, argv: &[String], limits: Limits) -> Ran {
        let begun = Instant::now();
        let ran = run(&self.root, argv, limits);
        let duration_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        match ran {
            Ok((exit_code, output, stopped)) => Ran {
                exit_code,
                duration_ms,
                output_digest: hex(&Sha256::digest(&output)),
                output: String::from_utf8_lossy(&output).into_owned(),
                stopped,
            },
            Err(error) => Ran {
                exit_code: NOT_RUN,
                duration_ms,
                output_digest: hex(&Sha256::digest(b"")),
                output: String::new(),
                stopped: Some(format!("the suite could not be run: {error}")),
            },
        }
    }
}

type Ended = (i64, Vec<u8>, Option<String>);

/// Runs a program to its end or to one of its limits, in a process group of its own.
fn run(root: &Path, argv: &[String], limits: Limits) -> std::io::Result<Ended> {
    let (begun, mut output) = (Instant::now(), tempfile::tempfile()?);
    let mut command = checks::command(root, argv, &output)?;
    // A suite that asks git, or this program, is to hear of its own folder.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("GIT_") || text.starts_with("THE_LOOP_") {
            command.env_remove(&name);
        }
    }
    let mut child = command.spawn()?;
    let (pid, (ended, end)) = (child.id(), mpsc::channel());
    std::thread::Builder::new().name("suite".into()).spawn(move || {
        // Nobody listens any more when a limit was met.
        let _ = ended.send(child.wait());
    })?;
    let (exit_code, stopped) = loop {
        let too_much = output.metadata()?.len() > limits.output;
        match end.recv_timeout(LOOK) {
            Ok(status) if !too_much => break (checks::code(&status?), None),
            _ if too_much || begun.elapsed() > limits.time => {
                processes::kill_group(pid);
                let _ = end.recv();
                let why = match too_much {
                    true => format!("the suite printed more than {} bytes", limits.output),
                    false => format!("the suite did not end within {} s", limits.time.as_secs()),
                };
                break (OUT_OF_TIME, Some(why));
            }
            Ok(_) | Err(_) => {}
        }
    };
    let mut printed = Vec::new();
    std::io::Seek::rewind(&mut output)?;
    std::io::Read::read_to_end(&mut std::io::Read::take(output, limits.output), &mut printed)?;
    Ok((exit_code, printed, stopped))
}
