//! Processes of this machine by id and start time: who is alive, who carries which words, and signals to groups.
//!
//! A process id alone is no name: ids are used again. A start time beside it makes it one.

use std::fs;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::process::Stdio;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process, test_kill_process_group};

use crate::domain::harness::shell::Foreground;
use crate::domain::session::Liveness;

/// Ticks of `/proc/<pid>/stat` per second: `USER_HZ`, part of the kernel's interface.
const TICKS_PER_SECOND: i64 = 100;

/// What `/proc/<pid>/stat` says that we need.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stat {
    state: char,
    group: u32,
    /// The group in the foreground of its terminal; `None` without one.
    foreground: Option<u32>,
    start_ticks: u64,
}

impl Stat {
    /// A zombie has ended; only its parent has not asked how. Where nobody ever asks, it stays for good.
    fn runs(&self) -> bool {
        !matches!(self.state, 'Z' | 'X')
    }
}

/// When the process started, in ticks since boot; `None` when none runs (a zombie does not), or without `/proc`.
pub fn start_time(pid: u32) -> Option<u64> {
    stat(pid).filter(Stat::runs).map(|stat| stat.start_ticks)
}

/// When the process started, in seconds since the epoch, to within a second or two.
pub fn started_at(pid: u32) -> Option<i64> {
    let ticks = i64::try_from(start_time(pid)?).ok()?;
    let text = fs::read_to_string("/proc/stat").ok()?;
    let boot = text.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse::<i64>().ok()?;
    Some(boot + ticks / TICKS_PER_SECOND)
}

/// Whether the process that started at `start_ticks` (from [`start_time`]) still runs; a zombie does not.
pub fn is_alive(pid: u32, start_ticks: u64) -> Liveness {
    match stat(pid) {
        Some(stat) if stat.start_ticks == start_ticks && stat.runs() => Liveness::Live,
        Some(_) => Liveness::Dead,
        None if has_proc() => Liveness::Dead,
        None => match raw(pid).map(test_kill_process) {
            Some(Err(Errno::SRCH)) => Liveness::Dead,
            _ => Liveness::Unknown,
        },
    }
}

/// Whether a signal or a tracer holds the process.
pub fn is_stopped(pid: u32) -> bool {
    stat(pid).is_some_and(|stat| matches!(stat.state, 'T' | 't'))
}

/// Makes this process the head of a session of its own: no terminal, and no signal from the one it was started in.
pub fn leave_terminal() {
    // The head of a group cannot; it has no terminal to leave then, or was started by hand.
    let _ = rustix::process::setsid();
}

/// Asks one process to end; false when there is none.
pub fn terminate(pid: u32) -> bool {
    raw(pid).is_some_and(|pid| kill_process(pid, Signal::TERM).is_ok())
}

/// What stands in the foreground of the terminal that the process runs in.
pub fn foreground(pid: u32) -> Foreground {
    let group = stat(pid).filter(Stat::runs).and_then(|stat| stat.foreground);
    let bytes = group.and_then(|group| fs::read(format!("/proc/{group}/cmdline")).ok());
    bytes.map_or(Foreground::Unknown, |bytes| Foreground::of(&words(&bytes)))
}

/// The short name the kernel keeps, as in `ps -o comm`.
pub fn short_name(pid: u32) -> Option<String> {
    fs::read_to_string(format!("/proc/{pid}/comm")).ok().map(|name| name.trim_end().to_owned())
}

/// The value of one variable in the environment the process was started with.
pub fn started_with(pid: u32, name: &str) -> Option<String> {
    let bytes = fs::read(format!("/proc/{pid}/environ")).ok()?;
    words(&bytes).into_iter().find_map(|entry| {
        let (key, value) = entry.split_once('=')?;
        (key == name).then(|| value.to_owned())
    })
}

/// Ids and command lines of all processes of this user; `None` where `/proc` cannot be read.
pub fn own_command_lines() -> Option<Vec<(u32, Vec<String>)>> {
    use std::os::unix::fs::MetadataExt;
    if !has_proc() {
        return None;
    }
    let user = rustix::process::geteuid().as_raw();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").ok()?.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        if entry.metadata().is_ok_and(|meta| meta.uid() == user)
            && let Ok(bytes) = fs::read(entry.path().join("cmdline"))
        {
            found.push((pid, words(&bytes)));
        }
    }
    Some(found)
}

