//! The ledger, read from its beginning and checked on the way, and added to. Nothing of it is kept but where it ends.

use std::cell::RefCell;

use super::Evolve;
use crate::app::kept::KeptError;
use crate::domain::evolve::{Broken, End, Entry, Head, Refusal, Replay, Tip, What, genesis, link, read_line};
use crate::domain::kept::Shelf;
use crate::domain::run::{Corrupt, FilesError};
use crate::domain::secrets::{Leaks, Scanned};

const HEAD: &str = "head.json";
/// Most entries that break a rule which are named.
const MOST_NAMED: usize = 20;
/// Shortest beginning of an id that names an entry.
const SHORTEST: usize = 8;

/// A ledger that was read to its end and holds together.
pub(super) struct Walked {
    pub(super) tip: Tip,
    end: End,
    head: Option<Vec<u8>>,
    /// Where it stands by the rules.
    pub(super) replay: Replay,
}

/// What `evolve verify` found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// How many entries there are.
    pub entries: u64,
    /// Id of the last one; none where there is none.
    pub last: Option<String>,
    /// Bytes of a last line that was cut off; the next append drops it.
    pub torn: u64,
    /// The first entries that break a rule.
    pub breaches: Vec<Breach>,
    /// How many there are of those.
    pub broken: u64,
}

/// An entry that breaks a rule, in a chain that is whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breach {
    /// Its number.
    pub sequence: u64,
    /// Its id.
    pub id: String,
    /// What it is about.
    pub what: &'static str,
    /// Which rule, in words.
    pub why: String,
}

/// An entry with its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its id.
    pub id: String,
    /// The entry.
    pub entry: Entry,
}

/// Whether `named` is the beginning of an id, long enough to mean it.
pub(super) fn names(named: &str, id: &str) -> bool {
    named.len() >= SHORTEST && id.starts_with(named)
}

