//! Measures the secret scan for `docs/secrets.md`: how many made tokens of each shape it finds, and what it reports in
//! folders of sources that hold none. `cargo run --example scan -- FOLDER…`

#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use the_loop::domain::secrets::find;

const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const EACH: u32 = 1000;

/// Name, beginning, alphabet, length; beginnings are put together so that no token stands in this file.
const SHAPES: &[(&str, [&str; 2], &str, usize)] = &[
    ("GitHub, classic", ["gh", "p_"], LETTERS, 36),
    ("GitHub, fine-grained", ["github", "_pat_"], LETTERS, 82),
    ("GitHub, stateless", ["gh", "s_"], LETTERS, 490),
    ("GitLab", ["gl", "pat-"], LETTERS, 20),
    ("AWS access key", ["AK", "IA"], UPPER, 16),
    ("Google API key", ["AI", "za"], LETTERS, 35),
    ("Slack", ["xo", "xb-"], LETTERS, 40),
    ("Stripe", ["sk_", "live_"], LETTERS, 24),
    ("npm", ["np", "m_"], LETTERS, 36),
    ("Anthropic", ["sk-", "ant-"], LETTERS, 90),
    ("a password by its name, 12 characters", ["DB_PASS", "WORD="], LETTERS, 12),
    ("a token by its name, 24 characters", ["api_to", "ken: "], LETTERS, 24),
    ("a password in an address, 12 characters", ["https://mona", ":"], LETTERS, 12),
    ("a token of no known shape, without a name", ["", ""], LETTERS, 40),
];

/// A generator that gives the same tokens in every run.
struct Sequence(u64);

impl Sequence {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % bound
    }

    fn text(&mut self, alphabet: &str, length: usize) -> String {
        let letters = alphabet.as_bytes();
        (0..length).map(|_| char::from(letters[self.below(letters.len())])).collect()
    }
}

fn main() {
    let mut sequence = Sequence(1);
    for (name, beginning, alphabet, length) in SHAPES {
        let is_found = |text: &str| !find(text).is_empty();
        let found = (0..EACH).filter(|_| {
            let end = if beginning[1] == ":" { "@example.org/r" } else { "" };
            is_found(&format!("see {}{}{end} here", beginning.concat(), sequence.text(alphabet, *length)))
        });
        println!("{name}: {} of {EACH}", found.count());
    }
    let (mut files, mut bytes, mut hits) = (0_u64, 0_u64, BTreeMap::<&str, u64>::new());
    let mut folders: Vec<PathBuf> = std::env::args().skip(1).map(PathBuf::from).collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.path() {
                path if path.is_dir() && !path.is_symlink() => folders.push(path),
                path => {
                    let Ok(text) = std::fs::read_to_string(&path) else { continue };
                    (files, bytes) = (files + 1, bytes + text.len() as u64);
                    report(&path, &text, &mut hits);
                }
            }
        }
    }
    println!("{files} files, {} MiB: {hits:?}", bytes >> 20);
}

/// Says where something was found, so that it can be looked at; never what.
fn report(path: &Path, text: &str, hits: &mut BTreeMap<&str, u64>) {
    for hit in find(text) {
        *hits.entry(hit.rule).or_default() += 1;
        let line = text[..hit.range.start].matches('\n').count() + 1;
        println!("  {}:{line}: {}", path.display(), hit.rule);
    }
}
