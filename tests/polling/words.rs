//! Control words, trust and endings as lists show them (faults K20 to K25, K31, K36, K41).

use rstest::rstest;
use the_loop::domain::event::marker::MARKER;
use the_loop::domain::policy::SpawnPolicy;

use crate::world::{LABEL, Machine, REPO};

/// What happens to a comment after it was said.
type Change = fn(&Machine, u64);

#[rstest]
#[case::edited(|machine: &Machine, id: u64| machine.github().edit_comment(REPO, id, "mona", "the-loop stop"))]
#[case::edited_and_still_the_word(|machine: &Machine, id: u64| machine.github().edit_comment(REPO, id, "mona", "the-loop stop\n!"))]
#[case::deleted(|machine: &Machine, id: u64| machine.github().delete_comment(REPO, id, "mona"))]
fn k20_a_comment_that_is_edited_or_deleted_runs_nothing(#[case] change: Change) {
    let machine = Machine::new();
    let issue = machine.running();
    let heard = machine.says(issue, "mona", "hello there");
    let unheard = machine.says(issue, "mona", "never mind");
    machine.later(1);
    change(&machine, unheard);
    machine.next();
    machine.later(1);
    change(&machine, heard);
    machine.next();
    machine.next();
    assert!(machine.lives(issue), "nobody said stop");
    assert_eq!(machine.heard("hello there").len(), 1);
    assert_eq!(machine.heard("never mind").len(), 0);
}

#[test]
fn k21_of_old_words_the_newest_acts_once_and_a_restart_runs_none_again() {
    let machine = Machine::new();
    let (started, stopped) = (machine.issue(), machine.issue());
    for word in ["the-loop stop", "the-loop start"] {
        machine.says(started, "mona", word);
    }
    for word in ["the-loop start", "the-loop stop"] {
        machine.says(stopped, "mona", word);
    }
    machine.says(started, "eve", "the-loop stop");
    machine.says(started, "mona", "an old remark");
    machine.next();
    assert!(machine.lives(started) && !machine.lives(stopped));
    let machine = machine.restarted();
    machine.next();
    machine.next();
    assert!(machine.lives(started) && machine.heard("an old remark").is_empty());
    assert_eq!(machine.terminal.started(), [format!("#{started}")]);
    assert!(machine.terminal.ended().is_empty());
}

#[test]
fn k21_an_old_stop_does_not_end_what_a_webhook_started_since() {
    let machine = Machine::new();
    let issue = machine.issue();
    machine.says(issue, "mona", "the-loop stop");
    machine.lose_webhooks();
    machine.says(issue, "mona", "the-loop start");
    machine.deliver_webhooks();
    assert!(machine.lives(issue));
    machine.next();
    let machine = machine.restarted();
    machine.next();
    assert!(machine.lives(issue) && machine.terminal.ended().is_empty());
}

#[test]
fn k21_old_words_that_cannot_be_read_in_the_first_cycle_are_read_later() {
    let machine = Machine::new();
    let issues: Vec<u64> = (0..3).map(|_| machine.issue()).collect();
    issues.iter().for_each(|issue| machine.adds(*issue, "the-loop start"));
    machine.later(1);
    let thread = format!("/repos/{REPO}/issues/{}/comments", issues[0]);
    machine.github().fail_next(
        1,
        move |asked| asked.path() == thread,
        crate::fake_github::Fault::SecondaryLimit(Some(60)),
    );
    machine.next();
    assert!(machine.terminal.started().is_empty(), "the host asked us to wait");
    machine.later(100);
    machine.cycle();
    assert_eq!(machine.terminal.started().len(), 3);
}

#[rstest]
#[case::stop(|machine: &Machine, issue: u64| {
    machine.later(1);
    machine.adds(issue, "the-loop stop");
})]
#[case::close(|machine: &Machine, issue: u64| {
    machine.later(1);
    machine.github().close(REPO, issue, "mona");
})]
fn k22_a_stop_or_a_close_polled_during_a_start_ends_what_it_brings(#[case] change: fn(&Machine, u64)) {
    let machine = Machine::new();
    let issue = machine.issue();
    machine.next();
    machine.says(issue, "mona", "the-loop start\nbegin with this");
    // What the start hears while it runs is polled by the same product.
    let (app, beside) = (machine.app.clone(), machine.beside());
    machine.terminal.during_the_next_spawn(move || {
        change(&beside, issue);
        app.poll_all().unwrap();
    });
    machine.next();
    machine.next();
    assert!(!machine.lives(issue));
    assert_eq!(machine.terminal.ended(), [format!("#{issue}")]);
    assert!(machine.heard("begin with this").is_empty());
}

