//! One machine: its disk, its terminal, its checkout with the portable folder, and the app while it runs.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, RwLock};

use the_loop::app::{App, Parts};
use the_loop::domain::decide::Urgency;
use the_loop::domain::github::GitHub;
use the_loop::domain::ids::InstanceId;
use the_loop::domain::ports::{Clock, PortableFiles};
use the_loop::domain::reference::RefKey;
use the_loop::store::testing::CrashBackend;
use the_loop::store::{Store, View as _};

use crate::folder::Folder;
use crate::parts::{CountedIds, HandClock};
use crate::rng::Rng;
use crate::terminal::{Temper, Terminal};
use crate::world::settings;

pub struct Computer {
    pub name: &'static str,
    pub terminal: Terminal,
    pub folder: Folder,
    pub app: Option<App>,
    /// How far its clock is ahead of GitHub's, milliseconds.
    offset: i64,
    clock: Arc<HandClock>,
    backend: CrashBackend,
    /// The machine is off: nothing that is written from now on is kept.
    off: Arc<AtomicBool>,
    lives: u64,
    wrap_folder: fn(Folder) -> Arc<dyn PortableFiles>,
}

impl Computer {
    pub fn new(
        name: &'static str,
        seed: u64,
        temper: Temper,
        offset: i64,
        wrap_folder: fn(Folder) -> Arc<dyn PortableFiles>,
    ) -> Self {
        Self {
            name,
            terminal: Terminal::new(seed, temper),
            folder: Folder::new(seed, temper.power_cut),
            app: None,
            offset,
            clock: Arc::new(HandClock(AtomicI64::new(0))),
            backend: CrashBackend::new(Vec::new()),
            off: Arc::default(),
            lives: 0,
            wrap_folder,
        }
    }

    /// Its clock follows GitHub's.
    pub fn turn(&self, now: i64) {
        self.clock.0.store(now + self.offset, Ordering::SeqCst);
    }

    /// Starts the app over what its last life left behind, and takes in what the folder says.
    pub fn boot(&mut self, rng: &mut Rng, github: &Arc<dyn GitHub>) {
        self.lives += 1;
        let ids = Arc::new(CountedIds { salt: rng.next(), next: AtomicU64::new(1) });
        let store = Store::open_inline(self.backend.clone(), ids.as_ref()).expect("a crash image opens");
        let found = store.read(|tx| the_loop::store::check(tx)).expect("the store can be checked");
        assert!(found.is_empty(), "after a restart the store does not fit together: {found:?}");
        let (power, off) = (self.backend.clone(), Arc::clone(&self.off));
        self.terminal.0.lock().unwrap().cut_power = Some(Box::new(move || cut(&power, &off)));
        let (power, off) = (self.backend.clone(), Arc::clone(&self.off));
        self.folder.state().cut_power = Some(Box::new(move || cut(&power, &off)));
        let app = App::new(Parts {
            store,
            harness_files: Arc::new(the_loop::adapters::harness_files::HarnessFolders::new(&Default::default())),
            runner: Arc::new(self.terminal.clone()),
            portable: (self.wrap_folder)(self.folder.clone()),
            earlier: Arc::new(()),
            github: Arc::clone(github),
            clock: Arc::clone(&self.clock) as Arc<dyn Clock>,
            ids,
            instance: InstanceId(format!("{}-{}", self.name, self.lives)),
            settings: RwLock::new(Arc::new(settings())),
        });
        // A power cut in the middle of it is met by the next step.
        let _ = app.adopt_folder();
        self.app = Some(app);
    }

    /// The app ends; whatever was not synced is gone when the power went.
    pub fn shut_down(&mut self, rng: &mut Rng, cut_off: bool) {
        if cut_off {
            cut(&self.backend, &self.off);
        }
        self.app = None;
        self.backend = CrashBackend::new(self.backend.crash_image(rng.next()));
        self.off.store(false, Ordering::SeqCst);
    }

    pub fn is_off(&self) -> bool {
        self.off.load(Ordering::SeqCst)
    }

    /// Lanes with something to do.
    pub fn lanes(&self) -> Vec<RefKey> {
        let Some(app) = &self.app else { return Vec::new() };
        let lanes = app.store().read(|tx| {
            let mut lanes: Vec<RefKey> = tx.lanes()?.into_iter().map(|(lane, _)| lane).collect();
            lanes.extend(tx.claims()?.into_iter().map(|claim| claim.lane));
            lanes.sort();
            lanes.dedup();
            Ok(lanes)
        });
        lanes.unwrap_or_default()
    }

    /// Everything that waits for its file is written.
    pub fn export(&self) {
        let Some(app) = &self.app else { return };
        for _ in 0..4 {
            app.export_marked(Urgency::Cycle, &Default::default()).expect("a calm folder can be written");
        }
    }

    /// From now on, or for a while, terminal and folder behave.
    pub fn behave(&self, temper: Temper) {
        self.terminal.0.lock().unwrap().temper = temper;
        self.folder.state().power_cut = temper.power_cut;
    }

    /// Every submitted text with the number and repository of its pane.
    pub fn typed(&self) -> Vec<(String, String)> {
        let state = self.terminal.0.lock().unwrap();
        let panes = state.panes.values();
        panes
            .flat_map(|pane| pane.submitted.iter().map(|text| (pane.request.reference.to_string(), text.clone())))
            .collect()
    }
}

fn cut(backend: &CrashBackend, off: &AtomicBool) {
    backend.halt_at(0);
    off.store(true, Ordering::SeqCst);
}
