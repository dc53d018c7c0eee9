//! The dialogs of real harnesses hold a delivery; what agents and people write does not.

use the_loop::domain::harness::Harness;
use the_loop::domain::ports::{Delivered, Refusal, Runner};

use crate::support::tmux::Server;

/// Keeps every byte under what is on the screen.
const SHOWS: &str = r#"cat "$0.screen"; stty raw -echo; printf 'READY\r\n'; exec cat > "$0""#;

/// Harness, and a screen on which Enter would choose something.
const DIALOGS: [(&str, &str); 18] = [
    (
        "claude",
        " Do you trust the files in this folder?\n\n ❯ 1. Yes, proceed\n   2. No, exit\n\n Enter to confirm · Esc to exit\n",
    ),
    ("claude", " Quick safety check: Is this a project you created?\n ❯ 1. Yes, I trust this folder\n   2. No, exit\n"),
    ("claude", " ❯ No, exit\n   Yes, I trust this folder\n"),
    ("claude", "❯ No, exit\n  Stay\n\nEnter to confirm · Esc to cancel\n"),
    ("claude", " Do you want to make this edit to a.rs?\n   1. Yes\n ❯ 2. Yes, allow all edits\n   3. No\n"),
    (
        "claude",
        "│ Do you want to proceed?      │\n│ ❯ 1. Yes                     │\n│   2. No                      │\n",
    ),
    ("claude", " Pick one\n\n Esc to cancel · Tab to amend\n"),
    ("claude", " What do you want to do?\n\n ❯ 1. Upgrade your plan\n   2. Stop and wait for limit to reset\n"),
    ("claude", " Select login method:\n\n   Subscription\n"),
    ("claude", " Choose the text style that looks best with your terminal\n"),
    ("claude", " Security notes:\n\n Press Enter to continue…\n"),
    ("codex", "  Would you like to run the following command?\n\n› 1. Yes, proceed (y)\n"),
    ("codex", "> You are running Codex in /src\n\n› 1. Yes, continue\n  2. No, quit\n"),
    ("codex", "  ✨ Update available!\n\n› 1. Update now\n  2. Skip\n\n  Press enter to continue\n"),
    ("cursor", "│ ⚠ Workspace Trust Required\n│\n│ ▶ [a] Trust this workspace\n"),
    ("cursor", " Run this command?\n  → Run (once) (y) (enter)\n"),
    ("opencode", "┃ △ Permission required\n┃  # Run a command\n"),
    ("opencode", "┃  Allow once   Allow always   Reject\n"),
];

/// Harness, and a screen that waits for a prompt or works.
const ORDINARY: [(&str, &str); 8] = [
    (
        "claude",
        "⏺ I can do that. Do you want to proceed?\n\n  Do you want to proceed?\n\n────\n❯ \n────\n  ? for shortcuts\n",
    ),
    ("claude", "✻ Working… (12s · esc to interrupt)\n  esc to interrupt\n────\n> Try \"fix lint errors\"\n────\n"),
    ("claude", "❯ 1. this is what a person wrote\n\n⏺ Options:\n  1. Yes\n  2. No\n"),
    ("claude", "⏺ I said: press Enter to confirm, Esc to cancel\n❯ \n"),
    ("codex", "• Shall I? 1. Yes, continue 2. No\n\n› Ask Codex to do anything\n"),
    ("codex", "• You would press enter to continue there\n› \n"),
    ("cursor", "  I would run this command\n │ → Add a follow-up\n"),
    ("opencode", "┃  The permission is required there\n┃  Build\n"),
];

fn held(screens: &[(&str, &str)]) -> Vec<bool> {
    let server = Server::new();
    let runner = server.runner();
    let answers = (1..).zip(screens).map(|(number, (name, screen))| {
        std::fs::write(server.path(&format!("out-{number}.screen")), screen).unwrap();
        let agent = server.start(&runner, number, SHOWS);
        let mut delivery = agent.delivery(&format!("b{number}"), "hello");
        delivery.style.dialogs = Harness::built_in(name).unwrap().dialogs;
        match runner.deliver(&delivery) {
            Delivered::Refused(Refusal::Busy(why)) => {
                assert!(why.contains("a dialog waits for a person"), "{why}");
                assert_eq!(agent.received(), b"", "{screen}");
                true
            }
            Delivered::Submitted => false,
            other => panic!("{screen}: {other:?}"),
        }
    });
    answers.collect()
}

#[test]
fn k19_no_enter_answers_a_dialog_of_a_known_harness() {
    let held = held(&DIALOGS);
    let missed: Vec<_> = DIALOGS.iter().zip(held).filter(|(_, held)| !held).map(|(dialog, _)| dialog).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn what_agents_and_people_write_holds_nothing() {
    let held = held(&ORDINARY);
    let wrong: Vec<_> = ORDINARY.iter().zip(held).filter(|(_, held)| *held).map(|(screen, _)| screen).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
