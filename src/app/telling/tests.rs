//! Tests: telling over a GitHub that answers as it is told.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use super::Told;
use crate::app::App;
use crate::app::moving::{EPOCH, Meddled, assert_sound, item, say, world_beside};
use crate::app::request::{Order, Request as Asked, Response, TroubleKind};
use crate::domain::decide::{DropReason, Verdict};
use crate::domain::event::marker::is_marked;
use crate::domain::github::{Answer, GitHub, Limit, Method, Request, Target, Unsent};
use crate::domain::ports::Clock;
use crate::domain::telling::{Kind, Tell};
use crate::domain::time::Time;
use crate::store::View as _;

/// What happens to a request instead of being done and answered.
enum Fault {
    /// It is answered so and not done.
    Answers(Box<Answer>),
    /// It is done, and the answer is lost.
    Lost,
}

type Hook = Box<dyn FnOnce() + Send>;

/// A GitHub that keeps what is posted; whatever is not scripted goes well.
#[derive(Default)]
struct Scripted {
    faults: Mutex<VecDeque<Fault>>,
    comments: Mutex<Vec<String>>,
    reactions: Mutex<Vec<String>>,
    sent: Mutex<Vec<Request>>,
    hook: Mutex<Option<Hook>>,
    has_no_token: Mutex<bool>,
}

impl Scripted {
    fn fails(&self, faults: impl IntoIterator<Item = Fault>) {
        self.faults.lock().unwrap().extend(faults);
    }

    fn comments(&self) -> Vec<String> {
        self.comments.lock().unwrap().clone()
    }

    fn done(&self, request: &Request) -> Answer {
        let Target::Path(path) = &request.target else { panic!("{request:?}") };
        let mut comments = self.comments.lock().unwrap();
        let comment = |n: usize, body: &str| serde_json::json!({"node_id": format!("IC_{}", 9000 + n), "html_url": format!("https://x/{n}"), "body": body});
        let answer = |status, json: serde_json::Value| Answer {
            status,
            body: json.to_string().into_bytes(),
            ..Answer::default()
        };
        match (request.method, &request.body) {
            (Method::Post, Some(body)) if path.ends_with("/reactions") => {
                self.reactions.lock().unwrap().push(format!("{path} {}", body["content"]));
                answer(201, serde_json::json!({"id": 1}))
            }
            (Method::Post, Some(body)) => {
                comments.push(body["body"].as_str().unwrap().to_owned());
                answer(201, comment(comments.len(), comments.last().unwrap()))
            }
            _ => answer(200, comments.iter().enumerate().map(|(n, body)| comment(n + 1, body)).collect()),
        }
    }
}

impl GitHub for Scripted {
    fn send(&self, request: &Request) -> Result<Answer, Unsent> {
        self.sent.lock().unwrap().push(request.clone());
        let hook = self.hook.lock().unwrap().take();
        if let Some(hook) = hook {
            hook();
        }
        let lost = || Err(Unsent::Unreachable { host: request.host.clone(), why: "cut short".into() });
        // A look-up is not what fails here.
        let fault = if request.method == Method::Post { self.faults.lock().unwrap().pop_front() } else { None };
        match fault {
            Some(Fault::Answers(answer)) => Ok(*answer),
            Some(Fault::Lost) => {
                self.done(request);
                lost()
            }
            None => Ok(self.done(request)),
        }
    }

    fn can_ask(&self, host: &str) -> Result<(), Unsent> {
        match *self.has_no_token.lock().unwrap() {
            true => Err(Unsent::NoToken { host: host.into(), unusable: None }),
            false => Ok(()),
        }
    }
}

/// A clock that stands where it is put.
struct Hand(AtomicI64);

impl Clock for Hand {
    fn now(&self) -> Time {
        EPOCH.plus_seconds(self.0.load(Ordering::SeqCst))
    }
}

struct World {
    app: App,
    runner: Arc<Meddled>,
    github: Arc<Scripted>,
    clock: Arc<Hand>,
}

impl World {
    fn new() -> Self {
        let (github, clock) = (Arc::new(Scripted::default()), Arc::new(Hand(AtomicI64::new(1000))));
        let (app, runner) = world_beside(Arc::clone(&github) as _, Arc::clone(&clock) as _);
        Self { app, runner, github, clock }
    }

