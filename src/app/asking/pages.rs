//! Lists over all their pages, each page asked only whether it changed (Q06).

use serde_json::Value;

use super::odd;
use crate::domain::github::{
    Answer, GitHub, Limit, Method, Reading, Request, Target, Trouble, Validator, Validators, next_link, read,
};
use crate::domain::time::Time;

/// Most pages of one walk.
pub const PAGES: usize = 200;

/// What a walk over a list brought.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    /// What stands on the pages that changed, in order.
    pub items: Vec<Value>,
    /// What is known of the pages of this walk, and of no other.
    pub validators: Validators,
    /// Whether no page changed.
    pub is_unchanged: bool,
    /// Whether it was cut after [`PAGES`] pages: more is there, to be asked for from the last item on.
    pub is_cut: bool,
    /// Requests that were sent.
    pub requests: u32,
    /// The host's clock as the walk began.
    pub date: Option<Time>,
    /// The rate limit as last seen.
    pub limit: Option<Limit>,
}

/// Reads the list at `path` of `host`. A page that did not change since `known` contributes nothing. While it is read
/// the list may move under it, so who needs every item walks again until nothing changes.
///
/// # Errors
/// One page could not be had; nothing of the walk is to be kept then.
pub fn list(github: &dyn GitHub, host: &str, path: &str, known: &Validators) -> Result<Listing, Trouble> {
    let mut walk = Listing {
        items: Vec::new(),
        validators: Validators::default(),
        is_unchanged: true,
        is_cut: false,
        requests: 0,
        date: None,
        limit: None,
    };
    let mut seen = Vec::new();
    let mut target = Target::Path(path.to_owned());
    loop {
        let (Target::Path(address) | Target::Link(address)) = &target else { return Ok(walk) };
        let address = address.clone();
        let known = known.pages.get(&address);
        let request = Request { target, method: Method::Get, ..Request::get(host, "") };
        let answer = github.send(&request.unless(known.map(|page| page.etag.clone())))?;
        let next = walk.take(host, &address, &answer, known)?;
        seen.push(address);
        match next {
            None => return Ok(walk),
            Some(next) if seen.contains(&next) => return Err(odd(host, &answer, "its pages go in a circle")),
            Some(_) if seen.len() == PAGES => {
                walk.is_cut = true;
                return Ok(walk);
            }
            Some(next) => target = Target::Link(next),
        }
    }
}

impl Listing {
    /// Takes one page in; where the next one is.
    fn take(
        &mut self,
        host: &str,
        address: &str,
        answer: &Answer,
        known: Option<&Validator>,
    ) -> Result<Option<String>, Trouble> {
        self.requests += 1;
        self.date = self.date.or(answer.date);
        self.limit = answer.limit.clone().or(self.limit.take());
        let said = answer.link.as_deref().map(|link| next_link(link).map(str::to_owned));
        let (next, etag) = match read(host, answer)? {
            Reading::Fresh(page) => {
                self.is_unchanged = false;
                self.items.extend(items(page).ok_or_else(|| odd(host, answer, "the page is no list"))?);
                (said.flatten(), answer.etag.clone())
            }
            Reading::Unchanged if known.is_none() => return Err(odd(host, answer, "nothing was asked conditionally")),
            // What was said just now counts: a page may have been added behind one that did not change.
            Reading::Unchanged => (
                said.unwrap_or_else(|| known.and_then(|page| page.next.clone())),
                answer.etag.clone().or_else(|| known.map(|page| page.etag.clone())),
            ),
        };
        if let Some(etag) = etag {
            self.validators.pages.insert(address.to_owned(), Validator { etag, next: next.clone() });
        }
        Ok(next)
    }
}

