//! The files that Claude keeps for its user: `.claude.json` with the directories it trusts, and transcripts.
//!
//! The first holds a user's whole history and is written by every running Claude. It is changed in one step, only while
//! it still holds what was read, through its symbolic link if it is one, with the mode it had.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::domain::ids::ConversationId;
use crate::domain::ports::TrustError;
use crate::domain::transcript::{self, Folder};
use crate::domain::trust;

/// A configuration larger than this is not Claude's.
const LARGEST: u64 = 64 * 1024 * 1024;
/// How often a file that changes under our hands is read again.
const TRIES: u32 = 5;
const LOOK: Duration = Duration::from_millis(30);

/// Claude's files of one user.
#[derive(Debug)]
pub struct ClaudeFiles {
    /// `None` for a user without a home: there nothing is known and nothing done.
    places: Option<Places>,
    /// One edit at a time in this process.
    editing: Mutex<()>,
}

#[derive(Debug)]
struct Places {
    /// Never trusted itself.
    home: PathBuf,
    config: PathBuf,
    projects: PathBuf,
}

impl ClaudeFiles {
    /// Those of the user whose home is `home`; `config_dir` is `CLAUDE_CONFIG_DIR` where sessions see it.
    pub fn new(home: Option<&Path>, config_dir: Option<&Path>) -> Self {
        let places = home.map(|home| Places {
            home: home.to_owned(),
            config: config_dir.unwrap_or(home).join(".claude.json"),
            projects: config_dir.map_or_else(|| home.join(".claude"), Path::to_owned).join("projects"),
        });
        Self { places, editing: Mutex::new(()) }
    }

    /// The transcript of a conversation in `cwd`; `None` when there is none.
    pub(super) fn transcript(&self, cwd: &Path, conversation: &ConversationId) -> io::Result<Option<PathBuf>> {
        self.places.as_ref().ok_or(io::ErrorKind::Unsupported)?.transcript(cwd, conversation)
    }
}

impl Places {
    /// One try; false when the file changed meanwhile.
    fn edit(&self, directory: &str) -> Result<Option<bool>, String> {
        let found = Found::read(&self.config)?;
        let text = found.as_ref().map_or("{}", |found| found.text.as_str());
        let edited = trust::grant(text, directory).map_err(|error| format!("{}: {error}", self.config.display()))?;
        let Some(edited) = edited else { return Ok(Some(false)) };
        match replace(&self.config, found, &edited) {
            Ok(true) => Ok(Some(true)),
            Ok(false) => Ok(None),
            Err(error) => Err(format!("{}: {error}", self.config.display())),
        }
    }

    fn transcript(&self, cwd: &Path, conversation: &ConversationId) -> Result<Option<PathBuf>, io::Error> {
        let file = format!("{conversation}.jsonl");
        match transcript::folder(&cwd.canonicalize()?) {
            Folder::Named(name) => {
                let path = self.projects.join(name).join(file);
                Ok(path.try_exists()?.then_some(path))
            }
            Folder::Begins(name) => {
                for entry in fs::read_dir(&self.projects)? {
                    let entry = entry?;
                    let path = entry.path().join(&file);
                    if entry.file_name().to_string_lossy().starts_with(&name) && path.try_exists()? {
                        return Ok(Some(path));
                    }
                }
                Ok(None)
            }
        }
    }
}

impl ClaudeFiles {
    /// Sees to it that Claude trusts `directory`; true when that was news.
    ///
    /// # Errors
    /// Nothing was changed.
    pub fn trust(&self, directory: &Path) -> Result<bool, TrustError> {
        let refused = |reason: String| TrustError { directory: directory.to_owned(), reason };
        let real = directory.canonicalize().map_err(|error| refused(error.to_string()))?;
        let places = self.places.as_ref().ok_or_else(|| refused("`HOME` is not set".into()))?;
        let home = places.home.canonicalize().unwrap_or_else(|_| places.home.clone());
        if home.starts_with(&real) {
            return Err(refused("trust in it would reach the whole home directory".into()));
        }
        let name = real.to_str().ok_or_else(|| refused("its name is not UTF-8".into()))?;
        let _one = self.editing.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..TRIES {
            match places.edit(name) {
                Ok(Some(news)) => return Ok(news),
                Ok(None) => std::thread::sleep(LOOK),
                Err(reason) => return Err(refused(reason)),
            }
        }
        Err(refused(format!("{} changes all the time", places.config.display())))
    }
}

/// The configuration as it was read.
struct Found {
    /// Where it really lies.
    path: PathBuf,
    mode: u32,
    text: String,
}

impl Found {
    /// `None` when there is nothing of that name; a link that leads nowhere is refused.
    fn read(path: &Path) -> Result<Option<Self>, String> {
        let told = |error: io::Error| format!("{}: {error}", path.display());
        let path = match path.canonicalize() {
            Ok(real) => real,
            Err(error) if error.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(path).is_err() => {
                return Ok(None);
            }
            Err(error) => return Err(told(error)),
        };
        let file = File::open(&path).map_err(told)?;
        let meta = file.metadata().map_err(told)?;
        if !meta.is_file() || meta.uid() != rustix::process::geteuid().as_raw() {
            return Err(format!("{} is not a file of this user", path.display()));
        }
        if meta.len() > LARGEST {
            return Err(format!("{} is larger than {LARGEST} bytes", path.display()));
        }
        let mut text = String::new();
        file.take(LARGEST + 1).read_to_string(&mut text).map_err(told)?;
        Ok(Some(Self { path, mode: meta.permissions().mode() & 0o7777, text }))
    }
}

