//! What has to arrive, from the rules (events rules, sections 2 to 6) and from nothing of the product.
//!
//! It follows what people do, in GitHub's time. Where the rules leave open what becomes of something said, because whether
//! it was heard before or after something else decides, it says so and why.

use std::collections::{BTreeMap, BTreeSet};

use crate::fake_github::state::Seconds;

/// A ticket: the repository and the number.
pub type Place = (&'static str, u64);

/// Where an issue stands by the words said on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Nobody said start, or it ended.
    Off,
    /// It has a session, or is to have one.
    Live,
    /// It has one that is held.
    Paused,
    /// The rules leave it open; only a start makes it sure.
    Unsure,
}

#[derive(Debug, Clone)]
pub struct Issue {
    pub state: State,
    /// Whether everything that was said of its state was heard.
    pub settled: bool,
    pub is_open: bool,
    pub labelled: bool,
    /// When it was last stopped, paused or closed.
    pub disarmed_at: Seconds,
    /// When a start was said last that is recorded, whether it began something or not.
    pub started_at: Seconds,
    /// Whether the newest word is a start that was refused: whoever begins to listen may obey it.
    pub refused_start: bool,
    /// Whether each machine may have a session: a word that it only knows by a file holds it, and ends nothing.
    pub lives_on: [bool; 2],
    /// Whether its newest word is a resume.
    pub resumes: bool,
    /// Whether it was stopped or closed since everything was heard.
    pub ends: bool,
}

#[derive(Debug, Clone)]
pub struct Pull {
    /// The issue it delivers by the rules.
    pub owner: Option<u64>,
    /// Whether everybody who has to has heard of that.
    pub linked: bool,
    /// Whether its head was heard of.
    pub head_known: bool,
    pub is_open: bool,
    pub was_closed: bool,
}

/// What is to become of something said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It arrives, once.
    Must,
    /// It may arrive, at most once; why.
    Open(&'static str),
    /// It does not arrive; why.
    Never(&'static str),
}

/// What kind of thing was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Comment,
    Line,
    Review,
    Check,
}

#[derive(Debug, Clone)]
pub struct Message {
    pub place: Place,
    pub owner: Option<u64>,
    pub kind: Kind,
    pub at: Seconds,
    pub fate: Fate,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// By name, or by permission.
    Admitted,
    Nobody,
}

/// How much there was.
#[derive(Debug, Clone, Default)]
pub struct Figures {
    pub happenings: u64,
    pub must: u64,
    pub never: u64,
    /// What the rules leave open, by why.
    pub open: BTreeMap<&'static str, u64>,
    /// What nobody can know, because its pane died in the middle.
    pub unknown: u64,
    pub told: u64,
    pub requests: u64,
    pub takeovers: u64,
}

impl Figures {
    pub fn add(&mut self, other: &Self) {
        self.happenings += other.happenings;
        self.must += other.must;
        self.never += other.never;
        other.open.iter().for_each(|(why, count)| *self.open.entry(why).or_default() += count);
        self.unknown += other.unknown;
        self.told += other.told;
        self.requests += other.requests;
        self.takeovers += other.takeovers;
    }
}