impl Evolve<'_> {
    /// Reads the whole ledger and checks every link, and every entry by the rules over those before it.
    ///
    /// # Errors
    /// An entry was changed, put in, taken out or moved, or the ledger is another project's. Entries that break a rule are
    /// in what is answered.
    pub fn verify(&self) -> Result<Checked, KeptError> {
        let found = RefCell::new((Vec::new(), 0));
        let add = |breach: Breach| {
            let (breaches, broken) = &mut *found.borrow_mut();
            *broken += 1;
            if breaches.len() < MOST_NAMED {
                breaches.push(breach);
            }
        };
        // Every write is scanned, so what holds a secret was not written by this program.
        let mut scan = |id: &str, entry: Entry| {
            let (sequence, what) = (entry.sequence, entry.what.word());
            if let Err(leaks) = serde_json::to_value(entry).map_or(Err(Leaks::DidNotRun), Scanned::json) {
                add(Breach { sequence, id: id.to_owned(), what, why: leaks.to_string() });
            }
        };
        let walked = self.read_through(&mut scan, &mut |breach| {
            add(breach);
            true
        })?;
        let (breaches, broken) = found.into_inner();
        let last = (walked.tip.sequence > 0).then_some(walked.tip.id);
        Ok(Checked { entries: walked.tip.sequence, last, torn: walked.end.torn, breaches, broken })
    }

    /// The last entries, oldest first; or those whose id begins so.
    ///
    /// # Errors
    /// The ledger cannot be trusted, or nothing begins so.
    pub fn show(&self, named: Option<&str>, most: usize) -> Result<Vec<Listed>, KeptError> {
        let mut found = std::collections::VecDeque::new();
        self.walk(&mut |id, entry| {
            if named.is_none_or(|named| names(named, id)) {
                found.push_back(Listed { id: id.to_owned(), entry });
                if found.len() > most {
                    found.pop_front();
                }
            }
        })?;
        match named {
            Some(named) if found.is_empty() => Err(Refusal::None("entry", named.to_owned()).into()),
            _ => Ok(found.into()),
        }
    }

    /// Hands over every entry with its id, of a ledger that keeps every rule.
    pub(super) fn walk(&self, visit: &mut dyn FnMut(&str, Entry)) -> Result<Walked, KeptError> {
        let mut first = None;
        let walked = self.read_through(visit, &mut |breach| {
            first = Some(breach);
            false
        });
        match first {
            Some(Breach { sequence, what, why, .. }) => {
                Err(self.corrupt(format!("entry {sequence} ({what}) breaks a rule: {why}")))
            }
            None => walked,
        }
    }

    /// Hands over every entry with its id; what breaks a rule goes to `breach`, which says whether to go on.
    fn read_through(
        &self,
        visit: &mut dyn FnMut(&str, Entry),
        breach: &mut dyn FnMut(Breach) -> bool,
    ) -> Result<Walked, KeptError> {
        let mut replay = Replay::default();
        let begins = genesis(&self.today()?.1);
        let bytes = self.files.read_kept(Shelf::Evolution, HEAD)?;
        let head = bytes.as_deref().map(Head::parse).transpose();
        let head = head.map_err(|why| KeptError::Corrupt { path: self.files.path(Shelf::Evolution, HEAD), why })?;
        let (mut tip, mut broken, mut met) = (begins.clone(), None, None);
        let end = self.ledger.read_lines(&mut |line| match read_line(&tip, line) {
            Ok((next, entry)) => {
                tip = next;
                if head.as_ref().is_some_and(|head| head.sequence == tip.sequence) {
                    met = Some(tip.id.clone());
                }
                if let Err(why) = replay.take(&tip.id, &entry) {
                    let (sequence, id, what) = (tip.sequence, tip.id.clone(), entry.what.word());
                    if !breach(Breach { sequence, id, what, why }) {
                        return false;
                    }
                }
                visit(&tip.id, entry);
                true
            }
            Err(why) => {
                broken = Some(why);
                false
            }
        })?;
        match broken {
            Some(Broken::OtherProject) => return Err(KeptError::Foreign(self.ledger.ledger_path())),
            Some(why) => return Err(self.corrupt(why.to_string())),
            None => {}
        }
        match &head {
            None if tip.sequence > 0 => {
                return Err(self.corrupt("`head.json`, which says how far it goes, is gone".into()));
            }
            Some(head) if head.sequence > tip.sequence => {
                let (there, were) = (tip.sequence, head.sequence);
                return Err(self.corrupt(format!("it ends with entry {there}, and {were} were written")));
            }
            Some(head) if head.sequence == 0 && head.id != begins.id => {
                return Err(KeptError::Foreign(self.files.path(Shelf::Evolution, HEAD)));
            }
            Some(head) if head.sequence > 0 && met.as_ref() != Some(&head.id) => {
                return Err(self.corrupt(format!("entry {} is another one than was written", head.sequence)));
            }
            _ => {}
        }
        Ok(Walked { tip, end, head: bytes, replay })
    }

    /// Appends entries; answers their ids.
    pub(super) fn append(&self, walked: &Walked, whats: Vec<What>) -> Result<Vec<String>, KeptError> {
        let (mut tip, mut lines, mut ids) = (walked.tip.clone(), Vec::new(), Vec::new());
        for what in whats {
            let (next, line) = link(&tip, self.now, what)?;
            if line.get().len() > crate::domain::run::LARGEST {
                let hint = "a smaller patch or suite is needed".to_owned();
                return Err(KeptError::Refused { said: "the entry would be larger than 1 MiB".into(), hint });
            }
            ids.push(next.id.clone());
            (tip, _) = (next, lines.push(line));
        }
        if lines.is_empty() {
            return Ok(ids);
        }
        // Without this file beside entries somebody took it away; so it is there before the first entry.
        let before = match &walked.head {
            Some(head) => head.clone(),
            None => {
                // What cannot be excluded from git is said by the other commands.
                let _ = self.project.exclude();
                self.write_head(None, &walked.tip)?
            }
        };
        self.ledger.append_lines(walked.end, &lines)?;
        match self.write_head(Some(&before), &tip) {
            // Another writer got further meanwhile, behind these entries; its word is the later one, or the next one's.
            Ok(_) | Err(KeptError::Files(FilesError::Stale(_))) => Ok(ids),
            Err(error) => Err(error),
        }
    }

    fn write_head(&self, before: Option<&[u8]>, tip: &Tip) -> Result<Vec<u8>, KeptError> {
        let text = Scanned::json(Head::of(tip).document())?.pretty();
        self.files.replace_kept(Shelf::Evolution, HEAD, before, &text, tip.sequence)?;
        Ok(text.into_inner().into_bytes())
    }

    fn corrupt(&self, why: String) -> KeptError {
        KeptError::Corrupt { path: self.ledger.ledger_path(), why: Corrupt::Invalid(why) }
    }
}
