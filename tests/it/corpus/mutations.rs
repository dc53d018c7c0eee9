//! Every example changed in every way GitHub, a proxy or an attacker might: some thousand requests, each with the one
//! right answer.

use the_loop::domain::decide::{DropReason, Verdict};
use the_loop::domain::event::{Content, Event, Form};
use the_loop::domain::ids::DeliveryId;
use the_loop::domain::reference::{RepoRef, WorkItemRef};

use super::daemon::{Request, became, is_well, open_world, post_all, settled};
use super::examples::{corpus, fresh_id, item_named, normalised};
use super::mutants::{self, ID, Mutant, Right};
use super::rng::Rng;
use super::routing::rows;
use super::state::{place, take};

const SEED: u64 = 761;

#[test]
fn a_changed_example_is_the_event_it_has_to_be() {
    let Some(corpus) = corpus("a_changed_example_is_the_event_it_has_to_be") else { return };
    let mut rng = Rng::new(SEED);
    for (example, row) in rows(corpus) {
        for mutant in mutants::of(example, &mut rng) {
            let Right::Event(right) = &mutant.right else { continue };
            assert_eq!(normalised(&mutant.event, mutant.media, &mutant.body, ID), **right, "{}", mutant.name);
            let item = item_named(mutant.media, &mutant.body).map(|(item, kind)| (kind, item.number()));
            let about = row.item.filter(|_| right.repository.is_some());
            assert_eq!(item, about, "{}", mutant.name);
        }
    }
}

#[test]
fn what_nobody_sent_or_wrote_is_refused_even_where_everybody_may_speak() {
    let Some(corpus) = corpus("what_nobody_sent_or_wrote_is_refused_even_where_everybody_may_speak") else { return };
    let (place, mut rng, mut refused) = (place(corpus, true), Rng::new(SEED), 0);
    for example in &corpus.public {
        for mutant in mutants::of(example, &mut rng) {
            let Right::Event(event) = mutant.right else { continue };
            let Content::Speech(speech) = &event.content else { continue };
            let people = !matches!(speech.form, Form::Check(_));
            if people && (event.sender.is_none() || speech.author.is_none()) {
                let unlike = Event { delivery: DeliveryId::parse(&fresh_id()).unwrap(), ..*event.clone() };
                let right = Verdict::Refused(DropReason::UnauthorizedActor);
                assert_eq!(take(&place, example, &unlike), right, "{}", mutant.name);
                refused += 1;
            }
        }
    }
    assert!(refused > 30, "{refused}");
}

#[test]
fn thousands_of_changed_examples_get_the_right_answer_and_harm_nothing() {
    let Some(corpus) = corpus("thousands_of_changed_examples_get_the_right_answer_and_harm_nothing") else { return };
    let mut rng = Rng::new(SEED);
    let mutants = corpus.public.iter().flat_map(|example| mutants::of(example, &mut rng));
    let mutants: Vec<(Mutant, String)> = mutants.map(|mutant| (mutant, fresh_id())).collect();
    assert!(mutants.len() > 4000, "{}", mutants.len());
    let world = open_world(corpus);
    let answers = post_all(&world, 4, &mutants.iter().map(|(mutant, id)| request(mutant, id)).collect::<Vec<_>>());
    for ((mutant, _), answer) in mutants.iter().zip(answers) {
        let right = match mutant.right {
            Right::Event(_) if mutant.event == "ping" => 200,
            Right::Event(_) => 202,
            Right::Malformed => 400,
            Right::Forged => 401,
        };
        assert_eq!(answer.status, right, "{}: {answer:?}", mutant.name);
        assert!(right != 202 || answer.word() == "accepted", "{}: {answer:?}", mutant.name);
    }
    let decided = |mutant: &Mutant| matches!(mutant.right, Right::Event(_)) && mutant.event != "ping";
    let became = became(&world, mutants.iter().filter(|(mutant, _)| decided(mutant)).count());
    for (mutant, id) in &mutants {
        if let (Right::Event(event), Some(reason)) = (&mutant.right, became.get(id)) {
            let is_nothing = matches!(event.content, Content::Ignored(_));
            assert_eq!(reason == "ignored-action", is_nothing, "{}: {reason}", mutant.name);
        }
    }
    // Facts and words of every kind, in whatever order: what they started is theirs.
    let here = corpus.public.iter().filter_map(|example| example.event().repository);
    let here: Vec<RepoRef> = here.map(|repository| repository.reference).collect();
    for row in settled(&world).1 {
        let item = WorkItemRef::parse(row["workItem"].as_str().unwrap()).unwrap();
        assert!(here.iter().any(|repository| repository.is_same(item.repo())), "{row}");
    }
    is_well(&world, 1);
}

fn request<'a>(mutant: &'a Mutant, id: &'a str) -> Request<'a> {
    let Mutant { event, media, body, signed, .. } = mutant;
    Request { id, event, media: *media, body, signed: signed.as_ref().unwrap_or(body) }
}
