//! Bursts with the daemon ended in the middle, at moments a seed chooses: what was answered 202 arrives, once, in
//! order, in the right pane.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::hub::{Connection, Delivery, reference};
use super::world::{PATIENCE, World};
use crate::support::wait_for;

/// A small generator (xorshift), so that a failing run can be repeated.
struct Seed(u64);

impl Seed {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(limit).unwrap()).unwrap()
    }
}

/// Comments for several items, each item's in the order they are posted.
struct Burst {
    items: Vec<(u64, Vec<Delivery>)>,
    accepted: AtomicUsize,
}

impl Burst {
    fn new(world: &World, numbers: &[u64], count: usize) -> Self {
        let of = |at: usize, number: u64| {
            let mine = (0..count).filter(|n| n % numbers.len() == at).count();
            (number, (0..mine).map(|n| world.comment(number, &line(number, n))).collect())
        };
        let items = numbers.iter().enumerate().map(|(at, number)| of(at, *number)).collect();
        Self { items, accepted: AtomicUsize::new(0) }
    }

    fn count(&self) -> usize {
        self.items.iter().map(|(_, deliveries)| deliveries.len()).sum()
    }

    /// Posts one item's comments one after the other; what was not answered 202 is redelivered under the same id.
    fn post(&self, world: &World, deliveries: &[Delivery]) {
        let mut connection = None;
        for delivery in deliveries {
            let request = delivery.request(&world.secret);
            wait_for(&format!("202 for {}", delivery.id), PATIENCE, || {
                if connection.is_none() {
                    connection = world.address().and_then(|address| Connection::open(address).ok());
                }
                let answer = connection.as_mut().map(|connection: &mut Connection| connection.ask(&request));
                match answer {
                    Some(Ok(answer)) => answer.status == 202,
                    _ => {
                        connection = None;
                        false
                    }
                }
            });
            self.accepted.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Posts everything at once, one connection for each item, and calls `end` each time one more of `moments` numbers
    /// of comments was accepted.
    fn run(&self, world: &World, moments: &[usize], mut end: impl FnMut()) {
        std::thread::scope(|scope| {
            for (_, deliveries) in &self.items {
                scope.spawn(|| self.post(world, deliveries));
            }
            for moment in moments {
                wait_for("the burst to go on", PATIENCE, || self.accepted.load(Ordering::SeqCst) >= *moment);
                end();
            }
        });
    }

    /// How many lines of the burst were heard so far, all panes together.
    fn heard(&self, world: &World) -> usize {
        self.items.iter().map(|(number, _)| tokens(world, *number).len()).sum()
    }

    /// Waits for everything and tests that it arrived as it was accepted.
    fn assert_arrived(&self, world: &World) {
        wait_for("every comment to arrive", Duration::from_secs(60), || self.heard(world) >= self.count());
        for (number, deliveries) in &self.items {
            let expected: Vec<String> = (0..deliveries.len()).map(|n| line(*number, n)).collect();
            assert_eq!(tokens(world, *number), expected, "item {number}");
        }
        let received = world.events("webhook.received");
        let received: BTreeSet<&str> = received.iter().filter_map(|event| event["delivery"].as_str()).collect();
        let missing = |delivery: &&Delivery| !received.contains(delivery.id.as_str());
        let lost: Vec<&str> =
            self.items.iter().flat_map(|(_, all)| all).filter(missing).map(|delivery| delivery.id.as_str()).collect();
        assert_eq!(lost, Vec::<&str>::new(), "answered 202 and not in the trail");
        let status = world.done("status --json").json();
        let given_up = (&status["status"]["deadLetters"], &status["status"]["undecidable"]);
        assert_eq!(given_up, (&0.into(), &0.into()), "{status}");
    }
}

/// The text of one comment.
fn line(number: u64, n: usize) -> String {
    format!("burst {number}-{n:03}")
}

/// What an item's pane heard of a burst; lines of other items are kept, they must not be there.
fn tokens(world: &World, number: u64) -> Vec<String> {
    let heard = world.heard(&reference(number));
    heard.lines().filter(|line| line.starts_with("burst ")).map(str::to_owned).collect()
}

/// `count` moments in order, none of them near the end.
fn moments(seed: &mut Seed, count: usize, among: usize) -> Vec<usize> {
    let mut moments: Vec<usize> = (0..count).map(|_| 1 + seed.below(among * 9 / 10)).collect();
    moments.sort_unstable();
    moments
}

#[test]
fn k01_l06_kill_9_in_a_burst_of_300_deliveries_to_8_items() {
    let world = World::new("  breaker: {deliveries: 0}\n");
    let numbers = [1, 2, 3, 4, 5, 15, 16, 17];
    world.arm(&numbers);
    let burst = Burst::new(&world, &numbers, 300);
    let mut seed = Seed(0x5eed_0001);
    burst.run(&world, &moments(&mut seed, 5, 300), || {
        world.kill_9();
        world.start();
    });
    // Everything is accepted; the daemon now dies while it hands over what is left.
    for moment in moments(&mut seed, 2, 300) {
        wait_for("panes to hear more", PATIENCE, || burst.heard(&world) >= moment);
        world.kill_9();
        world.start();
    }
    burst.assert_arrived(&world);
}

#[test]
fn k60_k71_l06_sigterm_in_a_burst_ends_cleanly_and_leaves_the_agents_alive() {
    let world = World::new("  breaker: {deliveries: 0}\n");
    let numbers = [1, 2, 3, 4];
    world.arm(&numbers);
    let servers = world.server.pids();
    let burst = Burst::new(&world, &numbers, 120);
    burst.run(&world, &moments(&mut Seed(0x5eed_0002), 3, 120), || {
        world.stop();
        assert_eq!(world.server.pids(), servers, "tmux lives on");
        for number in numbers {
            assert_eq!(world.living_agents(&reference(number)).len(), 1, "the agent of {number} lives on");
        }
        world.start();
    });
    burst.assert_arrived(&world);
    world.stop();
    let stopped = world.events("server.stopped");
    assert_eq!(stopped.len(), 4, "{stopped:?}");
    assert_eq!(world.server.pids(), servers);
    assert_eq!(world.run("status").code, Some(1), "status does not say that a daemon runs");
}
