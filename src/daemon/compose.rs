//! Composition: from a configuration to the parts of the product, the same for the daemon and for a command that
//! owns the store for a moment.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};

use super::control::Place;
use crate::adapters::config_files::{CONFIG_VARIABLE, ConfigFileError};
use crate::adapters::earlier_files::EarlierTree;
use crate::adapters::github::{BadApiUrl, Bounds, GitHubHttp};
use crate::adapters::harness_files::{HarnessFolders, Homes};
use crate::adapters::hosts::{self, Hosts};
use crate::adapters::portable_files::{Nowhere, PortableDir};
use crate::adapters::process_runner::ProcessConfig;
use crate::adapters::project_runs::ProjectRuns;
use crate::adapters::system::{RandomIds, SystemClock};
use crate::adapters::tmux::{KnownServer, Tmux, TmuxConfig, TmuxSetupError};
use crate::adapters::workspaces::{GitWorkspaces, WorkspacesConfig};
use crate::app::settings::Workspace;
use crate::app::{App, Parts, Settings};
use crate::domain::config::{Config, HarnessConfig, Home, Strategy, TrustScope};
use crate::domain::harness::{Harness, HarnessError, Mode};
use crate::domain::layout::StateLayout;
use crate::domain::ports::{Ids as _, PortableFiles};
use crate::domain::prompt::{Template, TemplateError, Templates};
use crate::domain::session::Session;
use crate::domain::trust::Trust;
use crate::store::{Store, StoreError, View};

/// A configuration with everything around it that composition reads.
#[derive(Debug, Clone)]
pub struct Setting {
    /// The configuration.
    pub config: Config,
    /// What its paths are relative to.
    pub home: Home,
    /// The file it came from, absolute.
    pub file: Option<PathBuf>,
    /// Where state lies.
    pub layout: StateLayout,
    /// The process's environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Whether another store or folder was named than the configured one: portable files are then neither taken in nor
    /// written, because those of one store would get into the folder of another.
    pub is_view: bool,
}

