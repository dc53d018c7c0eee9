//! placeholder
use super::wake::Bell;
use crate::app::App;
/// x
pub fn run(_app: &App, bell: &Bell) {
    while bell.sleep(std::time::Duration::from_secs(1)) {}
}
