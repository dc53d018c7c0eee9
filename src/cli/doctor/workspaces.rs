//! Directories of work items: half made, or left by what ended.

use crate::app::doctor;
use crate::app::settings::Workspace;
use crate::daemon::compose::Setting;
use crate::domain::findings::Finding;
use crate::domain::findings::workspaces::{self as judged, Standing};
use crate::domain::workspace::{Checkout, CheckoutState};
use crate::store::Reader;

pub(super) fn look(setting: &Setting) -> Vec<Finding> {
    // A configuration that cannot be put to work is told by its own part.
    let Ok(settings) = setting.settings() else { return Vec::new() };
    let Workspace::PerItem(workspaces) = &settings.workspace else { return Vec::new() };
    let found = workspaces.checkouts();
    // A store that cannot be read is told by its own part; without it nobody knows what ended.
    let reader = Reader::open(&setting.layout.store_file()).ok();
    let finding = |checkout: &Checkout| {
        let standing = match (&checkout.state, &reader) {
            (CheckoutState::Ready(item), Some(reader)) => reader.read(|tx| doctor::standing(tx, item)).ok()?,
            (CheckoutState::Ready(_), None) => return None,
            _ => Standing::Unknown,
        };
        let keeps = match (&checkout.state, standing) {
            (CheckoutState::Ready(_), Standing::Ended | Standing::Unknown) => workspaces.keeps(&checkout.path),
            _ => Ok(None),
        };
        judged::checkout(checkout, standing, keeps.map_err(|error| error.to_string()))
    };
    let mut findings: Vec<Finding> = found.iter().filter_map(finding).collect();
    if findings.is_empty() && !found.is_empty() {
        findings.push(judged::sound(found.len()));
    }
    findings
}
