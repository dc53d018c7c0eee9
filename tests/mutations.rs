//! Defects planted one by one: the suite of runs has to find each (`make mutations`).
//!
//! All of them are put into a copy of the sources at once, each behind a switch that a file sets, so that the copy is
//! compiled once and its tests are run once for each defect.

#[path = "mutations/defects.rs"]
mod defects;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use defects::{DEFECTS, Defect};

/// What of the repository the copy needs.
const COPIED: [&str; 10] =
    ["Cargo.toml", "Cargo.lock", "clippy.toml", "src", "tests", "benches", "examples", "migrations", "docs", "demo"];
/// Tests that ought to find a defect: first what is quick, then the real program.
const SUITES: [(&str, &[&str]); 2] = [
    (
        "lib",
        &[
            "domain::run",
            "domain::remote",
            "domain::verdict",
            "domain::secrets",
            "domain::profile",
            "domain::skill",
            "run_files",
        ],
    ),
    ("it", &["runs::", "--skip", "program::"]),
];
/// The heading of the table, which is the end of its page.
const LAST_RUN: &str = "## The last run";
/// How long one run of a suite may take; one that hangs has found its defect.
const LIMIT: Duration = Duration::from_secs(300);

/// A source with its defects behind their switches; what is wrong with a defect is told.
fn planted(defects: &[&Defect], text: &str) -> Result<String, String> {
    defects.iter().try_fold(text.to_owned(), |text, defect| match text.matches(defect.from).count() {
        1 => {
            Ok(text
                .replace(defect.from, &defect.to.replace("PLANTED", &format!("crate::planted(\"{}\")", defect.name))))
        }
        count => Err(format!("`{}`: {} holds what it changes {count} times", defect.name, defect.file)),
    })
}

/// Every file that has defects, with all of them.
fn all_planted(root: &Path) -> Result<Vec<(&'static str, String)>, String> {
    let files: BTreeSet<&str> = DEFECTS.iter().map(|defect| defect.file).collect();
    let one = |file: &'static str| {
        let text = fs::read_to_string(root.join(file)).map_err(|error| format!("{file}: {error}"))?;
        let own: Vec<&Defect> = DEFECTS.iter().filter(|defect| defect.file == file).collect();
        planted(&own, &text).map(|text| (file, text))
    };
    files.into_iter().map(one).collect()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn there_are_forty_defects_and_each_can_be_planted() {
    let names: BTreeSet<&str> = DEFECTS.iter().map(|defect| defect.name).collect();
    assert!(names.len() >= 40 && names.len() == DEFECTS.len(), "{} names, {} defects", names.len(), DEFECTS.len());
    assert!(DEFECTS.iter().all(|defect| defect.to.contains("PLANTED") && !defect.safeguard.is_empty()));
    assert_eq!(all_planted(root()).map(|_| ()), Ok(()));
    assert!(planted(&[&DEFECTS[0]], "nothing of it").is_err());
}

#[test]
fn the_table_of_mutations_names_every_defect() {
    let page = fs::read_to_string(root().join("docs/mutations.md")).expect("the page");
    for defect in DEFECTS {
        assert!(page.contains(&format!("| `{}` | {} |", defect.name, defect.safeguard)), "{}", defect.name);
    }
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).expect("a folder");
        for entry in fs::read_dir(from).expect("a folder") {
            let entry = entry.expect("an entry");
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else if from.exists() {
        fs::copy(from, to).expect("a copy");
    }
}

/// The copy, its switch, and its binaries.
struct Bench {
    folder: PathBuf,
    _own: Option<tempfile::TempDir>,
}

impl Bench {
    /// In a temporary folder; `MUTATIONS_DIR` names one that is kept, so that its dependencies are compiled once.
    fn new() -> Self {
        let own = std::env::var_os("MUTATIONS_DIR").is_none().then(|| tempfile::tempdir().expect("a temporary folder"));
        let folder = own
            .as_ref()
            .map_or_else(|| std::env::var_os("MUTATIONS_DIR").map(PathBuf::from), |own| Some(own.path().to_owned()));
        let bench = Self { folder: folder.unwrap_or_default(), _own: own };
        for name in COPIED {
            let to = bench.folder.join(name);
            let _ = fs::remove_dir_all(&to);
            copy(&root().join(name), &to);
        }
        for (file, text) in all_planted(root()).unwrap_or_else(|why| panic!("{why}")) {
            fs::write(bench.folder.join(file), text).expect("a source");
        }
        let lib = bench.folder.join("src/lib.rs");
        let mut text = fs::read_to_string(&lib).expect("the library");
        text.push_str("\n/// Whether this defect is planted now.\npub fn planted(name: &str) -> bool {\n    std::fs::read_to_string(env!(\"PLANTED\")).is_ok_and(|planted| planted == name)\n}\n");
        fs::write(lib, text).expect("the library");
        bench.plant("");
        bench
    }

    fn plant(&self, name: &str) {
        fs::write(self.folder.join("planted"), name).expect("the switch");
    }