/// Why the product cannot be put together as configured.
#[derive(Debug, thiserror::Error)]
pub enum ComposeError {
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The webhook's secret.
    #[error(transparent)]
    Secret(#[from] ConfigFileError),
    /// tmux.
    #[error(transparent)]
    Tmux(#[from] TmuxSetupError),
    /// A harness.
    #[error("`routing.harnesses`: {0}")]
    Harness(#[from] HarnessError),
    /// An address of GitHub's API.
    #[error("`github`: {0}")]
    GitHub(#[from] BadApiUrl),
    /// A prompt template that cannot be read.
    #[error("could not read the prompt template {}: {source}", path.display())]
    TemplateFile {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A prompt template that is no template.
    #[error("the prompt template {}: {source}", path.display())]
    Template {
        /// The file.
        path: PathBuf,
        /// Why.
        source: TemplateError,
    },
}

impl Setting {
    /// Everything around `config`, as read from `file`.
    pub fn new(config: Config, home: Home, file: Option<PathBuf>, environment: Vec<(OsString, OsString)>) -> Self {
        let layout = StateLayout::new(config.state_root(&home)).with_local_dir(config.local_dir(&home));
        Self { config, home, file, layout, environment, is_view: false }
    }

    /// The settings of use cases.
    pub fn settings(&self) -> Result<Settings, ComposeError> {
        let (routing, built_in) = (&self.config.routing, Templates::default());
        Ok(Settings {
            policy: self.config.policy(self.user().as_deref()),
            harnesses: harnesses(&routing.harnesses)?,
            harness_args: routing.harness_args.clone(),
            workspace: self.workspace(),
            trust: self.trust(),
            session_env: self.session_env(),
            kill_grace_ms: u64::from(routing.tmux.harness_kill_grace_seconds) * 1000,
            keep_session_on_close: routing.tmux.keep_session_on_close,
            resume_on_respawn: routing.tmux.resume_on_respawn,
            templates: Templates {
                first: self.template(&routing.spawn_prompt_template, built_in.first)?,
                event: self.template(&routing.prompt_template, built_in.event)?,
            },
            polling: self.config.polled(),
            sweep: self.swept_path(),
        })
    }

    fn swept_path(&self) -> Option<String> {
        let hook = &self.config.webhooks.gh_webhook;
        (hook.enabled && hook.sweep).then(|| hook.path.clone())
    }

    /// The product over an open store.
    pub fn app(&self, store: Store) -> Result<App, ComposeError> {
        let servers = store.read(|tx| known_servers(tx))?;
        self.app_beside(store, servers, self.portable())
    }

    /// The product for what only concerns files: it does not go through all records for the servers that they name, so
    /// it must start no session.
    pub fn app_for_files(&self, store: Store) -> Result<App, ComposeError> {
        self.app_beside(store, Vec::new(), self.portable())
    }

    /// The same over the portable files of another directory, to take in what they say.
    pub fn app_beside_files(&self, store: Store, dir: &Path) -> Result<App, ComposeError> {
        self.app_beside(store, Vec::new(), Arc::new(PortableDir::new(dir)))
    }

    fn app_beside(
        &self,
        store: Store,
        servers: Vec<KnownServer>,
        portable: Arc<dyn PortableFiles>,
    ) -> Result<App, ComposeError> {
        let ids = Arc::new(RandomIds);
        Ok(App::new(Parts {
            runner: Arc::new(Hosts::new(self.mode(), self.tmux(servers)?, self.processes())),
            harness_files: Arc::new(self.harness_files()),
            portable,
            earlier: Arc::new(EarlierTree::new(&self.layout, &self.home.dir)),
            github: Arc::new(self.github()?),
            clock: Arc::new(SystemClock),
            instance: ids.instance(),
            ids,
            settings: RwLock::new(Arc::new(self.settings()?)),
            store,
        })
        .with_runs(Arc::new(ProjectRuns::new(self.environment.clone()))))
    }

    /// The client of GitHub, with this process's tokens; asks nobody yet.
    ///
    /// # Errors
    /// An address that no token may go to.
    pub fn github(&self) -> Result<GitHubHttp, BadApiUrl> {
        GitHubHttp::new(&self.config.github, &self.environment, Bounds::default())
    }

    fn portable(&self) -> Arc<dyn PortableFiles> {
        if self.is_view { Arc::new(Nowhere) } else { Arc::new(PortableDir::new(self.layout.portable_dir())) }
    }

    /// How new sessions are hosted.
    pub fn mode(&self) -> Mode {
        hosts::choose(self.config.routing.runner, &self.environment)
    }

    fn processes(&self) -> ProcessConfig {
        let routing = &self.config.routing;
        ProcessConfig {
            starts_dir: self.layout.starts_dir(),
            output_dir: self.layout.command_output_dir(),
            environment: self.environment.clone(),
            pass: routing.environment.pass.clone(),
            most: routing.max_concurrent_dispatches as usize,
        }
    }

    /// The harnesses' files where the sessions look for them: another place counts only when they see the variable too.
    fn harness_files(&self) -> HarnessFolders {
        let passes = |name: &str| self.config.routing.environment.pass.iter().any(|pass| pass == name);
        let place = |name: &str| self.variable(name).filter(|_| passes(name)).map(PathBuf::from);
        HarnessFolders::new(&Homes {
            home: self.variable("HOME").map(PathBuf::from),
            claude: place("CLAUDE_CONFIG_DIR"),
            codex: place("CODEX_HOME"),
        })
    }

    /// How far harnesses are made to trust where they work: sessions in one shared directory have that one as root.
    fn trust(&self) -> Trust {
        let routing = &self.config.routing;
        match (routing.harness_trust.enabled, routing.harness_trust.scope) {
            (false, _) => Trust::Off,
            (true, TrustScope::Directory) => Trust::Directory,
            (true, TrustScope::WorkspaceRoot) => Trust::Root(match routing.workspace.strategy {
                Strategy::Shared => self.home.resolve(&routing.spawn_workdir),
                Strategy::Worktree => self.layout.worktrees_dir(),
                Strategy::Clone => self.workspace_root().unwrap_or_else(|| self.layout.clones_dir()),
            }),
        }
    }

    /// tmux as configured; starts nothing.
    pub fn tmux(&self, known_servers: Vec<KnownServer>) -> Result<Tmux, ComposeError> {
        let routing = &self.config.routing;
        let mut config = TmuxConfig::new(&routing.tmux.socket, self.layout.local_dir(), self.environment.clone());
        config.pass.clone_from(&routing.environment.pass);
        config.known_servers = known_servers;
        Ok(Tmux::new(config)?)
    }

    /// Where the control socket of `store` lies.
    pub fn control_place(&self, store: &Store) -> Place {
        let runtime =
            self.environment.iter().find(|(name, _)| name == "XDG_RUNTIME_DIR").map(|(_, value)| value.as_os_str());
        Place::of(&self.layout, &store.id(), runtime, &std::env::temp_dir())
    }

    /// This machine's user name, for the command line's own words.
    pub fn user(&self) -> Option<String> {
        self.variable("USER").or_else(|| self.variable("LOGNAME"))
    }

    fn variable(&self, name: &str) -> Option<String> {
        let found = self.environment.iter().find(|(key, _)| key == name);
        found.and_then(|(_, value)| value.to_str()).filter(|value| !value.is_empty()).map(str::to_owned)
    }

    /// Sessions find this very configuration, so that a file in a checkout never chooses another store.
    fn session_env(&self) -> Vec<(String, String)> {
        let file = self.file.as_ref().map(|file| file.display().to_string());
        file.map(|file| (CONFIG_VARIABLE.to_owned(), file)).into_iter().collect()
    }

    fn workspace(&self) -> Workspace {
        let routing = &self.config.routing;
        match routing.workspace.strategy {
            Strategy::Shared => Workspace::Shared(self.home.resolve(&routing.spawn_workdir)),
            strategy => Workspace::PerItem(Arc::new(GitWorkspaces::new(WorkspacesConfig {
                clones: strategy == Strategy::Clone,
                home: self.home.dir.clone(),
                root: self.workspace_root(),
                worktrees_dir: self.layout.worktrees_dir(),
                clones_dir: self.layout.clones_dir(),
                protocol: routing.workspace.clone_protocol,
                environment: self.environment.clone(),
                pass: routing.environment.pass.clone(),
            }))),
        }
    }

    /// `routing.workspace.root`.
    fn workspace_root(&self) -> Option<PathBuf> {
        let root = &self.config.routing.workspace.root;
        (!root.is_empty()).then(|| self.home.resolve(root))
    }

    fn template(&self, name: &str, built_in: Template) -> Result<Template, ComposeError> {
        if name.is_empty() {
            return Ok(built_in);
        }
        let path = self.home.resolve(name);
        let text = std::fs::read_to_string(&path)
            .map_err(|source| ComposeError::TemplateFile { path: path.clone(), source })?;
        Template::parse(&text).map_err(|source| ComposeError::Template { path, source })
    }
}

fn harnesses(configured: &BTreeMap<String, HarnessConfig>) -> Result<BTreeMap<String, Harness>, HarnessError> {
    let built_in = Harness::BUILT_IN.iter().filter_map(|name| Harness::built_in(name));
    let mut harnesses: BTreeMap<String, Harness> = built_in.map(|harness| (harness.name.clone(), harness)).collect();
    for (name, config) in configured {
        let own = Harness::command(name, &config.binary, config.new.clone(), config.resume.clone());
        // Another program or other arguments for a known harness are still that harness.
        let known = Harness::built_in(name).unwrap_or_else(|| own.clone());
        let harness = Harness {
            once: known.once,
            says_conversation: known.says_conversation,
            farewell: known.farewell,
            keeps: known.keeps,
            submit_delay_ms: config.submit_delay_ms,
            bracketed_paste: config.bracketed_paste,
            line_by_line: !config.bracketed_paste,
            dialogs: config.dialogs.clone(),
            input_marks: config.input_marks.clone(),
            ..own
        };
        harness.check()?;
        harnesses.insert(name.clone(), harness);
    }
    Ok(harnesses)
}

/// The servers that recorded lives name: none of them is replaced by a second one while it lives, and what lives on
/// them is not gone.
///
/// # Errors
/// What the store says.
pub fn known_servers(tx: &impl View) -> Result<Vec<KnownServer>, StoreError> {
    let (mut servers, mut failed) = (Vec::new(), None);
    // One item at a time: a large store's items are not held in memory together.
    tx.for_each_item(&mut |item| {
        let Some((item, session)) = item.ok().and_then(|item| Some((item.reference.key(), item.session?))) else {
            return ControlFlow::Continue(());
        };
        match tx.endpoints(&item) {
            // `doctor` names it; the others are known all the same.
            Err(StoreError::BadRow { .. }) => note_servers(&mut servers, [&session]),
            Ok(endpoints) => note_servers(&mut servers, endpoints.iter().chain([&session])),
            Err(error) => {
                failed = Some(error);
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    })?;
    failed.map_or(Ok(servers), Err)
}

fn note_servers<'s>(servers: &mut Vec<KnownServer>, sessions: impl IntoIterator<Item = &'s Session>) {
    for life in sessions.into_iter().filter_map(Session::in_terminal) {
        let (socket, pid, started) = (life.socket.clone(), life.server_pid, life.server_started);
        let server = KnownServer { socket, pid, started };
        if !servers.contains(&server) {
            servers.push(server);
        }
    }
}

/// Opens the store as its owner.
pub fn open_store(layout: &StateLayout) -> Result<Store, StoreError> {
    Store::open(Path::new(&layout.store_file()), &RandomIds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::config;
    use crate::domain::harness::Keeps;

    /// What follows from a block of `routing`.
    fn setting(routing: &str) -> Setting {
        let config = config::read(&format!("routing:\n{routing}\n")).unwrap().config;
        let home = Home::of_file(Path::new("/repo/.the-loop/cli-config.yaml"), Some("/user".into()));
        Setting::new(config, home, None, Vec::new())
    }

    #[test]
    fn trust_follows_scope_and_strategy() {
        let trust = |routing: &str| setting(routing).trust();
        assert_eq!(trust("  harnessTrust: {enabled: false}"), Trust::Off);
        assert_eq!(trust("  harnessTrust: {scope: directory}"), Trust::Directory);
        assert_eq!(trust("  runner: tmux"), Trust::Root("/repo/.the-loop/local/worktrees".into()));
        let clones = |more: &str| trust(&format!("  workspace: {{strategy: clone{more}}}"));
        assert_eq!(trust("  workspace: {root: ~/trees}"), Trust::Root("/repo/.the-loop/local/worktrees".into()));
        assert_eq!(clones(", root: ~/trees"), Trust::Root("/user/trees".into()));
        assert_eq!(clones(""), Trust::Root("/repo/.the-loop/local/clones".into()));
        let shared = "  workspace: {strategy: shared, root: ~/trees}\n  spawnWorkdir: app";
        assert_eq!(trust(shared), Trust::Root("/repo/app".into()));
    }

    #[test]
    fn a_known_harness_with_another_program_is_still_that_harness() {
        let harnesses = setting("  harnesses: {claude: {binary: /opt/claude}, mine: {binary: mine, new: [--in]}}");
        let harnesses = harnesses.settings().unwrap().harnesses;
        let (claude, mine) = (&harnesses["claude"], &harnesses["mine"]);
        assert_eq!((claude.binary.as_str(), claude.keeps, mine.keeps), ("/opt/claude", Keeps::Claude, Keeps::Nothing));
        assert_eq!(claude.once, Harness::built_in("claude").unwrap().once);
        assert_eq!(mine.once.as_ref().unwrap().new, ["--in"]);
        assert_eq!(harnesses.len(), 5);
    }
}