#[derive(Default)]
pub struct Oracle {
    pub issues: BTreeMap<Place, Issue>,
    pub pulls: BTreeMap<Place, Pull>,
    /// By mark.
    pub messages: BTreeMap<u64, Message>,
    /// Words of authorised people, by issue and word: each acts at most once.
    pub words: BTreeMap<(Place, &'static str), u64>,
    /// Marks of texts that were put in place of others: nobody says them.
    pub edits: BTreeSet<u64>,
    /// Which machine is on.
    pub on: usize,
    /// When everything was heard last.
    settled_at: Seconds,
    takeovers: u64,
}

/// What ended or was changed before everything was heard.
pub const ENDS: &str = "the session ends meanwhile";
pub const BEGINS: &str = "said while its session begins or changes";
pub const UNSURE: &str = "held while another machine took over";
pub const CHANGED: &str = "edited or taken back before it was heard";
pub const LINKS: &str = "said while its pull request becomes known";
pub const HELD: &str = "held by a machine that knows of the end by a file only";
pub const STALE: &str = "said before a word that only the other machine heard";
pub const OLD_WORD: &str = "its newest word was refused, and another machine begins to listen";
pub const TIE: &str = "said in the second of the start";
pub const HEADS: &str = "a check of a head that was replaced, closed or taken over";

impl Oracle {
    /// Something that is no word is said on a ticket.
    pub fn said(&mut self, mark: u64, who: Who, place: Place, kind: Kind, at: Seconds) {
        let owner = self.owner(place);
        let fate = if who == Who::Nobody { Fate::Never("nobody admitted said it") } else { self.fate(place, kind) };
        self.messages.insert(mark, Message { place, owner, kind, at, fate });
    }

    /// The issue whose record hears what is said on a ticket.
    pub fn owner(&self, place: Place) -> Option<u64> {
        match self.pulls.get(&place) {
            Some(pull) => pull.owner,
            None => Some(place.1),
        }
    }

    fn fate(&self, place: Place, kind: Kind) -> Fate {
        let pull = self.pulls.get(&place);
        let Some(owner) = self.owner(place) else { return Fate::Never("its pull request is nobody's") };
        let issue = &self.issues[&(place.0, owner)];
        let by_issue = match (issue.state, issue.settled) {
            (State::Unsure, _) => return Fate::Open(UNSURE),
            (_, false) => return Fate::Open(BEGINS),
            // What is held waits for a start, and goes on with it.
            (State::Off, true) if issue.lives_on[self.on] => return Fate::Open(HELD),
            (State::Off, true) => Fate::Never(OVER),
            (State::Live | State::Paused, true) => Fate::Must,
        };
        match pull {
            Some(_) if by_issue != Fate::Must => by_issue,
            Some(pull) if !pull.linked => Fate::Open(LINKS),
            Some(pull) if kind == Kind::Check && !(pull.head_known && pull.is_open) => Fate::Open(HEADS),
            _ => by_issue,
        }
    }

    /// What was to arrive on tickets of `owner` and has not is left open.
    pub fn disrupt(&mut self, owner: Place, typed: &BTreeSet<u64>, why: &'static str) {
        self.leave_open(typed, why, |message| message.is_of(owner));
    }

    /// What was to arrive and is such, and has not, is left open.
    pub fn leave_open(&mut self, typed: &BTreeSet<u64>, why: &'static str, is_such: impl Fn(&Message) -> bool) {
        for (mark, message) in &mut self.messages {
            if message.fate == Fate::Must && !typed.contains(mark) && is_such(message) {
                message.fate = Fate::Open(why);
            }
        }
    }

    /// Something said is edited or taken back: a webhook that is lost leaves nobody who knows what it said.
    pub fn changed(&mut self, mark: u64, typed: &BTreeSet<u64>) {
        let message = self.messages.get_mut(&mark);
        if let Some(message) = message.filter(|message| message.fate == Fate::Must && !typed.contains(&mark)) {
            message.fate = Fate::Open(CHANGED);
        }
    }

    /// A control word on an issue, with the mark of what the comment says beside it.
    pub fn word(&mut self, mark: u64, place: Place, word: &'static str, at: Seconds, typed: &BTreeSet<u64>) {
        *self.words.entry((place, word)).or_default() += 1;
        let issue = self.issues[&place].clone();
        self.issue(place).refused_start = false;
        self.issue(place).resumes = false;
        let fate = match word {
            "start" => self.start(place, &issue, at),
            "resume" => self.resume(place, &issue, at, typed),
            _ => {
                self.disarm(place, word, at, typed);
                Fate::Never("it is said beside a word that holds or ends")
            }
        };
        self.messages.insert(mark, Message { place, owner: Some(place.1), kind: Kind::Comment, at, fate });
    }

