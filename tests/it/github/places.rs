//! Where a request and its token go: to the API of the host it is for, through links and redirects too (Q11, K72).

use the_loop::adapters::github::{Bounds, GitHubHttp};
use the_loop::app::asking::pages;
use the_loop::app::asking::{items, people};
use the_loop::domain::github::{GitHub as _, Request, Target, Trouble, Unsent, Validators};
use the_loop::domain::ids::Login;
use the_loop::domain::reference::WorkItemRef;

use super::client::{TOKEN, client};
use super::door::{Asked, Door, Says, answer};

const ENTERPRISE_TOKEN: &str = "ghp_of_the_enterprise";

/// github.com and an Enterprise server, each at a door of its own.
struct Hosts {
    dot_com: Door,
    enterprise: Door,
    github: GitHubHttp,
}

impl Hosts {
    /// `enterprise` gets the address of github.com's door, too.
    fn new(enterprise: impl Fn(&str, &Asked, usize) -> Says + Send + Sync + 'static) -> Self {
        let dot_com = Door::new(|_, _| answer("200 OK", "", "{}"));
        let there = dot_com.url();
        let enterprise = Door::new(move |asked, before| enterprise(&there, asked, before));
        let github = format!(
            "  apiUrl: {}\n  tokenEnv: [DOT_COM]\n  hosts:\n    GHE.example: {{apiUrl: {}/api/v3, tokenEnv: [GHE]}}\n    \
             bare.example: {{tokenEnv: [EMPTY]}}",
            dot_com.url(),
            enterprise.url()
        );
        let github = client(&github, &[("GHE", ENTERPRISE_TOKEN), ("EMPTY", "")], Bounds::default());
        Self { dot_com, enterprise, github }
    }

    fn get(&self, path: &str) -> Result<u16, Unsent> {
        self.github.send(&Request::get("ghe.example", path)).map(|answer| answer.status)
    }

    /// Nothing of the Enterprise server's business came to github.com, and nothing went out with the wrong token.
    fn assert_apart(&self) {
        assert_eq!(self.dot_com.asked(), []);
        let bearer = format!("Bearer {ENTERPRISE_TOKEN}");
        for asked in self.enterprise.asked() {
            assert_eq!(asked.header("authorization"), Some(bearer.as_str()), "{}", asked.line);
            assert!(!format!("{asked:?}").contains(TOKEN));
        }
    }
}

fn issue() -> WorkItemRef {
    WorkItemRef::parse("github:ghe.example/octo/hello#7").unwrap()
}

#[test]
fn q11_the_next_page_is_asked_for_exactly_where_the_link_says() {
    let hosts = Hosts::new(|_, asked, before| {
        let base = format!("http://{}/api/v3/repositories/101/issues", asked.header("host").unwrap());
        let link = format!("Link: <{base}?page=2>; rel=\"next\", <{base}?page=3>; rel=\"last\"\r\n");
        answer("200 OK", if before == 0 { &link } else { "" }, &format!("[{before}]"))
    });
    let path = "/repos/octo/hello/issues?per_page=100";
    let listing = pages::list(&hosts.github, "ghe.example", path, &Validators::default()).unwrap();
    assert_eq!(listing.items, [0, 1]);
    let want = ["/api/v3/repos/octo/hello/issues?per_page=100", "/api/v3/repositories/101/issues?page=2"];
    assert_eq!(hosts.enterprise.paths(), want);
    hosts.assert_apart();
}

#[test]
fn q11_a_next_page_on_another_host_is_refused_and_the_token_stays() {
    let hosts =
        Hosts::new(|dot_com, _, _| answer("200 OK", &format!("Link: <{dot_com}/x?page=2>; rel=\"next\"\r\n"), "[]"));
    let found = pages::list(&hosts.github, "ghe.example", "/list", &Validators::default()).unwrap_err();
    assert!(matches!(&found, Trouble::Unsent(Unsent::Elsewhere { host, .. }) if host == "GHE.example"), "{found:?}");
    assert!(found.to_string().contains(&hosts.dot_com.url()), "{found}");
    assert_eq!(hosts.enterprise.paths(), ["/api/v3/list"]);
    hosts.assert_apart();
}

