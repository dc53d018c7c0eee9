//! Every command in every state, who may give it, and what survives.

use proptest::prelude::*;

use super::super::identity::{Project, RemoteKind};
use super::*;

fn at(seconds: i64) -> Time {
    Time::from_millis(1_772_439_330_000 + seconds * 1000)
}

fn identity(head: &str) -> Identity {
    let project = Project {
        root: "/p".into(),
        origin: Some("https://github.com/octo/hello".into()),
        expanded: None,
        branch: Some("main".into()),
        head: Some(head.into()),
    };
    project.identity()
}

fn run() -> Run {
    start("build it", None, identity("a"), &Actor::default(), at(0)).unwrap()
}

fn commands() -> Vec<Command> {
    let reason = || "because".to_owned();
    vec![
        Command::Checkpoint { stage: Stage::new(3), note: Some("n".into()), settings: BTreeMap::new() },
        Command::Pause,
        Command::Block { reason: reason() },
        Command::Unblock,
        Command::Recover { reason: reason() },
        Command::Resume,
        Command::Complete,
        Command::Cancel { reason: reason() },
    ]
}

fn plain(run: &Run, command: &Command) -> Result<Run, Refusal> {
    apply(run, command, &identity("b"), &Actor::default(), false, at(5))
}

#[test]
fn invalid_transitions_are_errors_and_never_silent() {
    let mut allowed = Vec::new();
    for from in Status::ALL {
        let run = Run { status: from, ..run() };
        for command in commands() {
            match plain(&run, &command) {
                Ok(next) => {
                    assert!(next.status == from || is_transition(from, next.status), "{from} {}", command.verb());
                    allowed.push(format!("{from} {} {}", command.verb(), next.status));
                }
                Err(refusal) => {
                    assert_eq!(
                        refusal,
                        Refusal::Transition { verb: command.verb(), from },
                        "{from} {}",
                        command.verb()
                    );
                }
            }
        }
    }
    assert_eq!(allowed.len(), 15, "the checkpoint and fourteen transitions: {allowed:#?}");
}

#[test]
fn a_run_for_nothing_is_not_begun() {
    let begun = |objective: &str| start(objective, None, identity("a"), &Actor::default(), at(0));
    for objective in ["", " ", "\n\t\u{a0}"] {
        assert_eq!(begun(objective), Err(Refusal::Empty("the objective")), "{objective:?}");
    }
    assert_eq!(begun(" x ").unwrap().objective, " x ");
}

#[test]
fn each_write_is_a_generation_with_the_project_of_the_day() {
    let next = plain(&run(), &Command::Pause).unwrap();
    assert_eq!((next.generation, next.updated_at, next.identity.head.as_deref()), (2, at(5), Some("b")));
    assert_eq!((next.task_id.clone(), next.created_at, next.stage), (run().task_id, at(0), run().stage));
    let back = apply(&next, &Command::Resume, &identity("b"), &Actor::default(), false, at(-100)).unwrap();
    assert_eq!(back.updated_at, at(5), "a clock that went back makes nothing older");
}

#[test]
fn identity_mismatch_is_refused_for_every_command() {
    let elsewhere = Identity { kind: RemoteKind::Path, ..identity("a") };
    for command in commands() {
        let refused = apply(&run(), &command, &elsewhere, &Actor::default(), false, at(1));
        assert!(matches!(refused, Err(Refusal::Identity(_))), "{}", command.verb());
    }
}

#[test]
fn stale_integrity_is_persisted_forbids_completion_and_only_a_resume_clears_it() {
    let stale = apply(&run(), &Command::Pause, &identity("b"), &Actor::default(), true, at(1)).unwrap();
    assert_eq!(stale.integrity, Integrity::SuspectedStale);
    let active = Run { status: Status::Active, ..stale.clone() };
    for command in commands() {
        match plain(&active, &command) {
            Ok(next) if command == Command::Resume => assert_eq!(next.integrity, Integrity::Valid),
            Ok(next) => assert_eq!(next.integrity, Integrity::SuspectedStale, "{}", command.verb()),
            Err(Refusal::Stale) => assert_eq!(command, Command::Complete),
            Err(_) => assert_eq!(command, Command::Unblock),
        }
    }
    assert!(plain(&run(), &Command::Resume).is_err(), "an active run that is not stale has nothing to resume");
    assert_eq!(plain(&stale, &Command::Resume).unwrap().integrity, Integrity::Valid);
}

#[test]
fn a_run_is_its_work_items_and_its_endpoints() {
    let actor = |item: &str, endpoint: &str, owner_ended| Actor {
        work_item: Some(item.into()),
        endpoint: Some(endpoint.into()),
        owner_ended,
        is_program: false,
    };
    let own = actor("github:o/r#1", "github:o/r#1", false);
    let run = start("x", None, identity("a"), &own, at(0)).unwrap();
    let tried = |actor: &Actor, command: &Command| apply(&run, command, &identity("a"), actor, false, at(1));
    let pull_request = |ended| actor("github:o/r#1", "github:o/r#2", ended);
    let checkpoint = commands().remove(0);
    for command in commands().into_iter().filter(|command| plain(&run, command).is_ok()) {
        assert!(tried(&own, &command).is_ok(), "{}", command.verb());
        assert!(tried(&Actor::default(), &command).is_ok(), "a person may: {}", command.verb());
        let other = tried(&actor("github:o/r#9", "github:o/r#9", true), &command);
        assert_eq!(other, Err(Refusal::OtherItem { owner: "github:o/r#1".into() }), "{}", command.verb());
        let beside = tried(&pull_request(false), &command);
        assert_eq!(beside.is_ok(), command == checkpoint, "{}", command.verb());
        let after = tried(&pull_request(true), &command);
        let may = matches!(command, Command::Checkpoint { .. } | Command::Cancel { .. });
        assert_eq!(after.is_ok(), may, "{}", command.verb());
    }
    let wrote = tried(&pull_request(false), &checkpoint).unwrap();
    assert_eq!(wrote.last_endpoint.as_deref(), Some("github:o/r#2"));
    assert_eq!(wrote.endpoint.as_deref(), Some("github:o/r#1"));
}

