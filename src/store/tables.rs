//! Every table of the store: what its key and value are, who writes it, how long its rows live.
//!
//! All tables map bytes to bytes, most in a tree of their own. What a decision about one item writes lies beside the
//! item's row in the tree of `items` instead ([`TableId::beside`]): a page is the least that is written, and so one
//! item among many costs few of them. Keys are lower-case reference texts, other texts, and big-endian numbers (see
//! [`super::keys`]); values are JSON of the shapes in [`super::rows`] unless said otherwise. Names never change their
//! meaning: a new meaning is a new table and a migration step.

use redb::TableDefinition;

/// All tables are of one type.
pub(super) type Bytes = &'static [u8];
/// Definition of one table.
pub(super) type Definition = TableDefinition<'static, Bytes, Bytes>;

macro_rules! tables {
    ($($(#[$doc:meta])* $variant:ident => $name:literal,)*) => {
        /// A table of the store.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum TableId { $($(#[$doc])* $variant,)* }

        impl TableId {
            /// All of them, in the order of their numbers.
            pub const ALL: &'static [TableId] = &[$(TableId::$variant,)*];

            /// The name in the file.
            pub const fn name(self) -> &'static str {
                match self { $(TableId::$variant => $name,)* }
            }
        }
    };
}

tables! {
    /// `schema` (decimal text) and `id` (a UUID). The table and both keys never move: every version of the program
    /// finds the schema here before it reads anything else. Written when the file is made and by migrations.
    Store => "the-loop",
    /// Key: name. Value: text, opaque to the store. Written by the application (poll cursors and the like). Rows live
    /// until replaced.
    Meta => "meta",
    /// Key: name of a counter. Value: 8 bytes, the next number. Written with whatever takes a number. Never removed.
    Counters => "counters",
    /// Key: item. Value: `ItemRow`, facts, sections and the item's own session. Written by decisions, settling,
    /// adoption. Pruned only when the row holds nothing but facts of a closed item that nobody refers to.
    Items => "items",
    /// Key: owner, NUL, pull request. Value: `SessionRow` of the pull request's endpoint. Written together with
    /// `owners`. Lives with its record.
    Endpoints => "endpoints",
    /// Key: pull request, NUL, owner. Value: empty. The way back of `endpoints`: the owner of a pull request is one
    /// look-up at any size.
    Owners => "owners",
    /// Key: head commit, lower-case hex. Value: `HeadRow`. Written by decisions on pull requests. Pruned by age.
    Heads => "heads",
    /// Key: host, `/`, GitHub's numeric id of a repository that has items here. Value: `RepositoryRow`, its names.
    /// Written by decisions. One row per repository, never removed.
    Repositories => "repositories",
    /// Key: identity of what spoke. Value: `MarkedRow` with `spoken` or `refused`. Written by decisions. Pruned by age,
    /// behind the watermark.
    Identities => "identities",
    /// Key: delivery id. Value: `MarkedRow` with `decided`, `refused` or `undecidable`. Written with every decision.
    /// Pruned by age.
    Deliveries => "deliveries",
    /// Key: node id of a comment we posted. Value: `AtRow`. Written by telling. Pruned by age.
    Posted => "posted",
    /// Key: item, NUL, node id. Value: empty. The live `seenComments`. Only grows while the item lives.
    Seen => "seen",
    /// Key: lane, NUL, class (1 byte), sequence number (8 bytes). Value: `EffectRow`, or, where that is long, the number of its
    /// pack (8 bytes). Written by decisions, changed by retries, removed by settling. Order of keys is order of work.
    Effects => "effects",
    /// Key: lane. Value: 8 bytes, how many effects wait there; no row for none. Written with `effects`.
    LaneCounts => "lane_counts",
    /// Key: lane. Value: `ClaimRow`, what is being done there. Written before something is done, removed by settling.
    Claims => "claims",
    /// Key: number (8 bytes). Value: `DeadLetterRow`. Written when an effect is given up, removed by a person's word.
    DeadLetters => "dead_letters",
    /// Key: like `effects`. Value: `SettledRow`. Written by settling, for people. Pruned by age.
    Settled => "settled",
    /// Key: item. Value: `MarkRow`: its portable file has to follow. Removed by the exporter.
    Marks => "marks",
    /// Key: urgency (1 byte), number (8 bytes). Value: item. The marks in the order they are served, written and removed
    /// with them: the exporter finds the next ones without a walk over all.
    Due => "due",
    /// Key: directory, NUL, item. Value: `StampRow`: what the portable file looked like when last read or written.
    Stamps => "stamps",
    /// Key: directory, NUL, digest of an adopted file of the earlier system. Value: `AtRow`. Never pruned, so that no
    /// `reset` brings an old session back.
    Adopted => "adopted",
    /// Key: number of the last entry (8 bytes). Value: a list of `JournalRow`s, numbered without a gap: the decision
    /// trail on its way into the event log. A row holds what one commit added, in parts of about 30 KiB. Trimmed by the log's writer.
    Journal => "journal",
    /// Key: delivery id. Value: `UndecidableRow`: what a bug kept from being decided. Removed by a person's retry.
    Undecidables => "undecidables",
    /// Key: repository, lower case (`github:octo/hello`). Value: `polling::Progress`, how far it was polled. Written with
    /// what a poll brought. One row per repository, never removed.
    Polls => "polls",
    /// Key: reference the payload names, NUL, number (8 bytes). Value: `decide::Waiting`: an event that waits for a fact
    /// only GitHub has, or behind one that does. Removed when it is decided.
    Waiting => "waiting",
    /// Key: delivery id. Value: the request's body, raw. Written and removed with `undecidables`.
    Bodies => "bodies",
    /// Key: number (8 bytes). Value: `TellRow`, something to tell people on GitHub. Written by decisions and settling,
    /// changed by tries that failed, removed by telling. Pruned by age.
    Tells => "tells",
    /// Key: number (8 bytes). Value: the `EffectRow`s of effects that are long, each behind the effect's number, with a long
    /// text apart (see `store/packs.rs`). Written and removed with `effects`.
    Packs => "packed_effects",
}

/// The place of a table in the tree of items. Its keys lie there with the place behind the item's NUL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Beside {
    /// Small rows that are written together come last, behind the effects, so that a new effect comes right before them.
    pub place: u8,
    /// Whether the key goes on behind the item.
    pub pairs: bool,
}

impl TableId {
    /// Where its rows lie in the tree of items; `None` for a tree of its own.
    pub(super) const fn beside(self) -> Option<Beside> {
        match self {
            Self::Effects => Some(Beside { place: 1, pairs: true }),
            Self::Seen => Some(Beside { place: 2, pairs: true }),
            Self::LaneCounts => Some(Beside { place: 3, pairs: false }),
            Self::Marks => Some(Beside { place: 4, pairs: false }),
            Self::Items => Some(Beside { place: 5, pairs: false }),
            _ => None,
        }
    }

    /// The table whose tree holds its rows.
    pub(super) const fn tree(self) -> Self {
        match self.beside() {
            Some(_) => Self::Items,
            None => self,
        }
    }

    /// How many there are.
    pub const COUNT: usize = Self::ALL.len();

    /// What redb opens it by.
    pub(super) const fn definition(self) -> Definition {
        TableDefinition::new(self.name())
    }
}

/// Key of the schema version in [`TableId::Store`].
pub(super) const SCHEMA_KEY: &[u8] = b"schema";
/// Key of the store's id in [`TableId::Store`].
pub(super) const ID_KEY: &[u8] = b"id";
