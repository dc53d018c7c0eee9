//! The few keys of GitHub's payloads that we read, each of them optional.
//!
//! GitHub leaves keys out, sends null, and adds keys without notice. Here a key that is missing, null or of another
//! type is absent, at every depth; what a row of the table cannot do without is asked for by that row.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::domain::ids::Login;
use crate::domain::text;
use crate::domain::time::Time;

/// A whole payload; `status` events keep their own keys at the top.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Payload {
    #[serde(deserialize_with = "text")]
    pub action: Option<String>,
    #[serde(deserialize_with = "leaf")]
    pub number: Option<u64>,
    #[serde(deserialize_with = "object")]
    pub repository: Option<Repo>,
    #[serde(deserialize_with = "object")]
    pub enterprise: Option<Linked>,
    #[serde(deserialize_with = "object")]
    pub sender: Option<User>,
    #[serde(deserialize_with = "object")]
    pub issue: Option<Item>,
    #[serde(deserialize_with = "object")]
    pub pull_request: Option<Item>,
    #[serde(deserialize_with = "object")]
    pub comment: Option<Comment>,
    #[serde(deserialize_with = "object")]
    pub review: Option<Review>,
    #[serde(deserialize_with = "object")]
    pub label: Option<Label>,
    #[serde(deserialize_with = "object")]
    pub changes: Option<Changes>,
    #[serde(deserialize_with = "object")]
    pub check_run: Option<CheckRun>,
    #[serde(deserialize_with = "object")]
    pub workflow_run: Option<WorkflowRun>,
    #[serde(deserialize_with = "text")]
    pub sha: Option<String>,
    #[serde(deserialize_with = "text")]
    pub context: Option<String>,
    #[serde(deserialize_with = "text")]
    pub state: Option<String>,
    #[serde(deserialize_with = "text")]
    pub description: Option<String>,
    #[serde(deserialize_with = "text")]
    pub target_url: Option<String>,
    #[serde(deserialize_with = "leaf")]
    pub id: Option<u64>,
    #[serde(deserialize_with = "time")]
    pub created_at: Option<Time>,
    #[serde(deserialize_with = "time")]
    pub updated_at: Option<Time>,
    #[serde(deserialize_with = "object")]
    pub commit: Option<Linked>,
}

/// A repository; the heads of pull requests and the ends of transfers have one too.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Repo {
    #[serde(deserialize_with = "leaf")]
    pub id: Option<u64>,
    #[serde(deserialize_with = "text")]
    pub name: Option<String>,
    #[serde(deserialize_with = "text")]
    pub full_name: Option<String>,
    #[serde(deserialize_with = "object")]
    pub owner: Option<User>,
    #[serde(deserialize_with = "text")]
    pub html_url: Option<String>,
    #[serde(deserialize_with = "text")]
    pub url: Option<String>,
}

/// Anything of which only the page matters.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Linked {
    #[serde(deserialize_with = "text")]
    pub html_url: Option<String>,
}

/// An account.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct User {
    #[serde(deserialize_with = "text")]
    pub login: Option<String>,
}

impl User {
    /// The login, when it can be somebody's.
    pub(super) fn login(user: Option<&Self>) -> Option<Login> {
        user.and_then(|user| user.login.as_deref()).and_then(Login::parse)
    }
}

/// An issue or a pull request.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Item {
    #[serde(deserialize_with = "leaf")]
    pub id: Option<u64>,
    #[serde(deserialize_with = "leaf")]
    pub number: Option<u64>,
    #[serde(deserialize_with = "text")]
    pub title: Option<String>,
    #[serde(deserialize_with = "prose")]
    pub body: Option<String>,
    #[serde(deserialize_with = "text")]
    pub state: Option<String>,
    #[serde(deserialize_with = "object")]
    pub user: Option<User>,
    #[serde(deserialize_with = "objects")]
    pub labels: Vec<Label>,
    #[serde(deserialize_with = "text")]
    pub html_url: Option<String>,
    #[serde(deserialize_with = "time")]
    pub created_at: Option<Time>,
    #[serde(deserialize_with = "time")]
    pub updated_at: Option<Time>,
    #[serde(deserialize_with = "time")]
    pub closed_at: Option<Time>,
    /// On an issue: that it is a pull request.
    #[serde(deserialize_with = "mark")]
    pub pull_request: Option<PullRequestMark>,
    #[serde(deserialize_with = "leaf")]
    pub merged: Option<bool>,
    #[serde(deserialize_with = "time")]
    pub merged_at: Option<Time>,
    #[serde(deserialize_with = "object")]
    pub head: Option<HeadRef>,
}