#[test]
fn an_interruption_keeps_its_stage_and_an_ending_its_reason() {
    let stage = Stage::new(6);
    let at_six = plain(&run(), &Command::Checkpoint { stage, note: None, settings: BTreeMap::new() }).unwrap();
    let broken = plain(&at_six, &Command::Recover { reason: "killed".into() }).unwrap();
    assert_eq!(broken.recovery.as_ref().map(|recovery| recovery.interrupted_stage), stage);
    let resumed = plain(&broken, &Command::Resume).unwrap();
    assert_eq!((Some(resumed.stage), resumed.recovery), (stage, None));
    assert_eq!(plain(&at_six, &Command::Cancel { reason: "no".into() }).unwrap().stop_reason.as_deref(), Some("no"));
    assert_eq!(plain(&at_six, &Command::Cancel { reason: " ".into() }), Err(Refusal::Empty("the reason")));
    let blocked = plain(&at_six, &Command::Block { reason: "key".into() }).unwrap();
    assert_eq!(blocked.blockers.len(), 1);
    assert!(plain(&blocked, &Command::Unblock).unwrap().blockers.is_empty());
}

#[test]
fn a_checkpoint_keeps_what_it_does_not_name_and_an_empty_note_takes_the_note_away() {
    let checkpoint = |run: &Run, note: Option<&str>, setting: &str| {
        let settings = BTreeMap::from([("depth".to_owned(), Setting::typed(setting))]);
        let command = Command::Checkpoint { stage: None, note: note.map(str::to_owned), settings };
        plain(run, &command).unwrap()
    };
    let first = checkpoint(&plain(&run(), &commands()[0]).unwrap(), Some("half"), "1");
    assert_eq!((Some(first.stage), first.stage_note.as_deref()), (Stage::new(3), Some("half")));
    let second = checkpoint(&first, None, "2");
    assert_eq!((second.stage, second.stage_note.as_deref()), (first.stage, Some("half")));
    assert_eq!(second.settings["depth"], Setting::Number(2.into()));
    assert_eq!(checkpoint(&second, Some(""), "2").stage_note, None);
}

#[test]
fn each_command_has_its_verb_and_each_refusal_its_words() {
    let verbs: Vec<&str> = commands().iter().map(Command::verb).collect();
    assert_eq!(verbs, ["checkpoint", "pause", "block", "unblock", "recover", "resume", "complete", "cancel"]);
    let owner = || "github:o/r#1".to_owned();
    for (refusal, words) in [
        (
            Refusal::Transition { verb: "unblock", from: Status::Paused },
            "`unblock` does not apply to a run that is PAUSED; from there it can become ACTIVE, RECOVERY_REQUIRED, \
             BLOCKED, CANCELLED",
        ),
        (
            Refusal::Transition { verb: "pause", from: Status::Completed },
            "`pause` does not apply to a run that is COMPLETED",
        ),
        (Refusal::OtherItem { owner: owner() }, "the run belongs to `github:o/r#1`"),
        (
            Refusal::OtherEndpoint { owner: owner(), verb: "pause" },
            "`pause` is for `github:o/r#1`, whose run this is and which has not ended",
        ),
        (Refusal::Stale, "the record is suspected to be stale (SUSPECTED_STALE)"),
        (Refusal::Empty("the reason"), "the reason is empty"),
    ] {
        assert_eq!(refusal.to_string(), words);
    }
}

#[test]
fn whoever_may_speak_has_a_name_and_is_of_the_project_and_the_work_item() {
    let endpoint = |item: &str| Actor { endpoint: Some(item.into()), ..Actor::program(item) };
    let program = Actor::program("github:o/r#1");
    let (person, agent) = (Actor::default(), endpoint("github:o/r#1"));
    assert_eq!([&person, &program, &agent].map(Actor::name), ["person", "the-loop", "github:o/r#1"]);
    let run = start("x", None, identity("a"), &program, at(0)).unwrap();
    assert_eq!((run.work_item.as_deref(), run.last_endpoint.as_deref()), (Some("github:o/r#1"), Some("the-loop")));
    let elsewhere = Identity { kind: RemoteKind::Path, ..identity("a") };
    for (today, actor, may) in [
        (identity("b"), &program, true),
        (identity("b"), &endpoint("GitHub:O/R#1"), true),
        (identity("b"), &endpoint("github:o/r#9"), false),
        (elsewhere, &program, false),
    ] {
        assert_eq!(check_speaker(&run, &today, actor).is_ok(), may, "{actor:?}");
    }
}

proptest! {
    #[test]
    fn any_commands_in_any_order_keep_what_a_run_is(steps in prop::collection::vec((0..8_usize, any::<bool>(), -5..50_i64), 0..20)) {
        let mut run = run();
        for (which, stale, seconds) in steps {
            let command = &commands()[which];
            let Ok(next) = apply(&run, command, &identity("c"), &Actor::default(), stale, at(seconds)) else { continue };
            prop_assert_eq!(next.generation, run.generation + 1);
            prop_assert!(!run.status.is_terminal());
            prop_assert!(next.updated_at >= run.updated_at);
            prop_assert!(next.status != Status::Completed || next.integrity == Integrity::Valid);
            let file = super::super::shape::render(&next);
            prop_assert_eq!(super::super::shape::parse(file.as_bytes()), Ok(next.clone()));
            run = next;
        }
    }
}
