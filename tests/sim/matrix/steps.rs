//! What is interrupted, where, and by what.

/// What the app is doing when it is interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// An item is started by a word on it.
    Spawn,
    /// A comment goes to an agent that runs.
    Deliver,
    /// A pull request is recorded on its item, and the first word on it spawns its conversation.
    Link,
    /// An item with a pull request's conversation is closed, and started again later.
    Close,
    /// A comment finds its harness dead.
    Respawn,
}

impl Operation {
    pub const ALL: [Self; 5] = [Self::Spawn, Self::Deliver, Self::Link, Self::Close, Self::Respawn];

    pub const fn title(self) -> &'static str {
        match self {
            Self::Spawn => "Spawn: `the-loop start` on an issue",
            Self::Deliver => "Deliver: a comment for an agent that runs",
            Self::Link => "Link: a pull request is opened, then spoken to without its linkage",
            Self::Close => "Close: an issue with a pull request's conversation is closed, later reopened and started",
            Self::Respawn => "Respawn: a comment finds its harness dead",
        }
    }
}

/// What interrupts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interruption {
    /// The daemon is killed, or the power goes.
    Kill,
    /// The tmux server is gone with every pane.
    ServerKilled,
    /// The pane is gone.
    PaneKilled,
    /// No write succeeds for a while.
    DiskFull,
    /// This machine's clock goes back an hour.
    ClockBack,
    /// git refuses what the next so many starts need.
    GitFails { starts: u32 },
    /// The harness ends, and so do the next so many at once after their start.
    HarnessExits { starts: u32 },
}

/// More starts than anybody tries.
const FOR_GOOD: u32 = 1000;

impl Interruption {
    pub const ALL: [Self; 9] = [
        Self::Kill,
        Self::ServerKilled,
        Self::PaneKilled,
        Self::DiskFull,
        Self::ClockBack,
        Self::GitFails { starts: 1 },
        Self::GitFails { starts: FOR_GOOD },
        Self::HarnessExits { starts: 1 },
        Self::HarnessExits { starts: FOR_GOOD },
    ];

    pub const fn title(self) -> &'static str {
        match self {
            Self::Kill => "kill -9, power cut",
            Self::ServerKilled => "tmux server killed",
            Self::PaneKilled => "pane killed",
            Self::DiskFull => "disk full",
            Self::ClockBack => "clock an hour back",
            Self::GitFails { starts: 1 } => "git fails once",
            Self::GitFails { .. } => "git fails for good",
            Self::HarnessExits { starts: 1 } => "harness exits at once",
            Self::HarnessExits { .. } => "harness exits every time",
        }
    }

    /// Whether it stops the store from writing.
    pub const fn is_of_storage(self) -> bool {
        matches!(self, Self::Kill | Self::DiskFull)
    }

    /// Whether the app or the terminal cannot end what it is doing.
    pub const fn reaches_the_terminal(self) -> bool {
        matches!(self, Self::Kill | Self::ServerKilled | Self::PaneKilled | Self::HarnessExits { .. })
    }

    /// Whether no harness starts any more.
    pub const fn is_for_good(self) -> bool {
        matches!(self, Self::GitFails { starts: FOR_GOOD } | Self::HarnessExits { starts: FOR_GOOD })
    }

    /// Whether the pane that could say what it took is of another life afterwards.
    pub const fn ends_a_life(self) -> bool {
        matches!(self, Self::ServerKilled | Self::PaneKilled | Self::HarnessExits { .. })
    }
}

/// When it happens. Decisions and works are counted from 0 since the operation began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// The decision about the delivery is being written.
    Deciding(usize),
    /// It is written and answered.
    Decided(usize),
    /// The claim of a work is being written.
    Claiming(usize),
    /// It is written, and nothing was done outside.
    Begun(usize),
    /// Half of it is done outside.
    Half(usize),
    /// All of it is done outside.
    Done(usize),
    /// Its settlement is being written.
    Settling(usize),
    /// It is written.
    Settled(usize),
}

impl Moment {
    /// Whether it is a write, which can fail at any of its storage changes.
    pub const fn is_writing(self) -> bool {
        matches!(self, Self::Deciding(_) | Self::Claiming(_) | Self::Settling(_))
    }

    /// All moments of an operation that decides so many deliveries and does these works, with their names.
    pub fn all(decisions: usize, works: &[Work]) -> Vec<(Self, String)> {
        let mut all = Vec::new();
        for at in 0..decisions {
            let which = if decisions == 1 { String::new() } else { format!(" {}", at + 1) };
            all.push((Self::Deciding(at), format!("decision{which}: being written")));
            all.push((Self::Decided(at), format!("decision{which}: written, answered")));
        }
        for (at, work) in works.iter().enumerate() {
            let mut push = |moment, what: &str| all.push((moment, format!("{work}: {what}")));
            push(Self::Claiming(at), "claim being written");
            push(Self::Begun(at), "claimed, nothing done");
            match work.verb {
                Verb::Spawn => push(Self::Half(at), "started, not heard of"),
                Verb::Deliver => push(Self::Half(at), "pasted, not submitted"),
                Verb::End => {}
            }
            push(Self::Done(at), "done");
            push(Self::Settling(at), "settlement being written");
            push(Self::Settled(at), "settled");
        }
        all
    }
}

/// The verbs of the runner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Spawn,
    Deliver,
    End,
}

/// One thing that was done outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    pub verb: Verb,
    /// The issue or pull request whose pane it is about.
    pub number: u64,
}

impl Work {
    /// A work on a session, which is named after its reference.
    pub fn new(verb: Verb, session: &str) -> Self {
        let number = session.rsplit('-').next().and_then(|number| number.parse().ok()).unwrap_or_default();
        Self { verb, number }
    }
}

impl std::fmt::Display for Work {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let verb = match self.verb {
            Verb::Spawn => "spawn",
            Verb::Deliver => "delivery",
            Verb::End => "end",
        };
        write!(f, "{verb} #{}", self.number)
    }
}