/// Puts `text` in the place of what was found, in one step; false when something else stands there by now.
fn replace(config: &Path, found: Option<Found>, text: &str) -> Result<bool, String> {
    let told = |error: io::Error| error.to_string();
    let (path, mode) = found.as_ref().map_or((config, 0o600), |found| (&found.path, found.mode));
    let dir = path.parent().ok_or("it has no directory")?;
    let mut new = tempfile::Builder::new().prefix(".claude.json.").tempfile_in(dir).map_err(told)?;
    new.write_all(text.as_bytes()).map_err(told)?;
    new.as_file().set_permissions(fs::Permissions::from_mode(mode)).map_err(told)?;
    new.as_file().sync_all().map_err(told)?;
    let now = Found::read(config)?;
    if now.as_ref().map(|now| &now.text) != found.as_ref().map(|found| &found.text) {
        return Ok(false);
    }
    match found {
        Some(found) => new.persist(&found.path).map_err(|error| told(error.error))?,
        None => match new.persist_noclobber(config) {
            Ok(file) => file,
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
            Err(error) => return Err(told(error.error)),
        },
    };
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Home {
        dir: tempfile::TempDir,
        files: ClaudeFiles,
    }

    fn home() -> Home {
        let dir = tempfile::tempdir().unwrap();
        for name in ["user", "src/a"] {
            fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        let files = ClaudeFiles::new(Some(&dir.path().join("user")), None);
        Home { dir, files }
    }

    impl Home {
        fn path(&self, name: &str) -> PathBuf {
            self.dir.path().canonicalize().unwrap().join(name)
        }

        fn config(&self) -> PathBuf {
            self.path("user/.claude.json")
        }

        fn trusted(&self) -> String {
            format!("{{\"projects\": {{\"{}\": {{\"hasTrustDialogAccepted\": true}}}}}}", self.path("src").display())
        }

        fn temporaries(&self) -> usize {
            fs::read_dir(self.path("user"))
                .unwrap()
                .filter(|entry| entry.as_ref().unwrap().path() != self.config())
                .count()
        }
    }

    #[test]
    fn trust_is_written_once_and_reaches_what_lies_below() {
        let home = home();
        assert_eq!(home.files.trust(&home.path("src")), Ok(true));
        assert_eq!(fs::read_to_string(home.config()).unwrap(), home.trusted());
        assert_eq!(fs::metadata(home.config()).unwrap().permissions().mode() & 0o777, 0o600);
        let before = fs::metadata(home.config()).unwrap().ino();
        assert_eq!(home.files.trust(&home.path("src/a")), Ok(false));
        assert_eq!(fs::metadata(home.config()).unwrap().ino(), before, "nothing was written");
        assert_eq!(home.temporaries(), 0);
    }

    #[test]
    fn mode_and_symbolic_link_stay() {
        let home = home();
        let real = home.path("dotfiles.json");
        fs::write(&real, "{}").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&real, home.config()).unwrap();
        assert_eq!(home.files.trust(&home.path("src")), Ok(true));
        assert!(fs::symlink_metadata(home.config()).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), home.trusted());
        assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[test]
    fn what_cannot_be_read_is_left_as_it_is() {
        let home = home();
        for bytes in [&b"{\"projects\": {"[..], b"", b"\xff{}", b"[]"] {
            fs::write(home.config(), bytes).unwrap();
            let error = home.files.trust(&home.path("src")).unwrap_err();
            assert!(error.to_string().contains(".claude.json"), "{error}");
            assert_eq!(fs::read(home.config()).unwrap(), bytes);
            assert_eq!(home.temporaries(), 0);
        }
        fs::remove_file(home.config()).unwrap();
        std::os::unix::fs::symlink(home.path("nowhere"), home.config()).unwrap();
        assert!(home.files.trust(&home.path("src")).is_err());
        assert!(!home.path("nowhere").exists());
    }

    #[test]
    fn the_home_directory_and_what_holds_it_are_never_trusted() {
        let home = home();
        for directory in [home.path("user"), home.path(""), PathBuf::from("/")] {
            assert!(home.files.trust(&directory).is_err(), "{}", directory.display());
        }
        assert!(!home.config().exists());
    }

    #[test]
    fn a_file_that_changed_meanwhile_is_not_overwritten() {
        let home = home();
        fs::write(home.config(), "{}").unwrap();
        let found = Found::read(&home.config()).unwrap();
        fs::write(home.config(), "{\"n\":1}").unwrap();
        assert_eq!(replace(&home.config(), found, "mine"), Ok(false));
        fs::remove_file(home.config()).unwrap();
        let found = Found::read(&home.config()).unwrap();
        fs::write(home.config(), "{}").unwrap();
        assert_eq!(replace(&home.config(), found, "mine"), Ok(false));
        assert_eq!(fs::read_to_string(home.config()).unwrap(), "{}");
    }
}
