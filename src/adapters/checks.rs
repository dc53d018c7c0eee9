//! Commands that show something: run at the root of the project, without a shell, to their end or the end of their time.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};

use super::limited::{self, Stopped};
use crate::domain::ports::{Checked, Checks, Limits};
use crate::domain::reference::hex;

/// How much of the end of what was printed is kept, bytes.
const TAIL: u64 = 2048;
/// How much may be printed, bytes: a command that prints for ever is not to fill the disk until its time is over.
const OUTPUT_LIMIT: u64 = 64 << 20;
/// Exit code of a command that ran out of time, or printed too much.
pub(super) const OUT_OF_TIME: i64 = 124;
/// Exit code of a command that could not be run.
pub(super) const NOT_RUN: i64 = 127;

/// Runs commands in a folder.
#[derive(Debug)]
pub struct CheckRunner {
    root: PathBuf,
    output_limit: u64,
}

impl CheckRunner {
    /// In this folder.
    pub const fn new(root: PathBuf) -> Self {
        Self { root, output_limit: OUTPUT_LIMIT }
    }

    fn run_into(&self, argv: &[String], limits: Limits, output: &File) -> io::Result<(i64, Stopped)> {
        let mut child = command(&self.root, argv, output)?.spawn()?;
        let (status, stopped) = limited::run_out(&mut child, output, limits, &AtomicBool::new(false))?;
        let by_itself = stopped == Stopped::ByItself;
        Ok((if by_itself { code(&status) } else { OUT_OF_TIME }, stopped))
    }
}

/// A program in a folder and in a process group of its own, without a shell and without input.
pub(super) fn command(root: &Path, argv: &[String], output: &File) -> io::Result<Command> {
    let (name, arguments) = argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(name);
    command.args(arguments).current_dir(root).process_group(0).stdin(Stdio::null());
    command.stdout(output.try_clone()?).stderr(output.try_clone()?);
    Ok(command)
}

/// The exit code as a shell would say it.
pub(super) fn code(status: &ExitStatus) -> i64 {
    status.code().map_or_else(|| 128 + i64::from(status.signal().unwrap_or(0)), i64::from)
}

impl Checks for CheckRunner {
    fn run(&self, argv: &[String], limit: Duration) -> Checked {
        let begun = Instant::now();
        let ran = tempfile::tempfile().and_then(|output| {
            let limits = Limits { time: limit, output: self.output_limit };
            let (exit_code, stopped) = self.run_into(argv, limits, &output)?;
            let (output_digest, mut output_tail) = read(output)?;
            if stopped == Stopped::TooMuch {
                output_tail += &format!("\n(it printed more than {} bytes)", limits.output);
            }
            Ok((exit_code, output_digest, output_tail))
        });
        let (exit_code, output_digest, output_tail) = ran.unwrap_or_else(|error| {
            let name = argv.first().map_or("", String::as_str);
            (NOT_RUN, hex(&Sha256::digest(b"")), format!("could not run `{name}`: {error}"))
        });
        let duration_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        Checked { exit_code, duration_ms, output_digest, output_tail }
    }
}

/// Digest and end of what was printed.
fn read(mut output: File) -> io::Result<(String, String)> {
    let mut digest = Sha256::new();
    output.seek(SeekFrom::Start(0))?;
    let mut piece = vec![0; 1 << 16];
    let mut length = 0;
    loop {
        match output.read(&mut piece)? {
            0 => break,
            count => {
                digest.update(&piece[..count]);
                length += count as u64;
            }
        }
    }
    output.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut tail = Vec::new();
    output.take(TAIL).read_to_end(&mut tail)?;
    Ok((hex(&digest.finalize()), String::from_utf8_lossy(&tail).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(argv: &[&str], limit: u64) -> Checked {
        let argv: Vec<String> = argv.iter().map(|arg| (*arg).to_owned()).collect();
        CheckRunner::new(std::env::temp_dir()).run(&argv, Duration::from_millis(limit))
    }

    #[test]
    fn the_exit_code_is_the_commands_own_and_no_shell_reads_it() {
        let echoed = ran(&["echo", "$HOME;x"], 10_000);
        assert_eq!((echoed.exit_code, echoed.output_tail.as_str()), (0, "$HOME;x\n"));
        assert_eq!(echoed.output_digest, hex(&Sha256::digest(b"$HOME;x\n")));
        assert_eq!(ran(&["sh", "-c", "exit 3"], 10_000).exit_code, 3);
        assert_eq!(ran(&["sh", "-c", "kill -9 $$"], 10_000).exit_code, 137);
        assert_eq!(ran(&["no-such-program-anywhere"], 10_000).exit_code, NOT_RUN);
        let long = ran(&["sh", "-c", "head -c 5000 /dev/zero | tr '\\0' x"], 10_000);
        assert_eq!(long.output_tail.len() as u64, TAIL);
    }

    #[test]
    fn a_command_over_its_time_is_ended_with_its_children() {
        let late = ran(&["sh", "-c", "sleep 60 & wait"], 100);
        assert_eq!(late.exit_code, OUT_OF_TIME);
        assert!(late.duration_ms < 30_000);
    }
    #[test]
    fn a_command_that_prints_for_ever_is_ended_long_before_its_time() {
        let runner = CheckRunner { root: std::env::temp_dir(), output_limit: 100_000 };
        let loud = runner.run(&["yes".to_owned()], Duration::from_secs(60));
        assert_eq!(loud.exit_code, OUT_OF_TIME);
        assert!(loud.output_tail.ends_with("(it printed more than 100000 bytes)"), "{}", loud.output_tail);
        assert!(loud.duration_ms < 30_000);
        let whole = ["sh", "-c", "head -c 100001 /dev/zero"].map(str::to_owned);
        assert_eq!(
            runner.run(&whole, Duration::from_secs(60)).exit_code,
            OUT_OF_TIME,
            "it had printed it when it ended"
        );
    }

    #[test]
    fn what_a_command_leaves_running_ends_with_it() {
        let left = ran(&["sh", "-c", "sleep 60 & echo $!"], 10_000);
        assert_eq!(left.exit_code, 0);
        let pid: u32 = left.output_tail.trim().parse().unwrap();
        let deadline = Instant::now() + Duration::from_secs(10);
        while super::super::processes::start_time(pid).is_some() {
            assert!(Instant::now() < deadline, "{pid} is still there");
            std::thread::yield_now();
        }
    }
}
