//! What each example of github.com is about: `tests/data/octokit-examples-routing.tsv`.

use the_loop::domain::event::SubjectKind;

use super::examples::{Corpus, Example, digest};

const TABLE: &str = include_str!("../../data/octokit-examples-routing.tsv");

/// One line of the table.
pub struct Row {
    /// GitHub's event name.
    pub event: &'static str,
    /// Its place among the examples of the event.
    pub index: usize,
    /// The action, when it has one.
    pub action: Option<&'static str>,
    /// Digest of the repository's full name, when it has one.
    pub repository: Option<&'static str>,
    /// The issue or pull request its `issue` or `pull_request` object is.
    pub item: Option<(SubjectKind, u64)>,
    /// Whether somebody sent it.
    pub has_sender: bool,
    /// Length of the compact payload.
    bytes: usize,
    /// Digest of the compact payload.
    pub sha256: &'static str,
}

/// The table.
pub fn table() -> Vec<Row> {
    TABLE.lines().filter(|line| !line.starts_with('#')).map(row).collect()
}

fn row(line: &'static str) -> Row {
    let columns: Vec<&str> = line.split('\t').collect();
    let [event, index, action, repository, item, number, sender, bytes, sha256] = columns[..] else { panic!("{line}") };
    let some = |text: &'static str| (text != "-").then_some(text);
    let kind = some(item).map(|item| match item {
        "issue" => SubjectKind::Issue,
        "pr" => SubjectKind::PullRequest,
        other => panic!("{other}"),
    });
    Row {
        event,
        index: index.parse().unwrap(),
        action: some(action),
        repository: some(repository),
        item: kind.map(|kind| (kind, number.parse().unwrap())),
        has_sender: some(sender).is_some(),
        bytes: bytes.parse().unwrap(),
        sha256,
    }
}

/// Every example with its line; each must be the very bytes the table was made from.
pub fn rows(corpus: &Corpus) -> Vec<(&Example, Row)> {
    let table = table();
    assert_eq!((corpus.public.len(), table.len()), (329, 329));
    let pairs: Vec<(&Example, Row)> = corpus.public.iter().zip(table).collect();
    for (example, row) in &pairs {
        assert_eq!((example.event.as_str(), example.index), (row.event, row.index));
        let found = (example.body.len(), digest(&example.body, 16));
        assert_eq!(found, (row.bytes, row.sha256.to_owned()), "{}", example.name);
    }
    pairs
}
