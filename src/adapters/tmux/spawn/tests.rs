//! What a spawn comes to, and the commands it makes, without a tmux.

use std::path::PathBuf;

use super::*;
use crate::domain::ids::StoreId;
use crate::domain::reference::WorkItemRef;
use crate::domain::session::PaneKey;

fn request() -> SpawnRequest {
    let reference = WorkItemRef::parse("github:octo/hello#7").unwrap();
    SpawnRequest {
        key: PaneKey::new(&StoreId("s1".into()), &reference, &reference),
        store: "s1".into(),
        reference,
        session_name: "loop-7".into(),
        fallback_name: "loop-7-abc".into(),
        cwd: PathBuf::from("/"),
        argv: vec!["cat".into(), "-u".into()],
        env: vec![],
    }
}

fn pane(key: &str, store: &str, reference: &str, session: &str, dead: bool) -> Pane {
    let life = Life {
        socket: String::new(),
        server_pid: 1,
        server_started: 1,
        session: session.into(),
        pane: "%0".into(),
        pane_pid: 2,
    };
    Pane { key: key.into(), store: store.into(), reference: reference.into(), life, dead: dead.then_some(None) }
}

#[test]
fn a_living_pane_with_the_key_is_the_answer_and_a_dead_one_is_used_again() {
    let request = request();
    let key = request.key.as_str();
    let (live, dead) = (pane(key, "s1", "r", "a", false), pane(key, "s1", "r", "b", true));
    assert_eq!(plan(&[dead.clone(), live.clone()], &request), Ok(Plan::Living(live.life)));
    assert_eq!(plan(std::slice::from_ref(&dead), &request), Ok(Plan::Again(dead.life)));
}

#[test]
fn t04_a_taken_name_leads_to_the_other_one() {
    let request = request();
    let names = |panes: &[Pane]| match plan(panes, &request).unwrap() {
        Plan::New(names) => names,
        other => panic!("{other:?}"),
    };
    let stranger = |session| pane("", "", "", session, false);
    assert_eq!(names(&[]), ["loop-7", "loop-7-abc"]);
    assert_eq!(names(&[stranger("loop-70")]), ["loop-7", "loop-7-abc"]);
    assert_eq!(names(&[stranger("loop-7")]), ["loop-7-abc"]);
    assert!(names(&[stranger("loop-7"), stranger("loop-7-abc")]).is_empty());
}

#[test]
fn a_living_session_of_another_store_is_never_spawned_beside() {
    let request = request();
    let other = |dead| pane("kother", "s2", "github:Octo/Hello#7", "x", dead);
    assert!(matches!(plan(&[other(false)], &request), Err(RunnerError::OtherStore { .. })));
    assert!(matches!(plan(&[other(true)], &request), Ok(Plan::New(_))));
    assert!(matches!(plan(&[pane("k", "s1", "github:octo/hello#7", "x", false)], &request), Ok(Plan::New(_))));
    assert!(matches!(plan(&[pane("k", "s2", "github:octo/hello#70", "x", false)], &request), Ok(Plan::New(_))));
}

#[test]
fn t01_arguments_reach_the_program_as_they_are() {
    let argv = |words: &[&str]| program(&args(words)).join(" ");
    assert_eq!(argv(&["claude", "a;", ";"]), "claude a\\; \\;");
    assert_eq!(argv(&["my prog"]), "/bin/sh -c exec \"$0\" my prog");
}

#[test]
fn what_tmux_would_take_for_something_else_is_refused_first() {
    let with = |change: &dyn Fn(&mut SpawnRequest)| {
        let mut request = request();
        change(&mut request);
        check(&request)
    };
    assert_eq!(with(&|_| ()), Ok(()));
    assert!(with(&|request| request.argv.clear()).is_err());
    assert!(with(&|request| request.argv = vec![String::new()]).is_err());
    assert!(with(&|request| request.cwd = PathBuf::from("/no/such/directory")).is_err());
    assert!(with(&|request| request.cwd = PathBuf::from(".")).is_err());
    assert!(with(&|request| request.argv.push("a\0b".into())).is_err());
    for name in ["", "a.b", "a:b", "#{pid}", "a b", "=x"] {
        assert!(with(&|request| request.session_name = name.into()).is_err(), "{name}");
    }
}

#[test]
fn t05_a_new_session_is_marked_by_its_exact_name_and_a_pane_by_its_id() {
    let asked = request();
    let exact = marks((&asked.key, &asked.reference, &asked.store), "=loop-7:").join(" ");
    assert_eq!(exact.matches("-t =loop-7: ").count(), 4);
    let again = respawn(&request(), &pane("k", "s", "r", "loop-7", true).life);
    assert!(!again.contains(&"-k".to_owned()));
    assert!(again.windows(2).filter(|pair| pair[0] == "-t").all(|pair| pair[1] == "%0"));
}
