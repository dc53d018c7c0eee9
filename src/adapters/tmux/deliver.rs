//! One delivery: one tmux invocation that checks, pastes, checks again and submits.
//!
//! The text goes through an unlinked temporary file, never through an argument (which tmux would parse and every user
//! could read) and never through a pipe (whose writer can die in the middle). Only the key, the batch and the facts
//! of the life are substituted, all of `[a-z0-9%]`. tmux 3.3a crashes with every agent in it when text is pasted into
//! a dead pane, and pressing a key in a dead pane succeeds silently: hence the same condition twice.
//!
//! tmux tells the line a cursor stands in only in copy mode. The pane enters and leaves it within the one run of commands
//! in which the text is pasted: nobody sees it, and nothing that is typed can come between.

use std::process::Stdio;
use std::time::Duration;

use super::Tmux;
use super::panes::{SHELL_MARK, is_pane_id};
use super::server::{Call, Trouble, WhenLate, args};
use crate::adapters::processes;
use crate::domain::harness::check_dialog_pattern;
use crate::domain::harness::shell::{self, Foreground};
use crate::domain::ids::BatchId;
use crate::domain::ports::{DeliverRequest, Delivered, PasteStyle, Refusal};
use crate::domain::session::{Life, PaneKey};

/// A pane as a condition names it: this key, this life; and the delivery it is about.
pub(super) struct Target<'a> {
    key: &'a str,
    life: &'a Life,
    batch: &'a str,
    dialogs: &'a [String],
    input_marks: &'a [String],
    foreground: Foreground,
}

impl<'a> Target<'a> {
    /// Refuses everything that could not stand in a command as it is, before tmux is called.
    pub(super) fn new(
        key: &'a PaneKey,
        life: &'a Life,
        batch: &'a BatchId,
        style: &'a PasteStyle,
    ) -> Result<Self, String> {
        let is_word =
            |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        if !is_word(key.as_str()) || !is_word(batch.as_str()) {
            return Err(format!("key `{}` or batch `{}` is not of a-z and 0-9", key.as_str(), batch.as_str()));
        }
        if !is_pane_id(&life.pane) {
            return Err(format!("`{}` is not a pane id", life.pane));
        }
        let patterns = style.dialogs.iter().chain(&style.input_marks);
        patterns.into_iter().try_for_each(|pattern| check_dialog_pattern(pattern)).map_err(|e| e.to_string())?;
        Ok(Self {
            key: key.as_str(),
            life,
            batch: batch.as_str(),
            dialogs: &style.dialogs,
            input_marks: &style.input_marks,
            foreground: processes::foreground(life.pane_pid),
        })
    }

    /// The pane is the one meant, its program runs and it takes input.
    pub(super) fn own(&self) -> String {
        let Life { pane_pid, server_pid, server_started, .. } = self.life;
        all(&[
            &format!("#{{==:#{{@the-loop-key}},{}}}", self.key),
            &format!("#{{==:#{{pane_pid}},{pane_pid}}}"),
            &format!("#{{==:#{{pid}},{server_pid}}}"),
            &format!("#{{==:#{{start_time}},{server_started}}}"),
            "#{?pane_dead,0,1}",
            "#{?pane_input_off,0,1}",
        ])
    }

    /// An agent is in the foreground, as far as can be told. What is typed at a shell is run by it.
    fn hosts_agent(&self) -> Option<String> {
        let asked_for = format!("#{{==:#{{{SHELL_MARK}}},1}}");
        match self.foreground {
            Foreground::Shell => Some(asked_for),
            // It may end before the text arrives. Braces of the pattern would end the format.
            Foreground::Program => {
                let other = format!("#{{?#{{m/r:{},#{{pane_current_command}}}},0,1}}", shell::pattern());
                Some(format!("#{{||:{asked_for},{other}}}"))
            }
            Foreground::Script | Foreground::Unknown => None,
        }
    }

    /// Whether the cursor stands behind what a person typed; only in copy mode.
    fn typed(&self) -> String {
        let behind = |mark: &String| {
            let width = mark.chars().count();
            format!("#{{&&:#{{==:#{{={width}:#{{copy_cursor_line}}}},{mark}}},#{{e|>|:#{{cursor_x}},{width}}}}}")
        };
        any(&self.input_marks.iter().map(behind).collect::<Vec<_>>())
    }

    /// Keeps on the pane whether a person has half typed a line; nothing where that cannot be seen. Copy mode takes time
    /// where much has scrolled by, so it is entered only when the cursor is not where it is in an empty line.
    fn look_at_input(&self) -> Vec<String> {
        let Some(least) = self.input_marks.iter().map(|mark| mark.chars().count()).min() else { return Vec::new() };
        let (pane, typed, own) = (&self.life.pane, self.typed(), self.own());
        let right = format!("#{{&&:{own},#{{e|>|:#{{cursor_x}},{least}}}}}");
        let look = format!(
            "copy-mode -t {pane} ; set-option -p -F -t {pane} @the-loop-typed '{typed}' ; copy-mode -q -t {pane}"
        );
        let forget = format!("set-option -p -t {pane} @the-loop-typed 0");
        [
            args(&["if-shell", "-F", "-t", pane, &own, &forget, "", ";"]),
            args(&["if-shell", "-F", "-t", pane, &right, &look, "", ";"]),
        ]
        .concat()
    }

