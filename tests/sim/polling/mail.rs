//! Webhooks on their way: lost, late, repeated, out of order.

use std::collections::BTreeSet;

use the_loop::app::ingest::Arrival;
use the_loop::domain::event::body::{self, MediaType};
use the_loop::domain::event::webhook;
use the_loop::domain::ids::DeliveryId;
use the_loop::domain::signature::TrustedBody;

use crate::fake_github::{Delivery, FakeGitHub};
use crate::rng::Rng;

/// Chances, percent.
#[derive(Debug, Clone, Copy)]
pub struct Habits {
    /// It never arrives.
    pub lost: u64,
    /// It arrives when everything else has.
    pub late: u64,
    /// It comes again although it was answered.
    pub again: u64,
    /// How many may overtake one another.
    pub window: u64,
}

#[derive(Default)]
pub struct Mail {
    under_way: Vec<Delivery>,
    late: Vec<Delivery>,
    /// Of deliveries that were sent while another machine was on.
    before: BTreeSet<String>,
}

impl Mail {
    /// Takes what GitHub sends.
    pub fn collect(&mut self, fake: &mut FakeGitHub, habits: Habits, rng: &mut Rng) {
        for delivery in fake.take_deliveries() {
            if rng.chance(habits.lost) {
                fake.lose(&delivery);
            } else if rng.chance(habits.late) {
                self.late.push(delivery);
            } else {
                self.under_way.push(delivery);
            }
        }
    }

    /// The next to arrive.
    pub fn next(&mut self, habits: Habits, rng: &mut Rng) -> Option<Delivery> {
        let count = self.under_way.len() as u64;
        (count > 0).then(|| self.under_way.remove(rng.below(habits.window.min(count)) as usize))
    }

    /// It was not accepted, or is sent again.
    pub fn give_back(&mut self, delivery: Delivery) {
        self.under_way.push(delivery);
    }

    /// Another machine goes on.
    pub fn taken_over(&mut self) {
        self.before = self.under_way.iter().chain(&self.late).map(|delivery| delivery.guid.clone()).collect();
    }

    /// Whether it may be sent again although it was answered: a person who has refused deliveries sent again asks for
    /// them to be decided again, and what another machine made of them is not known then.
    pub fn may_repeat(&self, delivery: &Delivery) -> bool {
        !self.before.contains(&delivery.guid)
    }

    /// What was late arrives now.
    pub fn hurry(&mut self) {
        self.under_way.append(&mut self.late);
    }
}

/// The event of a delivery, read as the receiver reads it.
pub fn arrival(delivery: &Delivery) -> Arrival {
    let bytes = bytes::Bytes::copy_from_slice(delivery.body.as_bytes());
    let trusted = TrustedBody::kept(bytes.clone());
    let json = body::read(MediaType::Json, &trusted).expect("GitHub sends JSON");
    let id = DeliveryId::parse(&delivery.guid).expect("a delivery id");
    Arrival::delivered(webhook::normalise(&delivery.event, id, &json), bytes)
}
