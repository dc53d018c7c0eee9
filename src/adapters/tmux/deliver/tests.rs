//! The commands of a delivery and the meaning of its answers, without a tmux.

use super::*;
use crate::domain::ids::StoreId;
use crate::domain::reference::WorkItemRef;

fn request(dialogs: &[&str], delay: u32) -> DeliverRequest {
    let reference = WorkItemRef::parse("github:octo/hello#15").unwrap();
    DeliverRequest {
        key: PaneKey::new(&StoreId("s".into()), &reference, &reference),
        life: Life {
            socket: "x".into(),
            server_pid: 10,
            server_started: 1_700_000_000,
            session: "loop-15".into(),
            pane: "%3".into(),
            pane_pid: 11,
        },
        batch: BatchId::from_hex("b1"),
        text: "hello".into(),
        style: PasteStyle {
            submit_delay_ms: delay,
            dialogs: dialogs.iter().map(|pattern| (*pattern).to_owned()).collect(),
            input_marks: Vec::new(),
        },
        program: None,
    }
}

#[test]
fn the_text_is_never_an_argument_and_every_target_is_the_pane() {
    let mut request = request(&[], 0);
    request.text = "unmistakable".into();
    let words = target(&request).unwrap().paste_and_submit(0);
    assert!(words.iter().all(|word| !word.contains("unmistakable") && !word.ends_with("};")));
    let line = words.join(" ");
    assert_eq!(line.matches(" -t ").count(), line.matches(" -t %3").count());
    assert_eq!(words[..5], args(&["load-buffer", "-b", "tl-b1", "-", ";"]));
}

#[test]
fn the_delay_is_in_seconds_and_none_is_no_command_at_all() {
    let request = request(&[], 0);
    let target = target(&request).unwrap();
    assert!(!target.paste_and_submit(0).join(" ").contains("run-shell"));
    assert!(target.paste_and_submit(150).join(" ").contains("run-shell -d 0.150 ;"));
    assert!(target.paste_and_submit(2050).join(" ").contains("run-shell -d 2.050 ;"));
}

#[test]
fn k19_the_same_condition_stands_before_the_paste_and_before_the_submit() {
    let request = request(&["proceed", "yes|no"], 150);
    let target = target(&request).unwrap();
    let line = target.paste_and_submit(150).join(" ");
    let free = target.free();
    assert!(free.contains("#{==:#{C/ri:proceed},0}") && free.contains("#{==:#{C/ri:yes|no},0}"));
    // Twice the dialogs: the condition of the paste and, inside it, that of the submit.
    assert_eq!(line.matches(&free).count(), 2);
    assert_eq!(free.matches('{').count(), free.matches('}').count());
}

#[test]
fn a_half_typed_line_is_looked_for_before_the_paste_and_never_before_the_submit() {
    let mut request = request(&["proceed"], 150);
    request.style.input_marks = vec!["│ > ".into(), "❯ ".into()];
    let target = target(&request).unwrap();
    let line = target.paste_and_submit(150).join(" ");
    assert!(line.contains("#{==:#{=4:#{copy_cursor_line}},│ > }") && line.contains("#{e|>|:#{cursor_x},2}"));
    assert_eq!(line.matches("#{!=:#{@the-loop-typed},1}").count(), 1, "what was pasted stands there itself by then");
    assert_eq!(line.matches("#{==:#{C/ri:proceed},0}").count(), 2);
    assert!(!target.submit_alone().join(" ").contains("copy_cursor_line"));
    request.style.input_marks = vec!["a' ; kill-server".into()];
    assert!(super::target(&request).is_err());
}

#[test]
fn a_shell_is_told_from_a_pane_that_changed() {
    let request = request(&[], 0);
    let key = request.key.as_str();
    let found = |foreground: Foreground| {
        let target = Target { foreground, ..target(&request).unwrap() };
        let text = format!("REFUSED key={key} pid=11 server=10 started=1700000000 dead=0 off=0 shell=1 dialogs=");
        (target.hosts_agent().is_some(), target.understand(&text))
    };
    assert_eq!(found(Foreground::Shell), (true, Delivered::Refused(Refusal::Dead)));
    assert!(matches!(found(Foreground::Program), (true, Delivered::Refused(Refusal::Busy(_)))));
    for unclear in [Foreground::Script, Foreground::Unknown] {
        assert!(!found(unclear).0, "{unclear:?}");
    }
}

#[test]
fn nothing_that_could_be_a_command_gets_into_one() {
    let with = |change: &dyn Fn(&mut DeliverRequest)| {
        let mut request = request(&[], 0);
        change(&mut request);
        target(&request).is_err()
    };
    assert!(!with(&|_| ()));
    assert!(with(&|request| request.life.pane = "%3 ; kill-server".into()));
    assert!(with(&|request| request.life.pane = String::new()));
    assert!(with(&|request| request.batch = BatchId::from_hex("")));
    assert!(with(&|request| request.style.dialogs = vec!["a' ; kill-server".into()]));
    assert!(with(&|request| request.key = serde_json::from_str("\"k;x\"").unwrap()));
}

#[test]
fn k29_control_bytes_stop_at_the_door() {
    for good in ["a", "l1\nl2\ttab", "❯ ü", "#{pid} $(x) ; '"] {
        assert_eq!(check_text(good), Ok(()), "{good}");
    }
    for bad in ["", "\u{1b}[201~", "a\r", "\u{7f}", "\0", "\u{3}"] {
        assert!(check_text(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn answers_are_told_apart() {
    let request = request(&["proceed", "sure"], 0);
    let target = target(&request).unwrap();
    let key = request.key.as_str();
    let same = format!("REFUSED key={key} pid=11 server=10 started=1700000000");
    let answer = |text: &str| target.understand(&format!("{text}\n"));
    let busy = |text: &str| match answer(text) {
        Delivered::Refused(Refusal::Busy(reason)) => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(answer("DELIVERED"), Delivered::Submitted);
    assert_eq!(answer("PASTED-ONLY"), Delivered::PastedOnly);
    let other = Delivered::Refused(Refusal::OtherLife);
    assert_eq!(answer("REFUSED key= pid= server=10 started=1700000000 dead= off= dialogs=0/0"), other);
    assert_eq!(answer(&format!("REFUSED key={key} pid=12 server=10 started=1700000000 dead= off=0")), other);
    assert_eq!(answer(&format!("REFUSED key={key} pid=11 server=10 started=1700000001 dead= off=0")), other);
    assert_eq!(answer(&format!("{same} dead=1 off=0 dialogs=0/0")), Delivered::Refused(Refusal::Dead));
    assert!(busy(&format!("{same} dead= off=1 dialogs=0/0")).contains("input"));
    assert!(busy(&format!("{same} dead= off=0 dialogs=0/7")).contains("`sure`"));
    assert!(busy(&format!("{same} dead= off=0 dialogs=0/0")).contains("changed"));
    assert_eq!(answer(&format!("{same} dead= off=0 delivered=b1 dialogs=0/0")), Delivered::Submitted);
    assert!(matches!(answer("what"), Delivered::Unknown(_)));
}