    /// [`Self::free`], and nothing half typed in its input.
    fn ready(&self) -> String {
        match self.input_marks.is_empty() {
            true => self.free(),
            false => format!("#{{&&:{},#{{!=:#{{@the-loop-typed}},1}}}}", self.free()),
        }
    }

    /// [`Self::own`], an agent in the foreground, and no dialog on the screen.
    fn free(&self) -> String {
        let mut conditions = vec![self.own()];
        conditions.extend(self.hosts_agent());
        conditions.extend(self.dialogs.iter().map(|pattern| format!("#{{==:#{{C/ri:{pattern}}},0}}")));
        all(&conditions.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Prints what was found instead. `%` is doubled because tmux fills in times when it prints, not when it compares.
    fn refusal(&self, asked: &str) -> String {
        let dialogs: Vec<String> =
            self.dialogs.iter().map(|pattern| format!("#{{C/ri:{}}}", pattern.replace('%', "%%"))).collect();
        format!(
            "display-message -p -t {} 'REFUSED asked={asked} key=#{{@the-loop-key}} pid=#{{pane_pid}} server=#{{pid}} \
             started=#{{start_time}} dead=#{{pane_dead}} off=#{{pane_input_off}} pasted=#{{@the-loop-pasted}} \
             delivered=#{{@the-loop-delivered}} shell={} typed={} dialogs={}'",
            self.life.pane,
            self.hosts_agent().map_or("0".into(), |agent| format!("#{{?{agent},0,1}}")),
            if asked == "paste" && !self.input_marks.is_empty() { "#{@the-loop-typed}" } else { "0" },
            dialogs.join("/")
        )
    }

    /// Leaves copy mode and every other mode, in which keys would be commands; harmless outside one.
    fn leave_modes(&self) -> Vec<String> {
        let pane = &self.life.pane;
        args(&["if-shell", "-F", "-t", pane, &self.own(), &format!("copy-mode -q -t {pane}"), "", ";"])
    }

    /// Enter and the mark, as one list of commands.
    fn enter(&self) -> String {
        let pane = &self.life.pane;
        format!(
            "send-keys -t {pane} Enter ; set-option -p -t {pane} @the-loop-delivered {} ; \
             display-message -p DELIVERED",
            self.batch
        )
    }

    /// The whole delivery.
    fn paste_and_submit(&self, delay_ms: u32) -> Vec<String> {
        let (pane, batch, free, ready) = (&self.life.pane, self.batch, self.free(), self.ready());
        let delay = match delay_ms {
            0 => String::new(),
            ms => format!("run-shell -d {}.{:03} ; ", ms / 1000, ms % 1000),
        };
        let paste = format!(
            "paste-buffer -p -r -d -b tl-{batch} -t {pane} ; \
             set-option -p -t {pane} @the-loop-pasted {batch} ; {delay}\
             if-shell -F -t {pane} '{free}' '{}' 'display-message -p PASTED-ONLY'",
            self.enter()
        );
        let refuse = format!("delete-buffer -b tl-{batch} ; {}", self.refusal("paste"));
        let mut words = args(&["load-buffer", "-b", &format!("tl-{batch}"), "-", ";"]);
        words.extend(self.leave_modes());
        words.extend(self.look_at_input());
        words.extend(args(&["if-shell", "-F", "-t", pane, &ready, &paste, &refuse]));
        words
    }

    /// The submit alone, for a text that was pasted and whose submit is missing.
    fn submit_alone(&self) -> Vec<String> {
        let (pane, batch) = (&self.life.pane, self.batch);
        let condition = all(&[
            &format!("#{{==:#{{@the-loop-pasted}},{batch}}}"),
            &format!("#{{!=:#{{@the-loop-delivered}},{batch}}}"),
            &self.free(),
        ]);
        let mut words = self.leave_modes();
        words.extend(args(&["if-shell", "-F", "-t", pane, &condition, &self.enter(), &self.refusal("submit")]));
        words
    }

    /// What tmux answered.
    fn understand(&self, answer: &str) -> Delivered {
        let line = answer.lines().last().unwrap_or("");
        match line {
            "DELIVERED" => Delivered::Submitted,
            "PASTED-ONLY" => Delivered::PastedOnly,
            _ => match line.strip_prefix("REFUSED ") {
                Some(found) => self.refused(found),
                None => Delivered::Unknown(format!("tmux answered `{line}`")),
            },
        }
    }

    fn refused(&self, found: &str) -> Delivered {
        let value = |name: &str| {
            let fields = found.split(' ').find_map(|field| field.strip_prefix(name)?.strip_prefix('='));
            fields.unwrap_or("")
        };
        let Life { pane_pid, server_pid, server_started, .. } = self.life;
        let is_life = value("key") == self.key
            && value("pid") == pane_pid.to_string()
            && value("server") == server_pid.to_string()
            && value("started") == server_started.to_string();
        if !is_life {
            return Delivered::Refused(Refusal::OtherLife);
        }
        if value("delivered") == self.batch {
            return Delivered::Submitted;
        }
        if value("dead") == "1" {
            return Delivered::Refused(Refusal::Dead);
        }
        if value("shell") == "1" {
            return Delivered::Refused(match self.foreground {
                Foreground::Shell => Refusal::Dead,
                _ => Refusal::Busy("a shell came to the front of the pane".into()),
            });
        }
        if value("off") == "1" {
            return Delivered::Refused(Refusal::Busy("the pane's input is switched off".into()));
        }
        if value("asked") == "submit" && value("pasted") != self.batch {
            return Delivered::NotRun("nothing of this delivery stands in the pane".into());
        }
        let shown = value("dialogs").split('/').position(|line| !matches!(line, "" | "0"));
        Delivered::Refused(Refusal::Busy(match shown.and_then(|at| self.dialogs.get(at)) {
            Some(pattern) => format!("a dialog waits for a person: the screen shows `{pattern}`"),
            None if value("typed") == "1" => "a person has begun a line in its input; it is waited for".into(),
            None => "the pane changed while it was asked".into(),
        }))
    }
}

impl Tmux {
    pub(super) fn deliver_text(&self, request: &DeliverRequest) -> Delivered {
        let target = match target(request) {
            Ok(target) => target,
            Err(reason) => return Delivered::NotRun(reason),
        };
        if let Err(reason) = check_text(&request.text) {
            return Delivered::NotRun(reason);
        }
        let stdin = match processes::unlinked_input(&request.text) {
            Ok(file) => file,
            Err(error) => {
                let dir = std::env::temp_dir();
                return Delivered::NotRun(format!("cannot write the text to a file in {}: {error}", dir.display()));
            }
        };
        let words = target.paste_and_submit(request.style.submit_delay_ms);
        self.send(request, &target, words, stdin)
    }

    pub(super) fn submit_pasted(&self, request: &DeliverRequest) -> Delivered {
        match target(request) {
            Ok(target) => self.send(request, &target, target.submit_alone(), Stdio::null()),
            Err(reason) => Delivered::NotRun(reason),
        }
    }

    fn send(&self, request: &DeliverRequest, target: &Target<'_>, args: Vec<String>, stdin: Stdio) -> Delivered {
        let limit = self.time_limit + Duration::from_millis(request.style.submit_delay_ms.into());
        let socket = &request.life.socket;
        match self.call(Call { socket, args, stdin, limit, late: WhenLate::Leave, may_start: false }) {
            Ok(answer) => target.understand(&answer),
            // With its server the pane is surely gone.
            Err(Trouble::NoServer(_)) => Delivered::Refused(Refusal::OtherLife),
            Err(Trouble::NotAsked(reason)) => Delivered::NotRun(reason),
            // Without its buffer nothing can have been pasted: that command fails and takes the rest with it.
            Err(Trouble::Refused(reason)) if reason.contains("no buffer tl-") => Delivered::NotRun(reason),
            Err(Trouble::NoAnswer(reason) | Trouble::Refused(reason)) => Delivered::Unknown(reason),
        }
    }
}

fn target(request: &DeliverRequest) -> Result<Target<'_>, String> {
    Target::new(&request.key, &request.life, &request.batch, &request.style)
}

/// The text was made safe where it was written; a control byte here would drive the terminal, so it stops here.
fn check_text(text: &str) -> Result<(), String> {
    if text.is_empty() {
        return Err("the text is empty".into());
    }
    match text.bytes().find(|b| b.is_ascii_control() && !matches!(b, b'\n' | b'\t')) {
        Some(byte) => Err(format!("the text holds the control byte 0x{byte:02x}")),
        None => Ok(()),
    }
}

/// Any of the conditions; tmux has only a pairwise "or".
fn any(conditions: &[String]) -> String {
    match conditions {
        [] => "0".into(),
        [last] => last.clone(),
        [first, rest @ ..] => format!("#{{||:{first},{}}}", any(rest)),
    }
}

/// All of the conditions; tmux has only a pairwise "and".
fn all(conditions: &[&str]) -> String {
    match conditions {
        [] => "1".into(),
        [last] => (*last).to_owned(),
        [first, rest @ ..] => format!("#{{&&:{first},{}}}", all(rest)),
    }
}

#[cfg(test)]
mod tests;