#[test]
fn k72_an_enterprise_item_is_never_asked_about_at_github_com() {
    let hosts = Hosts::new(|_, _, _| answer("200 OK", "", "{\"permission\":\"read\"}"));
    items::issue(&hosts.github, &issue()).unwrap();
    items::pull_request(&hosts.github, &issue()).unwrap();
    items::closing_issues(&hosts.github, &issue()).unwrap_err();
    people::permission(&hosts.github, issue().repo(), &Login::parse("mona").unwrap()).unwrap();
    let post = Request::post("GHE.EXAMPLE", "/repos/octo/hello/issues/7/comments", serde_json::json!({"body": "x"}));
    hosts.github.send(&post).unwrap();
    assert_eq!(
        hosts.enterprise.paths(),
        [
            "/api/v3/repos/octo/hello/issues/7",
            "/api/v3/repos/octo/hello/pulls/7",
            "/api/graphql",
            "/api/v3/repos/octo/hello/collaborators/mona/permission",
            "/api/v3/repos/octo/hello/issues/7/comments",
        ]
    );
    hosts.assert_apart();
}

#[test]
fn k72_no_redirect_and_no_link_carries_a_token_to_another_host() {
    let hosts = Hosts::new(|dot_com, asked, _| match asked.path().rsplit('/').next().unwrap() {
        "away" => answer("301 Moved Permanently", &format!("Location: {dot_com}/stolen\r\n"), ""),
        "hop" => answer("307 Temporary Redirect", "Location: /api/v3/away\r\n", ""),
        _ => answer("200 OK", "", "{}"),
    });
    for path in ["/away", "/hop"] {
        let found = hosts.get(path).unwrap_err();
        assert!(matches!(found, Unsent::Elsewhere { .. }), "{found:?}");
    }
    let asked = hosts.enterprise.paths().len();
    for link in [format!("{}/x", hosts.dot_com.url()), format!("{}/login", hosts.enterprise.url()), "x".into()] {
        let request = Request { target: Target::Link(link), ..Request::get("ghe.example", "") };
        let found = hosts.github.send(&request).unwrap_err();
        assert!(matches!(found, Unsent::Elsewhere { .. }), "{found:?}");
    }
    assert_eq!(hosts.enterprise.paths().len(), asked);
    hosts.assert_apart();
}

#[test]
fn k72_a_host_without_a_token_or_a_configuration_is_not_asked_with_another_token() {
    let hosts = Hosts::new(|_, _, _| answer("200 OK", "", "{}"));
    for (host, want) in [
        ("bare.example", Unsent::NoToken { host: "bare.example".into(), unusable: None }),
        ("other.example", Unsent::UnknownHost { host: "other.example".into() }),
        ("ghe.example:8443", Unsent::UnknownHost { host: "ghe.example:8443".into() }),
    ] {
        assert_eq!(hosts.github.can_ask(host), Err(want.clone()));
        assert_eq!(hosts.github.send(&Request::get(host, "/x")), Err(want));
    }
    assert_eq!(hosts.github.can_ask("Ghe.Example"), Ok(()));
    assert_eq!(hosts.enterprise.asked(), []);
    hosts.assert_apart();
}

#[test]
fn a_redirect_within_the_api_is_followed_three_times_and_a_post_only_when_it_stays_one() {
    let hosts = Hosts::new(|_, asked, _| {
        let redirect = |status: &str, to: &str| answer(status, &format!("Location: {to}\r\n"), "");
        match asked.path() {
            "/api/v3/renamed" => redirect("301 Moved Permanently", "/api/v3/repositories/7"),
            "/api/v3/kept" => redirect("307 Temporary Redirect", "/api/v3/repositories/7"),
            "/api/v3/relative" => redirect("302 Found", "elsewhere"),
            "/api/v3/circle" => redirect("302 Found", "/api/v3/circle"),
            _ => answer("200 OK", "", "{}"),
        }
    });
    let post = |path| {
        let posted = hosts.github.send(&Request::post("ghe.example", path, serde_json::json!({"a": 1})));
        (posted.unwrap().status, hosts.enterprise.asked().pop().unwrap())
    };
    assert_eq!(hosts.get("/renamed"), Ok(200));
    assert_eq!(hosts.get("/relative"), Ok(302));
    let (status, last) = post("/renamed");
    assert_eq!((status, last.path()), (301, "/api/v3/renamed"));
    let (status, last) = post("/kept");
    assert_eq!((status, last.line.as_str()), (200, "POST /api/v3/repositories/7 HTTP/1.1"));
    assert_eq!(last.body, "{\"a\":1}");
    let before = hosts.enterprise.asked().len();
    assert_eq!(hosts.get("/circle"), Ok(302));
    assert_eq!(hosts.enterprise.asked().len() - before, 4);
    hosts.assert_apart();
}