/// What an issue object says about the pull request it is.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct PullRequestMark {
    #[serde(deserialize_with = "time")]
    pub merged_at: Option<Time>,
}

/// The head of a pull request; the repository is null once a fork is deleted.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct HeadRef {
    #[serde(rename = "ref", deserialize_with = "text")]
    pub branch: Option<String>,
    #[serde(deserialize_with = "text")]
    pub sha: Option<String>,
    #[serde(deserialize_with = "object")]
    pub repo: Option<Repo>,
}

/// A label.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Label {
    #[serde(deserialize_with = "text")]
    pub name: Option<String>,
}

/// A comment, on a line of a diff or not.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Comment {
    #[serde(deserialize_with = "leaf")]
    pub id: Option<u64>,
    #[serde(deserialize_with = "text")]
    pub node_id: Option<String>,
    #[serde(deserialize_with = "object")]
    pub user: Option<User>,
    #[serde(deserialize_with = "prose")]
    pub body: Option<String>,
    #[serde(deserialize_with = "time")]
    pub created_at: Option<Time>,
    #[serde(deserialize_with = "text")]
    pub html_url: Option<String>,
    #[serde(deserialize_with = "text")]
    pub path: Option<String>,
    #[serde(deserialize_with = "leaf")]
    pub line: Option<u64>,
    #[serde(deserialize_with = "prose")]
    pub diff_hunk: Option<String>,
}

/// A review.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Review {
    #[serde(deserialize_with = "leaf")]
    pub id: Option<u64>,
    #[serde(deserialize_with = "text")]
    pub node_id: Option<String>,
    #[serde(deserialize_with = "object")]
    pub user: Option<User>,
    #[serde(deserialize_with = "prose")]
    pub body: Option<String>,
    #[serde(deserialize_with = "text")]
    pub state: Option<String>,
    #[serde(deserialize_with = "time")]
    pub submitted_at: Option<Time>,
    #[serde(deserialize_with = "text")]
    pub html_url: Option<String>,
}

/// What an event says it changed.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Changes {
    #[serde(deserialize_with = "object")]
    pub new_issue: Option<Moved>,
    #[serde(deserialize_with = "object")]
    pub new_repository: Option<Repo>,
    #[serde(deserialize_with = "object")]
    pub old_issue: Option<Moved>,
    #[serde(deserialize_with = "object")]
    pub old_repository: Option<Repo>,
    #[serde(deserialize_with = "object")]
    pub repository: Option<RepoChange>,
    #[serde(deserialize_with = "object")]
    pub owner: Option<OwnerChange>,
}

/// The other end of a transferred issue.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Moved {
    #[serde(deserialize_with = "leaf")]
    pub id: Option<u64>,
    #[serde(deserialize_with = "leaf")]
    pub number: Option<u64>,
}

/// `changes.repository` of a rename.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct RepoChange {
    #[serde(deserialize_with = "object")]
    pub name: Option<From>,
}

/// A former text.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct From {
    #[serde(deserialize_with = "text")]
    pub from: Option<String>,
}

/// `changes.owner` of a transfer.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct OwnerChange {
    #[serde(deserialize_with = "object")]
    pub from: Option<FormerOwner>,
}

/// The former owner, a person or an organisation.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct FormerOwner {
    #[serde(deserialize_with = "object")]
    pub user: Option<User>,
    #[serde(deserialize_with = "object")]
    pub organization: Option<User>,
}

/// A check run.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct CheckRun {
    #[serde(deserialize_with = "leaf")]
    pub id: Option<u64>,
    #[serde(deserialize_with = "text")]
    pub name: Option<String>,
    #[serde(deserialize_with = "text")]
    pub head_sha: Option<String>,
    #[serde(deserialize_with = "text")]
    pub status: Option<String>,
    #[serde(deserialize_with = "text")]
    pub conclusion: Option<String>,
    #[serde(deserialize_with = "time")]
    pub completed_at: Option<Time>,
    #[serde(deserialize_with = "text")]
    pub html_url: Option<String>,
    #[serde(deserialize_with = "text")]
    pub details_url: Option<String>,
    #[serde(deserialize_with = "object")]
    pub output: Option<Output>,
    #[serde(deserialize_with = "objects")]
    pub pull_requests: Vec<NamedPullRequest>,
}

/// What a check run prints.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Output {
    #[serde(deserialize_with = "prose")]
    pub title: Option<String>,
}