#[rstest]
#[case::nobody("ghost", false)]
#[case::a_bot("dependabot[bot]", false)]
#[case::a_stranger("eve", false)]
#[case::another_case("MoNa", true)]
fn k23_who_is_not_listed_is_nobody_however_it_is_heard(#[case] login: &str, #[case] is_heard: bool) {
    let machine = Machine::new();
    let (issue, other) = (machine.running(), machine.issue());
    machine.says(issue, login, "listen to me");
    machine.says(other, login, "the-loop start");
    machine.next();
    machine.says(issue, login, "the-loop stop");
    machine.next();
    assert_eq!(machine.heard("listen to me").len(), usize::from(is_heard));
    assert_eq!(machine.lives(other), is_heard);
    assert_eq!(machine.lives(issue), !is_heard);
}

#[rstest]
#[case::quoted("> the-loop stop\n\nas you said")]
#[case::code("```\nthe-loop stop\n```")]
#[case::explained("write `the-loop stop` to end it")]
#[case::part_of_a_word("the-loop stopped working")]
fn k24_a_polled_comment_that_quotes_or_explains_a_word_obeys_nothing(#[case] text: &str) {
    let machine = Machine::new();
    let issue = machine.running();
    machine.says(issue, "mona", text);
    machine.next();
    assert!(machine.lives(issue) && machine.terminal.ended().is_empty());
}

#[test]
fn k25_our_own_words_do_not_come_back_and_who_talks_alone_for_long_is_held() {
    let machine = Machine::new();
    let issue = machine.running();
    machine.configure(|settings| settings.policy.breaker_deliveries = 5);
    machine.says(issue, "mona", &format!("I am done\n{MARKER}"));
    machine.next();
    assert!(machine.heard("I am done").is_empty());
    // Without the marker, every answer begets the next.
    for _ in 0..20 {
        machine.says(issue, "mona", "I forgot the marker");
        machine.next();
    }
    assert_eq!(machine.heard("I forgot the marker").len(), 5);
    assert_eq!(machine.status().held, 1);
}

#[test]
fn k31_what_a_late_poll_shows_does_not_begin_again_what_was_ended_since() {
    let machine = Machine::new();
    let (stopped, closed) = (machine.running(), machine.issue());
    machine.next();
    machine.lose_webhooks();
    for issue in [stopped, closed] {
        machine.says(issue, "mona", "the-loop start");
        machine.says(issue, "mona", "said before the end");
    }
    machine.lose_webhooks();
    machine.says(stopped, "mona", "the-loop stop");
    machine.github().close(REPO, closed, "mona");
    machine.deliver_webhooks();
    // Only now a list shows what was said before.
    machine.next();
    machine.next();
    assert!(!machine.lives(stopped) && !machine.lives(closed));
    assert_eq!(machine.terminal.started().len(), 1);
}

#[test]
fn k31_a_start_from_before_a_close_stays_over_when_it_is_reopened() {
    let machine = Machine::new();
    let issue = machine.running();
    machine.says(issue, "mona", "the-loop start");
    machine.later(1);
    machine.github().close(REPO, issue, "mona");
    machine.later(1);
    machine.github().reopen(REPO, issue, "mona");
    machine.next();
    machine.says(issue, "mona", "anybody there?");
    machine.next();
    // Between two looks it was closed and open again, which nobody saw: what ran goes on.
    assert_eq!(machine.heard("anybody there?"), [format!("#{issue}")]);
    machine.github().close(REPO, issue, "mona");
    machine.next();
    machine.github().reopen(REPO, issue, "mona");
    machine.next();
    assert!(!machine.lives(issue), "reopening does not arm again");
    machine.says(issue, "mona", "the-loop start");
    machine.next();
    assert!(machine.lives(issue));
}