/// The items of a page: it is a list, or an object around one (`{"total_count": 2, "check_runs": […]}`).
fn items(page: Value) -> Option<Vec<Value>> {
    match page {
        Value::Array(items) => Some(items),
        Value::Object(fields) => {
            let mut lists = fields.into_iter().filter_map(|(_, value)| match value {
                Value::Array(items) => Some(items),
                _ => None,
            });
            lists.next().filter(|_| lists.next().is_none())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::domain::github::Unsent;

    /// A list on pages of one number each, whose validators are what stands on them; like GitHub's first page, it is
    /// asked at a path, the others at the address that the one before names.
    #[derive(Default)]
    struct Pages {
        pages: Vec<&'static str>,
        /// Whether a 304 carries `Link`.
        silent: bool,
        /// Where the last page says its next is.
        after: Option<String>,
        asked: Mutex<Vec<(String, Option<String>)>>,
    }

    impl Pages {
        fn of(pages: &[&'static str]) -> Self {
            Self { pages: pages.to_vec(), ..Self::default() }
        }

        fn walk(&self, known: &Validators) -> Result<Listing, Trouble> {
            list(self, "ghe.example", "/list?per_page=1", known)
        }
    }

    impl GitHub for Pages {
        fn send(&self, request: &Request) -> Result<Answer, Unsent> {
            let (page, address) = match &request.target {
                Target::Link(address) => (address.rsplit_once('=').unwrap().1.parse::<usize>().unwrap(), address),
                Target::Path(path) => (1, path),
                Target::GraphQl => panic!("no list is asked for there"),
            };
            self.asked.lock().unwrap().push((address.clone(), request.etag.clone()));
            let text = self.pages[page - 1];
            let next = (page < self.pages.len()).then(|| format!("https://ghe.example/api/v3/list?page={}", page + 1));
            let next = next.or_else(|| self.after.clone());
            let link = next.map(|next| format!("<{next}>; rel=\"next\"")).or(Some("<x>; rel=\"first\"".into()));
            let etag = Some(format!("\"{text}\""));
            let unchanged = request.etag == etag;
            Ok(Answer {
                status: if unchanged { 304 } else { 200 },
                body: if unchanged { Vec::new() } else { text.as_bytes().to_vec() },
                link: link.filter(|_| !(unchanged && self.silent)),
                etag,
                ..Answer::default()
            })
        }

        fn can_ask(&self, _: &str) -> Result<(), Unsent> {
            Ok(())
        }
    }

    fn numbers(listing: &Listing) -> Vec<u64> {
        listing.items.iter().map(|item| item.as_u64().unwrap()).collect()
    }

    #[test]
    fn q06_a_page_that_did_not_change_hides_no_page_that_did() {
        for silent in [false, true] {
            let first = Pages::of(&["[1]", "[2]"]).walk(&Validators::default()).unwrap();
            assert_eq!((numbers(&first), first.is_unchanged, first.requests), (vec![1, 2], false, 2));
            // Page 1 is the same, page 2 holds something else.
            let second = Pages { silent, ..Pages::of(&["[1]", "[2,3]"]) }.walk(&first.validators).unwrap();
            assert_eq!((numbers(&second), second.is_unchanged, second.requests), (vec![2, 3], false, 2));
            // All the same.
            let same = Pages { silent, ..Pages::of(&["[1]", "[2,3]"]) }.walk(&second.validators).unwrap();
            assert_eq!((numbers(&same), same.is_unchanged, same.requests), (vec![], true, 2));
            assert_eq!(same.validators, second.validators);
        }
    }

    #[test]
    fn q06_a_page_that_was_added_is_found_behind_pages_that_did_not_change() {
        let first = Pages::of(&["[1]", "[2]"]).walk(&Validators::default()).unwrap();
        let grown = Pages::of(&["[1]", "[2]", "[3]"]);
        let second = grown.walk(&first.validators).unwrap();
        assert_eq!((numbers(&second), second.requests), (vec![3], 3));
        let asked = grown.asked.lock().unwrap();
        assert_eq!(asked[0], ("/list?per_page=1".to_owned(), Some("\"[1]\"".to_owned())));
        assert_eq!(asked[2], ("https://ghe.example/api/v3/list?page=3".to_owned(), None));
        // And one that is gone: nothing of it is kept.
        let shrunk = Pages::of(&["[1]"]).walk(&second.validators).unwrap();
        assert_eq!((shrunk.is_unchanged, shrunk.requests, shrunk.validators.pages.len()), (true, 1, 1));
    }

    #[test]
    fn what_is_known_of_pages_is_plain_data() {
        let known = Pages::of(&["[1]", "[2]"]).walk(&Validators::default()).unwrap().validators;
        let text = serde_json::to_string(&known).unwrap();
        assert_eq!(serde_json::from_str::<Validators>(&text).unwrap(), known);
    }

    #[test]
    fn pages_end() {
        let circle =
            Pages { after: Some("https://ghe.example/api/v3/list?page=2".into()), ..Pages::of(&["[1]", "[2]"]) };
        let error = circle.walk(&Validators::default()).unwrap_err();
        assert!(error.to_string().contains("in a circle"), "{error}");
        let long = Pages::of(&["[1]"; PAGES + 5]).walk(&Validators::default()).unwrap();
        assert_eq!((long.items.len(), long.is_cut), (PAGES, true));
    }

    #[test]
    fn a_page_that_was_not_asked_conditionally_is_not_taken_for_unchanged() {
        let github = super::super::fixtures::Says::new(304, "");
        let error = list(&github, "ghe.example", "/list", &Validators::default()).unwrap_err();
        assert!(matches!(error, Trouble::Odd { .. }), "{error}");
    }

    #[test]
    fn a_page_is_a_list_or_an_object_around_one() {
        for (page, want) in [
            ("[7]", Some(vec![7])),
            (r#"{"total_count":1,"check_runs":[7]}"#, Some(vec![7])),
            (r#"{"a":[7],"b":[8]}"#, None),
            (r#"{"message":"x"}"#, None),
            ("7", None),
        ] {
            let walked = Pages::of(&[page]).walk(&Validators::default());
            assert_eq!(walked.ok().map(|listing| numbers(&listing)), want, "{page}");
        }
    }
}