/// A workflow run.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct WorkflowRun {
    #[serde(deserialize_with = "leaf")]
    pub id: Option<u64>,
    #[serde(deserialize_with = "text")]
    pub name: Option<String>,
    #[serde(deserialize_with = "text")]
    pub head_sha: Option<String>,
    #[serde(deserialize_with = "text")]
    pub head_branch: Option<String>,
    #[serde(deserialize_with = "object")]
    pub head_repository: Option<Repo>,
    #[serde(deserialize_with = "text")]
    pub conclusion: Option<String>,
    #[serde(deserialize_with = "leaf")]
    pub run_attempt: Option<u64>,
    #[serde(deserialize_with = "time")]
    pub updated_at: Option<Time>,
    #[serde(deserialize_with = "text")]
    pub html_url: Option<String>,
    #[serde(deserialize_with = "objects")]
    pub pull_requests: Vec<NamedPullRequest>,
}

/// A pull request a check names; of a fork's checks it may lie in another repository.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct NamedPullRequest {
    #[serde(deserialize_with = "leaf")]
    pub number: Option<u64>,
    #[serde(deserialize_with = "object")]
    pub base: Option<Base>,
}

/// The base of a pull request a check names.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Base {
    #[serde(deserialize_with = "object")]
    pub repo: Option<Repo>,
}

/// A number or truth value; anything else is absent.
fn leaf<'de, D: Deserializer<'de>, T: DeserializeOwned>(value: D) -> Result<Option<T>, D::Error> {
    let raw = raw(value)?;
    Ok(serde_json::from_str(raw).ok())
}

/// An object, read where it stands; anything else is absent, but for a number that is no integer of 64
/// bits, which is an object without any key.
fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(value: D) -> Result<Option<T>, D::Error> {
    value.deserialize_any(Object(PhantomData))
}

/// An object whose mere presence says something, so that a number must not pass for one.
fn mark<'de, D: Deserializer<'de>, T: DeserializeOwned>(value: D) -> Result<Option<T>, D::Error> {
    Ok(read_object(raw(value)?))
}

/// The parts of a visitor for what it does not want.
macro_rules! lets_go_by {
    ($($visit:ident: $value:ty)?) => {
        lets_go_by!(@ visit_bool: bool, visit_u64: u64, visit_i64: i64, visit_f64: f64 $(, $visit: $value)?);

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
            while items.next_element::<IgnoredAny>()?.is_some() {}
            Ok(None)
        }
    };
    (@ $($visit:ident: $value:ty),*) => {
        $(fn $visit<E>(self, _: $value) -> Result<Self::Value, E> {
            Ok(None)
        })*
    };
}

/// Takes an object and lets everything else go by.
struct Object<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(entries)).map(Some)
    }

    lets_go_by!(visit_str: &str);
}

/// The objects of a list; what is no object is left out, and so is a list that is none.
fn objects<'de, D: Deserializer<'de>, T: DeserializeOwned>(value: D) -> Result<Vec<T>, D::Error> {
    let items: Vec<&RawValue> = serde_json::from_str(raw(value)?).unwrap_or_default();
    Ok(items.into_iter().filter_map(|item| read_object(item.get())).collect())
}

/// A text; anything else is absent.
fn text<'de, D: Deserializer<'de>>(value: D) -> Result<Option<String>, D::Error> {
    value.deserialize_any(Text(|text: &str| Some(text.to_owned())))
}

/// A text of several lines, with LF line ends.
fn prose<'de, D: Deserializer<'de>>(value: D) -> Result<Option<String>, D::Error> {
    value.deserialize_any(Text(|prose: &str| Some(text::lf(prose.to_owned()))))
}

/// A time; what is none is absent.
fn time<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Time>, D::Error> {
    value.deserialize_any(Text(|time: &str| Time::parse(time).ok()))
}

/// Makes something of a text, where it stands, and lets everything else go by.
struct Text<F>(F);

impl<'de, T, F: Fn(&str) -> Option<T>> Visitor<'de> for Text<F> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok((self.0)(text))
    }

    /// A number that is no integer of 64 bits comes this way, too.
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    lets_go_by!();
}

/// The value's own text: reading it can then fail without losing the place in the payload.
fn raw<'de, D: Deserializer<'de>>(value: D) -> Result<&'de str, D::Error> {
    <&RawValue>::deserialize(value).map(RawValue::get).map_err(D::Error::custom)
}

/// Derived reading would also take a list for an object.
fn read_object<T: DeserializeOwned>(raw: &str) -> Option<T> {
    raw.starts_with('{').then(|| serde_json::from_str(raw).ok()).flatten()
}