#[test]
fn k36_an_outsiders_item_starts_nothing_on_the_outsiders_word() {
    let machine = Machine::new();
    machine.next();
    let plain = machine.github().open_issue(REPO, "eve", "Please", "the-loop start");
    let labelled = machine.github().open_issue(REPO, "eve", "Please", "the-loop start");
    machine.github().label(REPO, labelled, "mona", LABEL);
    for require_start in [true, false] {
        machine.configure(|settings| {
            settings.policy.require_start = require_start;
            settings.policy.spawn = if require_start { SpawnPolicy::Labeled } else { SpawnPolicy::Always };
        });
        for issue in [plain, labelled] {
            machine.says(issue, "eve", "the-loop start");
            machine.says(issue, "eve", "hello");
        }
        machine.next();
        machine.next();
        assert!(machine.terminal.started().is_empty(), "{:?}", machine.terminal.started());
    }
    // Mona's own begins without a word, when no word is asked for.
    machine.later(1);
    let own = machine.github().open_issue(REPO, "mona", "Mine", "");
    machine.next();
    assert_eq!(machine.terminal.started(), [format!("#{own}")]);
}

#[test]
fn k36_a_pull_request_of_an_outsider_is_linked_by_nothing_it_says() {
    let machine = Machine::new();
    let issue = machine.running();
    let branch = format!("issue-{issue}");
    machine.later(1);
    let theirs = machine.github().open_pull(REPO, "eve", &branch, "Mine", &format!("Fixes #{issue}"));
    let sha = machine.github().repo(REPO).head(theirs).to_owned();
    machine.next();
    machine.github().check(REPO, &sha, "test", "failure");
    machine.says(theirs, "mona", "what is this?");
    machine.says(theirs, "eve", "the-loop stop");
    machine.next();
    machine.next();
    assert!(
        machine.heard("what is this?").is_empty() && machine.heard("test").is_empty(),
        "{}",
        machine.terminal.all()
    );
    assert!(machine.lives(issue));
    assert_eq!(machine.terminal.started(), [format!("#{issue}")]);
}

#[test]
fn k41_closed_reopened_and_closed_again_ends_every_time() {
    let machine = Machine::new();
    let issue = machine.running();
    let close = |machine: &Machine| {
        machine.later(1);
        machine.github().close(REPO, issue, "mona");
    };
    let reopen = |machine: &Machine| {
        machine.later(1);
        machine.github().reopen(REPO, issue, "mona");
    };
    for round in 0..3 {
        assert!(machine.lives(issue), "{round}");
        close(&machine);
        if round == 1 {
            // Between two looks.
            reopen(&machine);
            close(&machine);
        }
        machine.next();
        assert!(!machine.lives(issue), "{round}");
        reopen(&machine);
        machine.next();
        machine.says(issue, "mona", "the-loop start");
        machine.next();
        if round == 2 {
            break;
        }
        machine.says(issue, "mona", "the-loop pause");
        machine.next();
    }
    assert_eq!(machine.terminal.ended().len(), 3);
}

#[test]
fn k41_a_pull_requests_conversation_ends_with_it_and_comes_back() {
    let machine = Machine::new();
    let issue = machine.running();
    let pull = machine.pull(issue);
    machine.says(pull, "mona", "first");
    machine.next();
    machine.says(issue, "mona", "the-loop pause");
    machine.next();
    machine.later(1);
    machine.github().close(REPO, pull, "mona");
    machine.next();
    assert_eq!(machine.terminal.ended(), [format!("#{pull}")]);
    machine.later(1);
    machine.github().reopen(REPO, pull, "mona");
    machine.next();
    machine.says(issue, "mona", "the-loop resume");
    machine.says(pull, "mona", "second");
    machine.next();
    assert_eq!(machine.heard("second"), [format!("#{pull}")]);
    machine.later(1);
    machine.github().merge(REPO, pull, "mona");
    machine.next();
    assert_eq!(machine.terminal.ended().len(), 2);
    assert!(machine.lives(issue));
}

#[test]
fn k41_what_is_said_after_a_close_of_the_same_cycle_reaches_nobody() {
    let machine = Machine::new();
    let issue = machine.running();
    machine.later(1);
    machine.github().close(REPO, issue, "mona");
    machine.later(5);
    machine.says(issue, "mona", "too late for this one");
    machine.next();
    assert!(!machine.lives(issue) && machine.heard("too late").is_empty());
}