    fn words(&self, cause: &str, text: &str) {
        let tell = Tell::words(&item("octo/hello", 7), Kind::Refusal, cause, text);
        self.app.store().write(move |tx| tx.push_tell(&tell, EPOCH.plus_seconds(1000))).unwrap();
    }

    fn next(&self) -> Told {
        self.app.tell_next().unwrap()
    }

    /// Tells until nothing is due.
    fn tell(&self) -> Told {
        loop {
            match self.next() {
                Told::Something | Told::Failed(_) => {}
                end => return end,
            }
        }
    }

    fn later(&self, seconds: i64) {
        self.clock.0.fetch_add(seconds, Ordering::SeqCst);
    }

    fn waiting(&self) -> Vec<(u32, Option<Time>)> {
        let mut waiting = Vec::new();
        let visit = &mut |telling: crate::store::Telling| {
            waiting.push((telling.attempts, telling.not_before));
            std::ops::ControlFlow::Continue(())
        };
        self.app.store().read(|tx| tx.for_each_telling(visit)).unwrap();
        waiting
    }

    fn logged(&self, name: &str) -> Vec<String> {
        let trail = self.app.store().read(|tx| tx.journal(0, usize::MAX)).unwrap();
        let named = trail.into_iter().filter(|(_, _, entry)| entry.event.as_str() == name);
        named.map(|(_, _, entry)| format!("{:?}", entry.fields)).collect()
    }

    fn is_posted(&self, node_id: &str) -> bool {
        self.app.store().read(|tx| tx.posted(node_id)).unwrap()
    }
}

fn answers(status: u16) -> Fault {
    Fault::Answers(Box::new(Answer { status, ..Answer::default() }))
}

#[test]
fn a_start_is_seen_announced_and_done_on_its_ticket() {
    let world = World::new();
    let seven = item("octo/hello", 7);
    assert!(say(&world.app, 10, &seven, 101, "the-loop start").tells);
    assert_eq!(world.tell(), Told::Nothing(None));
    world.app.advance(&seven.key(), true, 100).unwrap();
    say(&world.app, 11, &seven, 101, "hello");
    world.app.advance(&seven.key(), true, 100).unwrap();
    assert_eq!(world.tell(), Told::Nothing(None));
    let reactions = world.github.reactions.lock().unwrap().clone();
    let on = |id, content| format!("/repos/octo/hello/issues/comments/{id}/reactions \"{content}\"");
    assert_eq!(reactions, [on(10, "eyes"), on(10, "hooray"), on(11, "eyes"), on(11, "hooray")]);
    let comments = world.github.comments();
    assert_eq!(comments.len(), 1, "{comments:?}");
    assert!(comments[0].contains("sessions attach github:octo/hello#7") && is_marked(&comments[0]), "{comments:?}");
    assert!(world.waiting().is_empty() && world.is_posted("IC_9001"));
    assert_sound(&world.app);
}

#[test]
fn k25_our_own_comment_is_known_even_when_its_marker_is_gone() {
    let world = World::new();
    let seven = item("octo/hello", 7);
    say(&world.app, 10, &seven, 101, "the-loop start");
    world.app.advance(&seven.key(), true, 100).unwrap();
    world.tell();
    let typed = world.runner.typed.lock().unwrap().len();
    // What GitHub sends of it, once somebody edited the marker away and made it a command.
    let heard = say(&world.app, 9001, &seven, 101, "the-loop stop");
    assert_eq!((heard.verdict, heard.tells), (Verdict::Dropped(DropReason::SelfAuthored), false));
    world.app.advance(&seven.key(), true, 100).unwrap();
    assert_eq!(world.runner.typed.lock().unwrap().len(), typed);
    assert_eq!(world.tell(), Told::Nothing(None));
    assert_eq!(world.github.comments().len(), 1);
}

#[test]
fn a_comment_whose_answer_was_lost_is_not_posted_again() {
    let world = World::new();
    world.words("c1", "once");
    world.github.fails([Fault::Lost]);
    assert!(matches!(world.next(), Told::Failed(_)));
    assert!(matches!(world.tell(), Told::Nothing(Some(_))) && !world.is_posted("IC_9001"));
    world.later(60);
    assert_eq!(world.tell(), Told::Nothing(None));
    assert_eq!(world.github.comments().len(), 1);
    assert!(world.is_posted("IC_9001"), "it is known as ours all the same");
}

