//! The table of interruptions: every durable step of every operation, cut by everything that can cut it, compared with
//! the run that nothing interrupts. `make matrix` prints it; `docs/interruptions.md` is its page.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use the_loop::domain::ports::Runner;

use crate::planted::{Fault, Planted};
use crate::terminal::Terminal;

mod outcome;
mod scene;
mod stage;
mod steps;

use outcome::{Outcome, Verdict};
use scene::Plan;
use steps::{Interruption, Moment, Operation};

const PAGE: &str = "docs/interruptions.md";
const HEAD: &str = "# Interruptions

What becomes of an operation that is interrupted: the whole program over a store, a terminal and a GitHub in memory, cut
at every durable step (a decision, a claim or a settlement being written, at every single storage change of that write;
what is done outside half done, and done), and compared with the same run uninterrupted: what each agent heard and in
which order, which sessions, panes and pull requests there are, what is recorded. Afterwards more is said, and has to
arrive as well. `make matrix` runs it and prints it, `make test` compares it with this page.

- **equal**: nobody can tell the difference.
- **equal, in the record's conversation**: everything was said once; what a pull request's conversation would have heard
  and could not be started for, the record's heard.
- **refused**: said to a record that had been given up before, and not accepted, with this reason in the log.
- **dead**: given up, with this reason, shown by `the-loop dispatch list` and `doctor`.
- **unknown**: a dead letter of its own kind. The pane that could have said what it took is of another life, and no
  transcript of the harness shows the text: nothing is repeated, a person decides. \"Then\" says what it is where the harness
  keeps a transcript.

No cell may say that something was lost or done twice, and only what ends a life may leave something unknown.
";

/// A whole table of an operation.
struct Table {
    operation: Operation,
    rows: Vec<(String, Vec<String>)>,
    bad: Vec<String>,
}

/// The runs of one operation with one kind of harness.
struct Bench {
    plan: Plan,
    calm: Outcome,
}

impl Bench {
    /// All verdicts of one cell: over storage changes and what a crash leaves of them.
    fn cell(&self, moment: Moment, interruption: Interruption) -> BTreeSet<Verdict> {
        let torn: &[Option<u64>] = if interruption == Interruption::Kill { &[None, Some(1), Some(2)] } else { &[None] };
        let each_change = moment.is_writing() && interruption.is_of_storage();
        let mut verdicts = BTreeSet::new();
        for change in 0.. {
            for torn in torn {
                let plan = Plan { hook: Some((moment, interruption)), change, torn: *torn, ..self.plan };
                let ran = plan.run();
                if each_change && ran.missed {
                    assert!(change > 1, "{moment:?} of {:?} writes nothing", self.plan.operation);
                    return verdicts;
                }
                let verdict = match ran.unreached {
                    true => Verdict::Bad("never came to this".into()),
                    false => ran.outcome.against(&self.calm, interruption),
                };
                verdicts.insert(self.allowed(verdict, moment, interruption));
            }
            if !each_change || verdicts.iter().any(|verdict| matches!(verdict, Verdict::Bad(_))) {
                break;
            }
        }
        verdicts
    }

    /// A verdict that may not stand in this cell is bad.
    fn allowed(&self, verdict: Verdict, moment: Moment, interruption: Interruption) -> Verdict {
        let fine = match &verdict {
            Verdict::Equal | Verdict::Bad(_) => true,
            Verdict::ByTheRecord | Verdict::Refused(_) | Verdict::Dead(_) => interruption.is_for_good(),
            // A transcript shows what was submitted, and nothing else can.
            Verdict::Unknown(_) => {
                interruption.ends_a_life() && (!self.plan.transcript || matches!(moment, Moment::Half(_)))
            }
        };
        if fine { verdict } else { Verdict::Bad(format!("not here: {verdict}")) }
    }
}

fn table(operation: Operation, wrap: fn(Terminal) -> Arc<dyn Runner>) -> Table {
    let plan = |transcript| Plan { operation, hook: None, change: 0, torn: None, transcript, wrap };
    let sound = |transcript| Plan { wrap: |terminal| Arc::new(terminal), ..plan(transcript) }.run();
    let calm = sound(false);
    let benches = [false, true].map(|transcript| Bench { plan: plan(transcript), calm: sound(transcript).outcome });
    for bench in &benches {
        // What is said about an item that is closed is not heard; all else is.
        assert_eq!(bench.calm.unheard(), usize::from(operation == Operation::Close), "{operation:?}: {:?}", bench.calm);
    }
    let (mut rows, mut bad) = (Vec::new(), Vec::new());
    for (moment, name) in Moment::all(calm.decisions, &calm.works) {
        let cells = Interruption::ALL.map(|interruption| {
            let [without, with] = benches.each_ref().map(|bench| bench.cell(moment, interruption));
            for verdict in without.union(&with).filter(|verdict| matches!(verdict, Verdict::Bad(_))) {
                bad.push(format!("{operation:?}, {name}, {}: {verdict}", interruption.title()));
            }
            let [without, with] =
                [without, with].map(|all| all.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or "));
            if without == with { without } else { format!("{without}; then {with}") }
        });
        rows.push((name, cells.to_vec()));
    }
    Table { operation, rows, bad }
}

/// All tables, each on a thread of its own.
fn tables(operations: &[Operation], wrap: fn(Terminal) -> Arc<dyn Runner>) -> Vec<Table> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = operations.iter().map(|operation| scope.spawn(move || table(*operation, wrap))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a table is whole")).collect()
    })
}

fn page(tables: &[Table]) -> String {
    let mut page = HEAD.to_owned();
    for table in tables {
        let titles = Interruption::ALL.map(Interruption::title).join(" | ");
        let rule = "---|".repeat(Interruption::ALL.len() + 1);
        let _ = write!(page, "\n## {}\n\n| step | {titles} |\n|{rule}\n", table.operation.title());
        for (name, cells) in &table.rows {
            let _ = writeln!(page, "| {name} | {} |", cells.join(" | "));
        }
    }
    page
}

#[test]
fn matrix_of_interruptions_is_its_page_and_nothing_is_lost_or_done_twice() {
    let tables = tables(&Operation::ALL, |terminal| Arc::new(terminal));
    let page = page(&tables);
    println!("{page}");
    let bad: Vec<&String> = tables.iter().flat_map(|table| &table.bad).collect();
    assert!(bad.is_empty(), "{bad:#?}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).expect("the page can be written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "{PAGE} differs from what happens; `make docs` writes it");
}

#[test]
fn matrix_finds_what_is_lost_and_what_is_done_twice() {
    let bad = |operation, wrap: fn(Terminal) -> Arc<dyn Runner>| -> String {
        tables(&[operation], wrap).into_iter().flat_map(|table| table.bad).collect::<Vec<_>>().join("\n")
    };
    let forgetful = bad(Operation::Deliver, |terminal| Arc::new(Planted(terminal, Fault::Forgetful)));
    assert!(forgetful.contains("twice"), "{forgetful}");
    let boastful = bad(Operation::Respawn, |terminal| Arc::new(Planted(terminal, Fault::Deaf)));
    assert!(boastful.contains("lost"), "{boastful}");
    let immortal = bad(Operation::Close, |terminal| Arc::new(Planted(terminal, Fault::Immortal)));
    assert!(immortal.contains("another state"), "{immortal}");
}