/// Whether some process listens on the local socket of this path, the file itself being there or not.
pub fn listens(path: &str) -> bool {
    const ACCEPTS_CONNECTIONS: u32 = 0x1_0000;
    let Ok(table) = fs::read_to_string("/proc/net/unix") else { return false };
    table.lines().any(|line| {
        let mut fields = line.split_whitespace();
        let flags = fields.nth(3).and_then(|flags| u32::from_str_radix(flags, 16).ok());
        let at = line.find('/').map(|at| &line[at..]);
        at == Some(path) && flags.is_some_and(|flags| flags & ACCEPTS_CONNECTIONS != 0)
    })
}

/// Asks the group led by `leader` to end, stopped members included. A group that is gone is no error.
pub fn terminate_group(leader: u32) {
    signal_group(leader, Signal::TERM);
    // A stopped process takes the first signal only once it goes on.
    signal_group(leader, Signal::CONT);
}

/// Ends the group led by `leader` at once.
pub fn kill_group(leader: u32) {
    signal_group(leader, Signal::KILL);
}

/// Whether the process leads a group of its own.
pub fn leads_group(pid: u32) -> bool {
    stat(pid).is_some_and(|stat| stat.group == pid)
}

/// Whether any process is left in the group led by `leader`, zombies included.
pub fn group_exists(leader: u32) -> bool {
    raw(leader).is_some_and(|pid| test_kill_process_group(pid) != Err(Errno::SRCH))
}

/// Makes `parent` look for children that ended, as the kernel does; harmless when there are none.
pub fn announce_child_end(parent: u32) {
    if let Some(pid) = raw(parent) {
        // A parent that is gone has nothing to look for.
        let _ = kill_process(pid, Signal::CHILD);
    }
}

/// A text as somebody's standard input: a complete file without a name, at its beginning, which no death of ours can cut
/// short.
pub fn unlinked_input(text: &str) -> std::io::Result<Stdio> {
    let mut file = tempfile::tempfile()?;
    file.write_all(text.as_bytes())?;
    file.seek(SeekFrom::Start(0))?;
    Ok(Stdio::from(file))
}

/// Ends one process at once. One that is gone is no error.
pub fn kill(pid: u32) {
    if let Some(pid) = raw(pid) {
        // It may have ended meanwhile, which is what was wanted.
        let _ = kill_process(pid, Signal::KILL);
    }
}

fn signal_group(leader: u32, signal: Signal) {
    if let Some(pid) = raw(leader) {
        // It may have ended meanwhile, which is what was wanted.
        let _ = kill_process_group(pid, signal);
    }
}

/// The id for system calls; 0 and 1 are refused, because as a group they mean "mine" and "everyone".
fn raw(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().filter(|pid| *pid > 1).and_then(Pid::from_raw)
}

fn has_proc() -> bool {
    Path::new("/proc/self/stat").exists()
}

fn stat(pid: u32) -> Option<Stat> {
    parse_stat(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The name in parentheses may hold anything, parentheses and blanks included, so fields count from the last `)`.
fn parse_stat(text: &str) -> Option<Stat> {
    let (_, rest) = text.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let (state, group) = (fields.first()?.chars().next()?, fields.get(2)?.parse().ok()?);
    // `-1` where there is no terminal.
    let foreground = fields.get(5)?.parse().ok();
    Some(Stat { state, group, foreground, start_ticks: fields.get(19)?.parse().ok()? })
}

fn words(bytes: &[u8]) -> Vec<String> {
    let text = bytes.strip_suffix(b"\0").unwrap_or(bytes);
    text.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let tail = "R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20";
        let stat = parse_stat(&format!("77 (a) b (c) {tail}")).unwrap();
        assert_eq!(stat, Stat { state: 'R', group: 2, foreground: Some(5), start_ticks: 4242 });
        assert!(stat.runs());
        assert!(!parse_stat(&format!("77 (x) Z{}", &tail[1..])).unwrap().runs());
        assert_eq!(parse_stat("77 (x"), None);
    }

    #[test]
    fn k61_a_recycled_id_is_another_process_and_groups_zero_and_one_are_never_signalled() {
        let me = std::process::id();
        let start = start_time(me).unwrap();
        assert_eq!(is_alive(me, start), Liveness::Live);
        assert_eq!(is_alive(me, start + 1), Liveness::Dead);
        assert_eq!((raw(0), raw(1), raw(u32::MAX)), (None, None, None));
    }

    #[test]
    fn own_processes_are_found_with_their_words() {
        let me = std::process::id();
        let mine = own_command_lines().unwrap();
        let (_, line) = mine.iter().find(|(pid, _)| *pid == me).unwrap();
        assert!(!line[0].is_empty());
        assert!(started_at(me).is_some());
        assert!(!listens("/nowhere/at/all"));
    }
}