    fn cargo(&self, suite: &str) -> Command {
        let mut command = Command::new(env!("CARGO"));
        command.arg("test").current_dir(&self.folder).env("PLANTED", self.folder.join("planted"));
        // Compiling is most of it.
        command.env("CARGO_TARGET_DIR", self.folder.join("target")).env("CARGO_PROFILE_DEV_OPT_LEVEL", "0");
        if suite == "lib" {
            command.arg("--lib")
        } else {
            command.args(["--test", suite])
        };
        command
    }

    fn build(&self) {
        for (suite, _) in SUITES {
            let built = self.cargo(suite).args(["--no-run", "--quiet"]).status().expect("cargo");
            assert!(built.success(), "the copy with all defects does not compile");
        }
    }

    /// Whether a suite passes.
    fn passes(&self, suite: &str, filters: &[&str]) -> bool {
        let mut command = self.cargo(suite);
        command.args(["--quiet", "--"]).args(filters).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("cargo");
        let deadline = Instant::now() + LIMIT;
        while Instant::now() < deadline {
            if let Some(status) = child.try_wait().expect("its end") {
                return status.success();
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let _ = child.kill();
        let _ = child.wait();
        false
    }

    /// The first suite that finds what is planted.
    fn found_by(&self) -> Option<&'static str> {
        SUITES.iter().find(|(suite, filters)| !self.passes(suite, filters)).map(|(suite, _)| *suite)
    }
}

/// The defects to plant: all, or those that `DEFECTS` names.
fn chosen() -> Vec<&'static Defect> {
    let named = std::env::var("DEFECTS").unwrap_or_default();
    let named: Vec<&str> = named.split_whitespace().collect();
    let unknown: Vec<&&str> = named.iter().filter(|name| DEFECTS.iter().all(|defect| defect.name != **name)).collect();
    assert!(unknown.is_empty(), "there are no such defects: {unknown:?}");
    DEFECTS.iter().filter(|defect| named.is_empty() || named.contains(&defect.name)).collect()
}

/// The page with the rows of this run in its table, and how many of all were found when they were last planted.
fn with_rows(page: &str, rows: &[(&str, String)]) -> String {
    let (head, table) = page.split_once(LAST_RUN).unwrap_or((page, ""));
    let row = |defect: &Defect| {
        let begins = format!("| `{}` |", defect.name);
        let ran = rows.iter().find(|(name, _)| *name == defect.name).map(|(_, row)| row.as_str());
        let before = table.lines().find(|line| line.starts_with(&begins)).map(str::to_owned);
        let never = || format!("| `{}` | {} | not run yet |", defect.name, defect.safeguard);
        ran.map(str::to_owned).or(before).unwrap_or_else(never)
    };
    let rows: Vec<String> = DEFECTS.iter().map(row).collect();
    let found = rows.iter().filter(|row| row.contains("| found by ")).count();
    let count = format!("{} defects, {found} found.", DEFECTS.len());
    format!("{head}{LAST_RUN}\n\n{count}\n\n| defect | takes away | outcome |\n|---|---|---|\n{}\n", rows.join("\n"))
}

#[test]
fn some_defects_replace_their_own_rows_of_the_table_only() {
    let survived = format!("| `{}` | {} | **survived** |", DEFECTS[0].name, DEFECTS[0].safeguard);
    let page = with_rows("A head.\n\n## The last run\n", &[(DEFECTS[0].name, survived.clone())]);
    assert!(page.starts_with("A head.\n") && page.contains(&survived), "{page}");
    assert!(page.contains(&format!("{} defects, 0 found.", DEFECTS.len())), "{page}");
    let found = format!("| `{}` | {} | found by `lib` |", DEFECTS[1].name, DEFECTS[1].safeguard);
    let page = with_rows(&page, &[(DEFECTS[1].name, found.clone())]);
    assert!(page.contains(&survived) && page.contains(&found), "{page}");
    assert!(page.contains(&format!("{} defects, 1 found.", DEFECTS.len())), "{page}");
    assert_eq!(page.matches("not run yet").count(), DEFECTS.len() - 2);
}

#[test]
#[ignore = "compiles a copy of everything and runs its tests once for each defect: `make mutations`"]
fn every_defect_is_found() {
    let (chosen, bench) = (chosen(), Bench::new());
    bench.build();
    assert_eq!(bench.found_by(), None, "without a defect everything passes");
    let (mut rows, mut survived) = (Vec::new(), Vec::new());
    for defect in chosen {
        bench.plant(defect.name);
        let found = bench.found_by();
        let by = found.map_or("**survived**".to_owned(), |suite| format!("found by `{suite}`"));
        let row = format!("| `{}` | {} | {by} |", defect.name, defect.safeguard);
        // The table is what this is run for.
        let _ = writeln!(std::io::stdout(), "{row}");
        rows.push((defect.name, row));
        survived.extend(found.is_none().then_some(defect.name));
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let page = root().join("docs/mutations.md");
        let text = fs::read_to_string(&page).expect("the page");
        fs::write(&page, with_rows(&text, &rows)).expect("the page");
    }
    assert!(survived.is_empty(), "{survived:?} survived");
}