    fn start(&mut self, place: Place, issue: &Issue, at: Seconds) -> Fate {
        if at <= issue.disarmed_at {
            return Fate::Open("a start in the second of a stop");
        }
        let begins = issue.state != State::Live;
        if !issue.is_open || (begins && !issue.labelled) {
            let settled = std::mem::replace(&mut self.issue(place).settled, false);
            self.issue(place).refused_start = true;
            if issue.lives_on[self.on] {
                // What is held goes on, whatever decides who may begin.
                self.set(place, State::Unsure);
            }
            return match settled && issue.state == State::Off && issue.lives_on == [false; 2] {
                true => Fate::Never(REFUSED),
                false => Fate::Open(BEGINS),
            };
        }
        self.issue(place).started_at = at;
        if begins {
            self.set(place, State::Live);
            // In the same second nobody can tell which was first.
            self.allow(place, TIE, |message| message.at == at);
        }
        Fate::Must
    }

    fn resume(&mut self, place: Place, issue: &Issue, at: Seconds, typed: &BTreeSet<u64>) -> Fate {
        match (issue.state, issue.settled) {
            (State::Paused, true) if at > issue.disarmed_at => {
                self.set(place, State::Live);
                self.issue(place).resumes = true;
                Fate::Must
            }
            (State::Off, true) if !issue.lives_on[self.on] => Fate::Never("nothing is held"),
            (State::Live, true) if self.takeovers == 0 => Fate::Never("nothing is held"),
            (State::Live, true) => Fate::Open(BEGINS),
            // Whoever hears it before the pause refuses it.
            _ => {
                self.disrupt(place, typed, BEGINS);
                if issue.state != State::Off || issue.lives_on[self.on] {
                    self.set(place, State::Unsure);
                }
                Fate::Open(BEGINS)
            }
        }
    }

    fn disarm(&mut self, place: Place, word: &str, at: Seconds, typed: &BTreeSet<u64>) {
        let state = self.issues[&place].state;
        match (word, state) {
            // Heard before the start, it beats it.
            ("pause", State::Live) if !self.issues[&place].settled => {
                self.disrupt(place, typed, BEGINS);
                self.set(place, State::Unsure);
            }
            ("pause", State::Live) => self.set(place, State::Paused),
            ("pause", _) => self.issue(place).settled = false,
            _ => {
                self.disrupt(place, typed, ENDS);
                self.set(place, State::Off);
                self.issue(place).ends = true;
            }
        }
        self.issue(place).disarmed_at = at;
    }

    /// An issue is closed or opened again.
    pub fn closed(&mut self, place: Place, is_open: bool, at: Seconds, typed: &BTreeSet<u64>) {
        self.issue(place).is_open = is_open;
        match is_open {
            // What was closed for a moment only, a list does not show.
            true if !self.issues[&place].settled => self.set(place, State::Unsure),
            true => self.issue(place).settled = false,
            false => self.disarm(place, "close", at, typed),
        }
    }

    fn set(&mut self, place: Place, state: State) {
        let on = self.on;
        let issue = self.issue(place);
        issue.lives_on[on] |= matches!(state, State::Live | State::Unsure);
        (issue.state, issue.settled) = (state, false);
        for ((repo, _), pull) in &mut self.pulls {
            if *repo == place.0 && pull.owner == Some(place.1) {
                pull.linked = false;
            }
        }
    }

    pub fn issue(&mut self, place: Place) -> &mut Issue {
        self.issues.get_mut(&place).expect("an issue")
    }

    pub fn pull(&mut self, place: Place) -> &mut Pull {
        self.pulls.get_mut(&place).expect("a pull request")
    }

