//! The disk fills under a running daemon, and has room again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::hub::{Answer, reference};
use super::world::{PATIENCE, World};
use crate::support::wait_for;

/// A small file system of its own; gone with the test.
struct Small(PathBuf);

impl Small {
    /// `None` where mounting is not allowed.
    fn mount(at: &Path) -> Option<Self> {
        fs::create_dir_all(at).unwrap();
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=6m", "tmpfs"]).arg(at).output();
        mounted.is_ok_and(|ran| ran.status.success()).then(|| Self(at.to_owned()))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn d06_a_full_disk_is_told_to_the_sender_and_service_resumes_by_itself() {
    let world = World::asleep("  breaker: {deliveries: 0}\n");
    let local = world.path("repo/.the-loop/local");
    let Some(_small) = Small::mount(&local) else {
        eprintln!("skipped: d06: a file system of its own cannot be mounted here");
        return;
    };
    world.start();
    world.arm(&[606]);
    let ballast = local.join("ballast");
    let fill = || {
        use std::io::Write as _;
        let mut file = fs::OpenOptions::new().create(true).append(true).open(&ballast).unwrap();
        while file.write_all(&[7; 4096]).is_ok() {}
    };
    fill();
    let mut accepted = Vec::new();
    let refused = (0..3000).find(|n| {
        let delivery = world.comment(606, &format!("on a full disk {n} {}", "x".repeat(3000)));
        let answer = world.post(&delivery);
        match answer.status {
            202 => accepted.push(*n),
            status => assert_eq!(status, 503, "{}", answer.body),
        }
        status_is_503(&answer)
    });
    assert!(refused.is_some(), "the disk never filled");
    // Looks go on, and the daemon lives.
    assert_eq!(world.run("sessions list").code, Some(0));
    assert_eq!(world.run("status").code, Some(1), "a store that takes no writes makes no progress");
    fs::remove_file(&ballast).unwrap();
    let late = world.comment(606, "there is room again");
    wait_for("service to resume", PATIENCE, || world.post(&late).status == 202);
    world.wait_heard(&reference(606), "there is room again");
    let heard = world.heard(&reference(606));
    for n in accepted {
        let times = heard.lines().filter(|line| line.starts_with(&format!("on a full disk {n} "))).count();
        assert_eq!(times, 1, "comment {n} was answered 202");
    }
    wait_for("all to be well", PATIENCE, || world.run("status").code == Some(0));
    world.stop();
}

fn status_is_503(answer: &Answer) -> bool {
    answer.status == 503
}