#[test]
fn what_is_stored_twice_is_told_once() {
    let world = World::new();
    for text in ["once", "the same, spelled otherwise"] {
        world.words("c1", text);
    }
    world.words("c2", "something else");
    assert_eq!(world.tell(), Told::Nothing(None));
    assert_eq!(world.github.comments().len(), 2);
}

#[test]
fn an_outage_is_tried_again_later_each_time_and_given_up_at_last() {
    let world = World::new();
    world.words("c1", "text");
    world.github.fails([answers(502), answers(502)]);
    for attempts in 1..=2 {
        let Told::Failed(why) = world.next() else { panic!() };
        assert!(why.contains("502"), "{why}");
        let [(tried, Some(until))] = world.waiting()[..] else { panic!("{:?}", world.waiting()) };
        assert!(tried == attempts && until > world.app.now());
        assert_eq!(world.next(), Told::Nothing(Some(until)));
        world.later(120);
    }
    assert_eq!(world.tell(), Told::Nothing(None));
    assert_eq!(world.github.comments().len(), 1);
    world.words("c2", "never");
    world.github.fails((0..20).map(|_| answers(500)));
    for _ in 0..9 {
        world.next();
        world.later(2000);
    }
    assert!(world.waiting().is_empty(), "eight tries again, then no more");
    assert!(world.logged("telling.failed").last().unwrap().contains("gaveUp"));
}

#[test]
fn a_limit_holds_the_whole_host_and_costs_no_try() {
    let world = World::new();
    world.words("c1", "one");
    world.words("c2", "two");
    let reset = world.app.now().plus_seconds(900);
    let limit = Some(Limit { limit: 5000, remaining: 0, reset, resource: "core".into() });
    world.github.fails([Fault::Answers(Box::new(Answer { status: 403, limit, ..Answer::default() }))]);
    assert_eq!(world.tell(), Told::Nothing(Some(reset)));
    assert_eq!(world.tell(), Told::Nothing(Some(reset)));
    assert_eq!(world.github.sent.lock().unwrap().len(), 2, "nobody knocks meanwhile");
    assert!(world.waiting().iter().all(|(attempts, _)| *attempts == 0));
    world.later(901);
    assert_eq!(world.tell(), Told::Nothing(None));
    assert_eq!(world.github.comments().len(), 2);
}

#[test]
fn q08_a_limit_without_an_end_holds_longer_each_time() {
    let world = World::new();
    world.words("c1", "one");
    let limited = || answers(429);
    for least in [60, 120, 240] {
        world.github.fails([limited()]);
        let Told::Nothing(Some(until)) = world.tell() else { panic!("it is limited") };
        assert_eq!(until, world.app.now().plus_seconds(least));
        world.later(least);
    }
    assert_eq!(world.tell(), Told::Nothing(None));
    world.words("c2", "two");
    world.github.fails([limited()]);
    assert_eq!(world.tell(), Told::Nothing(Some(world.app.now().plus_seconds(60))), "a success ends it");
}

#[test]
fn what_does_not_show_the_ticket_is_not_taken_for_a_ticket_without_our_comment() {
    for (status, body) in [(200, ""), (204, ""), (304, ""), (200, "{}")] {
        let world = World::new();
        world.words("c1", "text");
        let said = Answer { status, body: body.into(), ..Answer::default() };
        world.github.fails([Fault::Answers(Box::new(said))]);
        assert!(matches!(world.next(), Told::Failed(_)), "{status} {body}");
        assert_eq!(world.github.comments().len(), 0, "{status} {body}");
    }
}

#[test]
fn no_permission_and_what_is_gone_end_with_a_line_in_the_log() {
    for status in [401, 403, 404, 410, 422] {
        let world = World::new();
        world.words("c1", "text");
        world.github.fails([answers(status)]);
        assert_eq!(world.next(), Told::Something);
        assert!(world.waiting().is_empty() && world.github.comments().is_empty());
        let [line] = &world.logged("telling.failed")[..] else { panic!("{status}") };
        assert!(line.contains(&status.to_string()) && line.contains("gaveUp"), "{line}");
    }
}

