//! What can be resumed, and the report that somebody says yes to, line by line.

use super::super::command::{Actor, Command, apply, start};
use super::super::identity::{Project, RemoteKind};
use super::*;
use crate::domain::time::Time;

const AT: Time = Time::from_millis(1_772_439_330_000);

fn identity(head: &str) -> Identity {
    let (origin, branch) = (Some("https://github.com/octo/hello".to_owned()), Some("main".to_owned()));
    Project { root: "/p".into(), origin, expanded: None, branch, head: Some(head.into()) }.identity()
}

fn run(command: &Command) -> Run {
    let actor = Actor::program("github:octo/hello#1");
    let run = start("build\nit", None, identity("a"), &actor, AT).unwrap();
    apply(&run, command, &identity("a"), &actor, false, AT).unwrap()
}

fn found() -> Reconciliation {
    let (commits, changes) = ((vec!["third".into(), "second".into()], 3), (vec![" M src/x.rs".into()], 1));
    let (leftovers, work_item) = (vec!["x.tmp: superseded".into()], Some(WorkItemState::NotArmed));
    Reconciliation { today: identity("b"), is_ancestor: Some(true), commits, changes, leftovers, work_item }
}

#[test]
fn only_what_is_put_aside_or_interrupted_or_stale_can_be_resumed_and_only_in_its_project() {
    let run = run(&Command::Pause);
    for status in Status::ALL {
        let resumable = |stale| gates(&Run { status, ..run.clone() }, &found(), stale).is_ok();
        let is_aside = matches!(status, Status::Paused | Status::RecoveryRequired);
        assert_eq!(resumable(false), is_aside, "{status}");
        assert_eq!(resumable(true), is_aside || status == Status::Active, "{status}");
    }
    let today = Identity { kind: RemoteKind::Path, ..identity("b") };
    assert!(matches!(gates(&run, &Reconciliation { today, ..found() }, false), Err(Refusal::Identity(_))));
}

#[test]
fn the_report_shows_everything_that_changed_since() {
    let paused = run(&Command::Pause);
    assert_eq!(
        gates(&paused, &found(), false).unwrap().text.lines().collect::<Vec<_>>(),
        [
            format!("Task            {}  build it", paused.task_id).as_str(),
            "State           PAUSED, stage 0 of 8, written 2026-03-02T08:15:30Z",
            "Integrity       VALID",
            "Branch          main, as it was",
            "Head            b, was a",
            "Commits since   3",
            "                third",
            "                second",
            "                and 1 more",
            "Changed files   1",
            "                 M src/x.rs",
            "Left behind     x.tmp: superseded",
            "Work item       github:octo/hello#1, not armed any more",
        ]
    );
    let interrupted = run(&Command::Recover { reason: "killed".into() });
    let strange = Reconciliation { is_ancestor: Some(false), work_item: None, ..found() };
    let text = gates(&interrupted, &strange, true).unwrap().text;
    for line in [
        "Interrupted     in stage 0 of 8: killed\n",
        "Integrity       SUSPECTED_STALE; a resume clears it\n",
        "                the recorded commit is not part of today's history\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
    assert!(!text.contains("Work item"), "{text}");
    let unknown = Reconciliation { is_ancestor: None, ..strange };
    assert!(!gates(&interrupted, &unknown, true).unwrap().text.contains("history"), "where git cannot say");
}

#[test]
fn a_digest_is_of_one_report_and_of_one_generation() {
    let run = run(&Command::Pause);
    let digest = |run: &Run, found: &Reconciliation| gates(run, found, false).unwrap().digest;
    let first = digest(&run, &found());
    assert_eq!((first.len(), &first), (12, &digest(&run, &found())));
    assert_ne!(first, digest(&Run { generation: 3, ..run.clone() }, &found()));
    assert_ne!(first, digest(&run, &Reconciliation { leftovers: Vec::new(), ..found() }));
}

#[test]
fn each_gate_and_each_state_of_a_work_item_has_its_words() {
    let asked = Gate::ALL.map(|gate| gate.about().split(':').next().unwrap_or_default());
    assert_eq!(asked, ["integrity", "identity", "never automatic", "reconciliation", "approval"]);
    use WorkItemState::{Armed, Ended, NotArmed, Unknown};
    let words = [Armed, NotArmed, Ended, Unknown].map(WorkItemState::words);
    assert_eq!(words, ["armed", "not armed any more", "ended", "not known on this machine"]);
}
