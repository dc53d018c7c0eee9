//! Figures, not a test: run with `--release -- --ignored --nocapture speed`.

use std::sync::mpsc;
use std::time::Instant;

use super::*;

#[test]
#[ignore = "reports figures; timings are not asserted"]
fn speed_of_accepting_in_groups() {
    // Records there are, records the comments are spread over, callers.
    for (items, spread, in_flight) in [(10, 10, 64), (100_000, 10, 64), (100_000, 100_000, 64), (10, 10, 256)] {
        let dir = tempfile::tempdir_in(std::env::var("SPEED_DIR").unwrap_or_else(|_| ".".into())).unwrap();
        let (path, store) = on_disk(&dir);
        for chunk in (1..=items).collect::<Vec<u64>>().chunks(2000) {
            let chunk = chunk.to_vec();
            store.write(move |tx| chunk.iter().try_for_each(|number| tx.put_item(&item(*number)))).unwrap();
        }
        const JOBS: u64 = 100_000;
        let (answer, answers) = mpsc::channel();
        let began = Instant::now();
        let mut longest = std::time::Duration::ZERO;
        for number in 0..JOBS + in_flight {
            if number >= in_flight {
                let sent: Instant = answers.recv().unwrap();
                longest = longest.max(sent.elapsed());
            }
            if number < JOBS {
                let (answer, sent) = (answer.clone(), Instant::now());
                store.submit(Job {
                    run: Box::new(move |tx| accept(tx, 1 + (number * 7919) % spread, number + 1).map(drop)),
                    done: Box::new(move |result| {
                        result.unwrap();
                        answer.send(sent).unwrap();
                    }),
                });
            }
        }
        let per_second = JOBS as f64 / began.elapsed().as_secs_f64();
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let resident = status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or_default().to_owned();
        let killed = path.with_file_name("killed.redb");
        std::fs::copy(&path, &killed).unwrap();
        let began = Instant::now();
        drop(Store::open(&killed, &CountingIds::default()).unwrap());
        let repaired = began.elapsed();
        store.close().unwrap();
        let size = std::fs::metadata(&path).unwrap().len() >> 20;
        let began = Instant::now();
        drop(Store::open(&path, &CountingIds::default()).unwrap());
        let opened = began.elapsed();
        println!(
            "{items} items, {spread} spoken to, {in_flight} in flight: {per_second:.0} jobs/s, longest {longest:?}, file {size} MiB, \
             {resident}, opened again in {opened:?}, after a kill in {repaired:?}"
        );
    }
}