#[test]
fn without_a_token_nothing_is_kept_and_the_log_says_so_once() {
    let world = World::new();
    *world.github.has_no_token.lock().unwrap() = true;
    for cause in ["c1", "c2", "c3"] {
        world.words(cause, "text");
    }
    assert_eq!(world.next(), Told::Dropped);
    world.words("c4", "text");
    assert_eq!((world.next(), world.next()), (Told::Dropped, Told::Nothing(None)));
    // Meanwhile nothing is stored for it, until it is looked at again.
    let seven = item("octo/hello", 7);
    assert!(!say(&world.app, 10, &seven, 101, "the-loop start").tells);
    world.app.advance(&seven.key(), true, 100).unwrap();
    assert!(world.waiting().is_empty());
    world.later(61);
    assert!(say(&world.app, 11, &seven, 101, "hello").tells);
    assert_eq!(world.next(), Told::Dropped);
    assert_eq!(world.logged("telling.dropped").len(), 1);
    assert!(world.github.sent.lock().unwrap().is_empty());
    // With a token it goes on, and losing it again is news.
    *world.github.has_no_token.lock().unwrap() = false;
    world.later(61);
    say(&world.app, 12, &seven, 101, "hello");
    assert_eq!((world.next(), world.github.reactions.lock().unwrap().len()), (Told::Something, 1));
    *world.github.has_no_token.lock().unwrap() = true;
    say(&world.app, 13, &seven, 101, "hello");
    assert_eq!((world.next(), world.logged("telling.dropped").len()), (Told::Dropped, 2));
}

#[test]
fn s06_a_secret_is_withheld_from_what_is_told() {
    let world = World::new();
    let token = ["gh", "p_", &"a1B2".repeat(9)].concat();
    world.words("c1", &format!("it said {token}"));
    world.tell();
    let comments = world.github.comments();
    assert!(comments[0].contains("[withheld]") && !comments[0].contains("a1B2"), "{comments:?}");
}

#[test]
fn two_workers_never_tell_on_one_ticket_at_once() {
    let world = World::new();
    world.words("c1", "one");
    world.words("c1", "one");
    let (other, seen) = (world.app.clone(), Arc::new(Mutex::new(None)));
    let slot = Arc::clone(&seen);
    *world.github.hook.lock().unwrap() = Some(Box::new(move || {
        *slot.lock().unwrap() = Some(other.tell_next().unwrap());
    }));
    world.tell();
    assert_eq!(*seen.lock().unwrap(), Some(Told::Nothing(None)));
    assert_eq!(world.github.comments().len(), 1);
}

#[test]
fn whoever_waits_to_tell_is_woken_by_what_is_committed() {
    let world = World::new();
    let rung = Arc::new(AtomicI64::new(0));
    let counts = Arc::clone(&rung);
    world.app.when_something_is_to_be_told(move || {
        counts.fetch_add(1, Ordering::SeqCst);
    });
    let seven = item("octo/hello", 7);
    say(&world.app, 10, &seven, 101, "the-loop start");
    assert_eq!(rung.load(Ordering::SeqCst), 1);
    world.app.advance(&seven.key(), true, 100).unwrap();
    assert!(rung.load(Ordering::SeqCst) > 1);
}

fn comment(world: &World, body: &str) -> Result<Response, crate::app::request::Trouble> {
    let order = Order::Comment { item: item("octo/hello", 7), body: body.into() };
    world.app.respond(&Asked::Order(order)).map(|answered| answered.response)
}

#[test]
fn k25_a_comment_of_an_agent_is_marked_and_known_as_ours() {
    let world = World::new();
    let Ok(Response::Commented(commented)) = comment(&world, "done\n") else { panic!() };
    assert_eq!((commented.work_item.as_str(), commented.url.as_str()), ("github:octo/hello#7", "https://x/1"));
    assert!(is_marked(&world.github.comments()[0]) && world.is_posted("IC_9001"));
    let trouble = comment(&world, " ").unwrap_err();
    assert_eq!((trouble.kind, world.github.comments().len()), (TroubleKind::Refused, 1));
}

#[test]
fn a_comment_that_was_not_posted_says_whether_it_may_have_been() {
    let limited = Answer { status: 403, retry_after: Some(9), ..Answer::default() };
    let table = [
        (Fault::Lost, TroubleKind::Outside, "it may have been posted"),
        (answers(502), TroubleKind::Outside, "it may have been posted"),
        (answers(404), TroubleKind::Outside, "nothing was posted"),
        (Fault::Answers(Box::new(limited)), TroubleKind::Outside, "nothing was posted; try again after"),
    ];
    for (fault, kind, hint) in table {
        let world = World::new();
        world.github.fails([fault]);
        let trouble = comment(&world, "done").unwrap_err();
        assert!(trouble.kind == kind && trouble.hint.as_deref().unwrap_or_default().starts_with(hint), "{trouble:?}");
    }
}
