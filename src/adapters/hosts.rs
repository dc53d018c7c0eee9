//! Both hosts of harnesses behind one: new sessions go to the chosen one, those that live stay where they are.

use std::ffi::OsString;

use super::environment;
use super::process_runner::{ProcessConfig, ProcessRunner};
use super::tmux::Tmux;
use crate::domain::config;
use crate::domain::harness::Mode;
use crate::domain::ids::BatchId;
use crate::domain::ports::{
    DeliverRequest, Delivered, Pane, PasteStyle, Remembered, Runner, RunnerError, SpawnRequest, TakeOver,
};
use crate::domain::session::{Life, PaneKey};

/// tmux and processes.
#[derive(Debug)]
pub struct Hosts {
    chosen: Mode,
    tmux: Tmux,
    processes: ProcessRunner,
}

/// How new sessions are hosted: `auto` is tmux where the `PATH` of `environment` has it.
pub fn choose(runner: config::Runner, environment: &[(OsString, OsString)]) -> Mode {
    match runner {
        config::Runner::Tmux => Mode::Terminal,
        config::Runner::Process => Mode::Once,
        config::Runner::Auto if environment::can_run("tmux", environment) => Mode::Terminal,
        config::Runner::Auto => Mode::Once,
    }
}

impl Hosts {
    /// New sessions are started in `chosen`.
    pub fn new(chosen: Mode, tmux: Tmux, processes: ProcessConfig) -> Self {
        Self { chosen, tmux, processes: ProcessRunner::new(processes) }
    }

    fn of(&self, life: &Life) -> &dyn Runner {
        if life.is_without_terminal() { &self.processes } else { &self.tmux }
    }
}

impl Runner for Hosts {
    fn mode(&self) -> Mode {
        self.chosen
    }

    fn spawn(&self, request: &SpawnRequest) -> Result<Life, RunnerError> {
        match self.chosen {
            Mode::Terminal => self.tmux.spawn(request),
            Mode::Once => self.processes.spawn(request),
        }
    }

    fn settle_screen(&self, life: &Life, limit_ms: u64) {
        self.of(life).settle_screen(life, limit_ms);
    }

    fn deliver(&self, request: &DeliverRequest) -> Delivered {
        self.of(&request.life).deliver(request)
    }

    fn recall(
        &self,
        key: &PaneKey,
        life: &Life,
        batch: &BatchId,
        style: &PasteStyle,
    ) -> Result<Remembered, RunnerError> {
        self.of(life).recall(key, life, batch, style)
    }

    fn submit(&self, request: &DeliverRequest) -> Delivered {
        self.of(&request.life).submit(request)
    }

    /// Where a new session would be a process, there is no tmux to ask, or none that is wanted.
    fn take_over(&self, request: &TakeOver) -> Result<Option<Life>, RunnerError> {
        match self.chosen {
            Mode::Terminal => self.tmux.take_over(request),
            Mode::Once => Ok(None),
        }
    }

    fn panes(&self) -> Result<Vec<Pane>, RunnerError> {
        match self.chosen {
            Mode::Terminal => self.tmux.panes(),
            Mode::Once => self.processes.panes(),
        }
    }

    fn end(&self, key: &PaneKey, life: &Life, grace_ms: u64, keep_pane: bool) -> Result<(), RunnerError> {
        self.of(life).end(key, life, grace_ms, keep_pane)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_is_tmux_where_it_can_be_run() {
        let dir = tempfile::tempdir().unwrap();
        let environment = vec![("PATH".into(), format!("/nowhere:{}", dir.path().display()).into())];
        assert_eq!(choose(config::Runner::Auto, &environment), Mode::Once);
        std::fs::write(dir.path().join("tmux"), "").unwrap();
        assert_eq!(choose(config::Runner::Auto, &environment), Mode::Once, "it is not executable");
        std::fs::remove_file(dir.path().join("tmux")).unwrap();
        std::os::unix::fs::symlink("/bin/sh", dir.path().join("tmux")).unwrap();
        assert_eq!(choose(config::Runner::Auto, &environment), Mode::Terminal);
        assert_eq!(choose(config::Runner::Process, &environment), Mode::Once);
        assert_eq!(choose(config::Runner::Tmux, &[]), Mode::Terminal);
    }
}