    /// The label that decides who may begin comes or goes.
    pub fn relabelled(&mut self, place: Place) {
        let issue = self.issue(place);
        issue.labelled = !issue.labelled;
        // A start that was not heard yet is judged by the label of when it is.
        if issue.refused_start && !issue.settled {
            self.set(place, State::Unsure);
            self.allow(place, OLD_WORD, |_| true);
        }
        self.issue(place).settled = false;
    }

    /// Whether something was said or done of which it is not sure that everybody has heard.
    pub fn is_restless(&self) -> bool {
        let is_unsure = |(place, pull): (&Place, &Pull)| {
            let live = pull.owner.is_some_and(|owner| self.issues[&(place.0, owner)].state == State::Live);
            live && !(pull.linked && pull.head_known)
        };
        self.issues.values().any(|issue| !issue.settled) || self.pulls.iter().any(is_unsure)
    }

    /// Everything was heard, and everything that follows was done.
    pub fn settle(&mut self, now: Seconds) {
        self.settled_at = now;
        for issue in self.issues.values_mut() {
            issue.settled = true;
            issue.lives_on[self.on] &= !std::mem::take(&mut issue.ends) || issue.state != State::Off;
            issue.lives_on[self.on] |= matches!(issue.state, State::Live | State::Unsure);
        }
        for ((repo, _), pull) in &mut self.pulls {
            let state = pull.owner.map(|owner| self.issues[&(*repo, owner)].state);
            pull.linked |= matches!(state, Some(State::Live | State::Paused));
            pull.head_known = true;
        }
    }

    /// Another machine goes on. It has to hear of pull requests by itself, and what is held it does not hold.
    pub fn taken_over(&mut self, to: usize, typed: &BTreeSet<u64>) {
        (self.takeovers, self.on) = (self.takeovers + 1, to);
        let settled_at = self.settled_at;
        for issue in self.issues.values_mut() {
            issue.lives_on[to] |= matches!(issue.state, State::Live | State::Unsure);
        }
        for (place, issue) in self.issues.clone() {
            match issue.state {
                // A resume that nobody heard finds nothing that is held.
                State::Live if issue.resumes && !issue.settled => {
                    self.disrupt(place, typed, UNSURE);
                    self.set(place, State::Unsure);
                }
                State::Paused => {
                    self.disrupt(place, typed, UNSURE);
                    self.set(place, State::Unsure);
                }
                State::Off if issue.refused_start => {
                    self.set(place, State::Unsure);
                    self.allow(place, OLD_WORD, |_| true);
                }
                // The file names the last start, and this machine has no other baseline; or one from before.
                State::Live => {
                    let is_older = |message: &Message| message.at < issue.started_at;
                    self.leave_open(typed, STALE, |message| message.is_of(place) && is_older(message));
                    // Checks of what is over are seen by nobody, and this machine may have had no end in between.
                    let is_unheard = |message: &Message| message.kind == Kind::Check && issue.lives_on[to];
                    self.allow(place, STALE, |m| is_older(m) && (!issue.settled || is_unheard(m)));
                }
                State::Off if issue.lives_on[to] => self.allow(place, HELD, |message| message.at >= settled_at),
                State::Off | State::Unsure => {}
            }
        }
        self.pulls.values_mut().for_each(|pull| (pull.linked, pull.head_known) = (false, false));
        self.leave_open(typed, HEADS, |message| message.kind == Kind::Check);
    }

    /// What was not to arrive because its issue was over may.
    fn allow(&mut self, place: Place, why: &'static str, is_such: impl Fn(&Message) -> bool) {
        for message in self.messages.values_mut().filter(|message| message.is_of(place) && is_such(message)) {
            if matches!(message.fate, Fate::Never(OVER | REFUSED)) {
                message.fate = Fate::Open(why);
            }
        }
    }
}

impl Message {
    fn is_of(&self, place: Place) -> bool {
        (self.place.0, self.owner) == (place.0, Some(place.1))
    }
}

const OVER: &str = "nobody began its issue";
const REFUSED: &str = "its start is refused";
