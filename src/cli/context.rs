//! What a command works with: how to speak, and the configuration with the paths it states.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::adapters::config_files::{self, CONFIG_VARIABLE, ConfigFileError, Found, Surroundings};
use crate::domain::config::{Config, Home};

use super::Global;
use super::exit::{Failure, Kind};
use super::output::Output;

/// What every command gets.
#[derive(Debug)]
pub struct Context {
    /// How to speak.
    pub out: Output,
    config_option: Option<PathBuf>,
    around: Surroundings,
}

/// The configuration of this run.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The effective values.
    pub config: Config,
    /// The file they come from, absolute; `None` for the defaults.
    pub file: Option<PathBuf>,
    /// What relative paths in it are relative to.
    pub home: Home,
}

impl Context {
    /// Looks at the working directory and the environment; reads no configuration, so that commands which need none
    /// work beside one that is wrong.
    pub fn new(global: &Global, out: Output) -> Result<Self, Failure> {
        let cwd = std::env::current_dir().map_err(|error| {
            Failure::new(Kind::Outside, format!("there is no working directory: {error}"))
                .hint("change to a directory that exists")
        })?;
        let user_home = std::env::home_dir().filter(|home| home.is_absolute());
        let config_variable = std::env::var_os(CONFIG_VARIABLE);
        let around = Surroundings { cwd, user_home, config_variable };
        Ok(Self { out, config_option: global.config.clone(), around })
    }

    /// Finds and reads the configuration without a word.
    pub fn find(&self) -> Result<Found, ConfigFileError> {
        config_files::load(self.config_option.as_deref(), &self.around)
    }

    /// The file's own words, whatever they mean; `None` when there is no file.
    pub fn config_text(&self) -> Result<Option<(PathBuf, String)>, ConfigFileError> {
        config_files::text(self.config_option.as_deref(), &self.around)
    }

    /// What relative paths in the configuration at `file` are relative to.
    pub fn home_of(&self, file: &std::path::Path) -> Home {
        Home::of_file(file, self.around.user_home.clone())
    }

    /// What can be read of a configuration that cannot be used, the defaults for the rest; `None` when there is none of
    /// that kind. It tells where things lie.
    pub fn readable_part(&self) -> Option<Setup> {
        let Err(ConfigFileError::Invalid { path, .. } | ConfigFileError::NotText { path, .. }) = self.find() else {
            return None;
        };
        let mut home = Home::of_file(&path, self.around.user_home.clone());
        home.dir = std::fs::canonicalize(&home.dir).ok()?;
        let config = config_files::readable_part(&path).unwrap_or_default();
        Some(Setup { config, home, file: Some(path) })
    }

    /// Finds and reads the configuration for a command that needs it, and says what is worth knowing about it.
    pub fn setup(&self) -> Result<Setup, Failure> {
        let found = self.find()?;
        let file = found.file.map(|(file, _)| file);
        match &file {
            Some(file) => self.out.detail(&format!("configuration: `{}`", file.display())),
            None => self.out.detail("configuration: none found, the defaults hold"),
        }
        for note in &found.reading.notes {
            self.out.note(&format!("`{}` {note}", file.as_deref().unwrap_or(&found.home.dir).display()));
        }
        Ok(Setup { config: found.reading.config, file, home: found.home })
    }

    /// The value of `--config`.
    pub fn config_option(&self) -> Option<&std::path::Path> {
        self.config_option.as_deref()
    }

    /// The working directory; names on the command line are relative to it.
    pub fn cwd(&self) -> &std::path::Path {
        &self.around.cwd
    }

    /// A variable of the environment.
    pub fn variable(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name)
    }
}
