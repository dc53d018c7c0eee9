//! From a command's configuration to the parts of the product: the store as owner or as reader, the app over it.

use crate::adapters::owner_file::{self, Owner};
use crate::app::App;
use crate::app::portable::PortableError;
use crate::daemon::compose::{ComposeError, Setting, open_store};
use crate::daemon::run::StartError;
use crate::domain::session::Liveness;
use crate::store::{Reader, Store, StoreError};

use super::context::Context;
use super::exit::{Failure, Kind};

/// The setting of this run.
pub(super) fn setting(context: &Context) -> Result<Setting, Failure> {
    let setup = context.setup()?;
    Ok(Setting::new(setup.config, setup.home, setup.file, std::env::vars_os().collect()))
}

/// The store for looking, beside whoever owns it; `None` when there is none yet.
pub(super) fn reader(setting: &Setting) -> Result<Option<Reader>, Failure> {
    match Reader::open(&setting.layout.store_file()) {
        Ok(reader) => Ok(Some(reader)),
        Err(StoreError::Missing) => Ok(None),
        Err(error) => Err(store_failure(setting, error)),
    }
}

/// The product over the store, owned by this command.
pub(super) fn owned(setting: &Setting) -> Result<(Store, App), Failure> {
    let store = owned_store(setting)?;
    let app = setting.app(store.clone())?;
    Ok((store, app))
}

/// The store, owned by this command; the owner is named when it is somebody else.
pub(super) fn owned_store(setting: &Setting) -> Result<Store, Failure> {
    open_store(&setting.layout).map_err(|error| store_failure(setting, error))
}

/// The living owner of the store, as it says itself.
pub(super) fn owner(setting: &Setting) -> Option<Owner> {
    owner_file::read(&setting.layout.owner_file()).filter(|owner| owner.liveness() == Liveness::Live)
}

/// A store's error with its owner's name.
pub(super) fn store_failure(setting: &Setting, error: StoreError) -> Failure {
    match (error, owner(setting)) {
        (StoreError::Busy, Some(owner)) => {
            let Owner { pid, kind, version, .. } = owner;
            Failure::new(
                Kind::StoreBusy,
                format!("the store is owned by the {kind} with pid {pid} (version {version})"),
            )
            .hint("say the word on the ticket, or stop the daemon first; this version cannot ask it yet")
        }
        (error, _) => error.into(),
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let kind = match &error {
            StoreError::Busy | StoreError::Overloaded | StoreError::Closed => Kind::StoreBusy,
            StoreError::Newer { .. } | StoreError::Older { .. } | StoreError::FormatUpgrade(_) => Kind::StoreVersion,
            StoreError::Foreign(_) | StoreError::Damaged(_) | StoreError::BadRow { .. } => Kind::StoreDamaged,
            StoreError::Missing | StoreError::Io { .. } => Kind::Outside,
            StoreError::Bug(_) => Kind::Bug,
        };
        Self::new(kind, error.to_string())
    }
}

impl From<PortableError> for Failure {
    fn from(error: PortableError) -> Self {
        match error {
            PortableError::Store(error) => error.into(),
            PortableError::Files(error) => Self::new(Kind::Outside, error.to_string()),
        }
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
            StartError::Gate(_) => Self::new(Kind::Refused, text).hint(
                "put the webhook's secret into the variable that `webhooks.ghWebhook.secretEnv` names, or into `secretFile`",
            ),
            StartError::Listen { .. } => {
                Self::new(Kind::Outside, text).hint("another program may listen there; choose another `webhooks.ghWebhook.port`")
            }
            StartError::Host(_) | StartError::Path(_) => Self::new(Kind::Configuration, text),
            StartError::Log(_) | StartError::OwnerFile(_) | StartError::System(_) => Self::new(Kind::Outside, text),
        }
    }
}
