//! What a pane remembers of a delivery whose end nobody saw.
//!
//! The client of a delivery outlives a killed daemon and goes on; only when no client carries the delivery any more
//! do the marks on the pane say how it ended.

use std::path::Path;
use std::time::{Duration, Instant};

use super::Tmux;
use super::deliver::Target;
use super::server::{Trouble, args};
use crate::adapters::processes;
use crate::domain::ids::BatchId;
use crate::domain::ports::{PasteStyle, Remembered, RunnerError};
use crate::domain::session::{Life, PaneKey};

/// What a delivery may take beside the wait between paste and submit, where its client cannot be watched.
const UNWATCHED: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(20);
const MARKS: &str = "#{pid}\t#{start_time}\t#{pane_pid}\t#{@the-loop-key}\t#{@the-loop-delivered}\t#{@the-loop-pasted}";

impl Tmux {
    pub(super) fn recall_batch(
        &self,
        key: &PaneKey,
        life: &Life,
        batch: &BatchId,
        style: &PasteStyle,
    ) -> Result<Remembered, RunnerError> {
        Target::new(key, life, batch, style).map_err(RunnerError::Unreachable)?;
        self.wait_for_clients(batch, Duration::from_millis(style.submit_delay_ms.into()))?;
        match self.ask(&life.socket, args(&["display-message", "-p", "-t", &life.pane, MARKS])) {
            Ok(text) => Ok(remembered(text.trim_end_matches('\n'), key, life, batch)),
            Err(Trouble::NoServer(_)) => Ok(Remembered::OtherLife),
            Err(trouble) => Err(trouble.unreachable()),
        }
    }

    fn wait_for_clients(&self, batch: &BatchId, submit_delay: Duration) -> Result<(), RunnerError> {
        let end = Instant::now() + submit_delay + self.time_limit;
        let program = self.program.file_name().unwrap_or(self.program.as_os_str()).to_string_lossy();
        loop {
            let Some(processes) = processes::own_command_lines() else {
                std::thread::sleep(submit_delay + UNWATCHED);
                return Ok(());
            };
            let Some((pid, _)) = processes.iter().find(|(_, words)| carries(words, &program, batch)) else {
                return Ok(());
            };
            if Instant::now() >= end {
                let name = batch.as_str();
                return Err(RunnerError::Unreachable(format!("process {pid} still carries the delivery {name}")));
            }
            std::thread::sleep(LOOK);
        }
    }
}

/// Whether a command line is that of a tmux client with this delivery, paste or submit alone.
fn carries(words: &[String], program: &str, batch: &BatchId) -> bool {
    let is_tmux = words.first().is_some_and(|word| Path::new(word).file_name().is_some_and(|name| name == program));
    is_tmux && words.iter().any(|word| has_word(word, batch.as_str()))
}

fn has_word(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        ![before, after].into_iter().flatten().any(|c| c.is_ascii_alphanumeric())
    })
}

fn remembered(line: &str, key: &PaneKey, life: &Life, batch: &BatchId) -> Remembered {
    let fields: Vec<&str> = line.split('\t').collect();
    let [server, started, pid, found_key, delivered, pasted] = fields[..] else { return Remembered::OtherLife };
    let is_life = server == life.server_pid.to_string()
        && started == life.server_started.to_string()
        && pid == life.pane_pid.to_string()
        && found_key == key.as_str();
    match (is_life, delivered == batch.as_str(), pasted == batch.as_str()) {
        (false, ..) => Remembered::OtherLife,
        (true, true, _) => Remembered::Submitted,
        (true, false, true) => Remembered::PastedOnly,
        (true, false, false) => Remembered::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn k35_a_client_is_known_by_the_delivery_it_carries() {
        let batch = BatchId::from_hex("b1");
        for carrying in ["tmux -L x load-buffer -b tl-b1 -", "/usr/bin/tmux if-shell -F @the-loop-delivered,b1}"] {
            assert!(carries(&words(carrying), "tmux", &batch), "{carrying}");
        }
        for other in ["tmux load-buffer -b tl-b10 -", "tmux load-buffer -b tl-ab1 -", "vi tl-b1", ""] {
            assert!(!carries(&words(other), "tmux", &batch), "{other}");
        }
    }
}
