//! From a command's configuration to the parts of the product: the store as owner or as reader, the app over it.

use std::sync::Arc;

use crate::adapters::owner_file::{self, Owner};
use crate::app::portable::PortableError;
use crate::app::progress::{Progress, Unheard};
use crate::app::request::{Order, Response, Trouble, TroubleKind};
use crate::daemon::compose::{ComposeError, Setting};
use crate::daemon::control::wire::PROGRAM;
use crate::daemon::run::StartError;
use crate::store::{Reader, StoreError};

use super::ask;
use super::context::{Context, Setup};
use super::exit::{Failure, Kind};

/// The setting of this run.
pub(super) fn setting(context: &Context) -> Result<Setting, Failure> {
    let setup = context.setup()?;
    Ok(Setting::new(setup.config, setup.home, setup.file, std::env::vars_os().collect()))
}

/// The same for commands that speak to a running daemon: beside a configuration that cannot be used, the daemon is still
/// found at the root that can be read in it, else at the default one. It goes on with what it read before.
pub(super) fn setting_of_running(context: &Context) -> Result<Setting, Failure> {
    let failure = match setting(context) {
        Err(failure) if failure.kind == Kind::Configuration => failure,
        other => return other,
    };
    let Some(setting) = readable_part(context) else { return Err(failure) };
    match owner(&setting) {
        Some(_) => {
            context.out.note(&format!("{}; a running daemon goes on with what it read before", failure.message));
            Ok(setting)
        }
        None => Err(failure),
    }
}

/// Where things lie by a configuration that cannot be used, as far as it can be read.
pub(super) fn readable_part(context: &Context) -> Option<Setting> {
    let Setup { config, file, home } = context.readable_part()?;
    Some(Setting::new(config, home, file, std::env::vars_os().collect()))
}

/// The store for looking, beside whoever owns it; `None` when there is none yet.
pub(super) fn reader(setting: &Setting) -> Result<Option<Reader>, Failure> {
    match Reader::open(&setting.layout.store_file()) {
        Ok(reader) => Ok(Some(reader)),
        Err(StoreError::Missing) => Ok(None),
        Err(error) => Err(store_failure(setting, error)),
    }
}

/// Has an order carried out by the owner of the store: by this command itself while nobody owns it.
pub(super) fn order(setting: &Setting, order: &Order) -> Result<Response, Failure> {
    order_heard(setting, order, Arc::new(Unheard))
}

/// The same with somebody who hears how far it is.
pub(super) fn order_heard(setting: &Setting, order: &Order, heard: Arc<dyn Progress>) -> Result<Response, Failure> {
    ask::order(setting, order, heard).map(|(response, _)| response)
}

/// The living owner of the store, as it says itself: in its file or, when that is gone, over its socket.
pub(super) fn owner(setting: &Setting) -> Option<Owner> {
    let layout = &setting.layout;
    let written = owner_file::read(&layout.owner_file()).is_some();
    match owner_file::living(&layout.owner_file(), &layout.store_file()) {
        None if !written => ask::listening(&layout.control_socket()),
        found => found,
    }
}

/// A store's error with its owner's name.
pub(super) fn store_failure(setting: &Setting, error: StoreError) -> Failure {
    let Some(owner) = owner(setting) else { return error.into() };
    let Owner { pid, kind, version, .. } = &owner;
    match error {
        StoreError::Busy if owner.is_stopped() => ask::stopped(&owner),
        StoreError::Busy => {
            let text = format!("the store is owned by the {kind} with pid {pid} (version {version})");
            let shown = if kind == "daemon" { "; `the-loop status` shows it" } else { "" };
            Failure::new(Kind::StoreBusy, text).hint(format!("wait for its end and try again{shown}"))
        }
        error @ (StoreError::Older { .. } | StoreError::Newer { .. }) if version.as_str() != PROGRAM => {
            let text =
                format!("the {kind} with pid {pid} is version {version}, this program is version {PROGRAM}: {error}");
            Failure::new(Kind::OtherVersion, text).hint("use its version, or let this one take its place by a restart")
        }
        error => error.into(),
    }
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        let kind = match trouble.kind {
            TroubleKind::Refused => Kind::Refused,
            TroubleKind::Outside => Kind::Outside,
            TroubleKind::StoreBusy => Kind::StoreBusy,
            TroubleKind::StoreDamaged => Kind::StoreDamaged,
            TroubleKind::StoreVersion => Kind::StoreVersion,
            TroubleKind::Bug => Kind::Bug,
        };
        Self { hint: trouble.hint, ..Self::new(kind, trouble.message) }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Trouble::from(error).into()
    }
}

impl From<PortableError> for Failure {
    fn from(error: PortableError) -> Self {
        Trouble::from(error).into()
    }
}

impl From<ComposeError> for Failure {
    fn from(error: ComposeError) -> Self {
        match error {
            ComposeError::Store(error) => error.into(),
            ComposeError::Secret(error) => error.into(),
            other => Self::new(Kind::Configuration, other.to_string()),
        }
    }
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Self {
        let text = error.to_string();
        match error {
            StartError::Compose(error) => error.into(),
            StartError::Owned { .. } => {
                Self::new(Kind::StoreBusy, text).hint("one daemon serves one store; `the-loop status` shows it")
            }
            StartError::Gone(_) => Self::new(Kind::StoreGone, text).hint(
                "put the file back and start again; a start without it begins a new store, which knows no session that runs",
            ),
            StartError::Gate(_) => Self::new(Kind::Refused, text).hint(
                "put the webhook's secret into the variable that `webhooks.ghWebhook.secretEnv` names, or into `secretFile`",
            ),
            StartError::Listen { .. } => {
                Self::new(Kind::Outside, text).hint("another program may listen there; choose another `webhooks.ghWebhook.port`")
            }
            StartError::Host(_) | StartError::Path(_) => Self::new(Kind::Configuration, text),
            StartError::Control(_) | StartError::OwnerFile(_) | StartError::System(_) => Self::new(Kind::Outside, text),
        }
    }
}
