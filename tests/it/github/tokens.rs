//! Where tokens come from, and that none is ever shown.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use the_loop::adapters::github::{Bounds, GitHubHttp};
use the_loop::domain::github::{GitHub as _, Request, Target, Trouble, Unsent};

use super::client::{TOKEN, client};
use super::door::{Door, Says, answer};
use crate::support::wait_for;

/// A `gh` that keeps a token of its own for each host, and notes what it is asked and by which variables.
const GH: &str = "#!/bin/sh
echo \"$* [$GH_TOKEN$GITHUB_TOKEN$GH_ENTERPRISE_TOKEN$GITHUB_ENTERPRISE_TOKEN]\" >> @/asked
case $4 in
    nobody.example) echo 'no oauth token found' >&2; exit 1 ;;
    *) echo \"gho_kept_for_$4\" ;;
esac
";

/// Puts a program `gh` into a folder.
fn put(folder: &Path, script: &str) {
    let path = folder.join("gh");
    fs::write(&path, script.replace('@', folder.to_str().unwrap())).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A client of hosts at one door that finds `gh` in a folder, with every variable set that `gh` itself would heed.
fn with_gh(folder: &Path, door: &Door) -> GitHubHttp {
    let path = format!("{}:/usr/bin:/bin", folder.display());
    let variables = [
        ("PATH", path.as_str()),
        ("GH_TOKEN", "ghp_any"),
        ("GITHUB_TOKEN", "ghp_any"),
        ("GH_ENTERPRISE_TOKEN", "ghp_any"),
        ("GITHUB_ENTERPRISE_TOKEN", "ghp_any"),
    ];
    let api = format!("apiUrl: {}/api/v3", door.url());
    let hosts = format!(
        "  apiUrl: {}\n  tokenEnv: [DOT_COM]\n  hosts:\n    ghe.example: {{{api}}}\n    nobody.example: {{{api}}}",
        door.url()
    );
    client(&hosts, &variables, Bounds::default())
}

#[test]
fn gh_is_asked_for_the_host_that_has_no_variable_and_not_again_at_once() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), GH);
    let door = Door::new(|_, _| answer("401 Unauthorized", "", "{\"message\":\"Bad credentials\"}"));
    let github = with_gh(folder.path(), &door);
    for _ in 0..3 {
        assert_eq!(
            github.can_ask("nobody.example"),
            Err(Unsent::NoToken { host: "nobody.example".into(), unusable: None })
        );
        assert_eq!(github.can_ask("ghe.example"), Ok(()));
        assert_eq!(github.send(&Request::get("ghe.example", "/x")).unwrap().status, 401);
        github.send(&Request::get("github.com", "/x")).unwrap();
    }
    let tokens: Vec<_> = door.asked().iter().map(|asked| asked.header("authorization").unwrap().to_owned()).collect();
    assert_eq!(tokens, ["Bearer gho_kept_for_ghe.example", "Bearer ghp_of_github_com"].repeat(3));
    // Each host once within the minute, and by what gh keeps itself.
    let asked = fs::read_to_string(folder.path().join("asked")).unwrap();
    assert_eq!(asked, "auth token --hostname nobody.example []\nauth token --hostname ghe.example []\n");
}

#[test]
fn a_gh_that_does_not_answer_is_ended() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "#!/bin/sh\necho $$ > @/pid\nexec sleep 600\n");
    let door = Door::new(|_, _| Says::Nothing);
    let github = with_gh(folder.path(), &door);
    assert_eq!(github.can_ask("ghe.example"), Err(Unsent::NoToken { host: "ghe.example".into(), unusable: None }));
    let pid = fs::read_to_string(folder.path().join("pid")).unwrap();
    let process = Path::new("/proc").join(pid.trim());
    wait_for("gh to be gone", Duration::from_secs(10), || !process.exists());
    assert_eq!(door.asked(), []);
}

#[test]
fn a_token_is_in_no_debug_and_no_error() {
    let bounds = Bounds { whole: Duration::from_secs(1), body: 2048, ..Bounds::default() };
    let door = Door::new(|asked, before| match before {
        0 => answer("401 Unauthorized", "", "{}"),
        1 => answer("301 Moved Permanently", "Location: https://evil.example/\r\n", ""),
        2 => answer("200 OK", "", &"x".repeat(4096)),
        3 => Says::Bytes(b"nonsense\r\n\r\n".to_vec()),
        4 => Says::Nothing,
        5 => {
            answer("403 Forbidden", "", &format!("{{\"message\": \"no, {}\"}}", asked.header("authorization").unwrap()))
        }
        _ => answer("502 Bad Gateway", "", &format!("<html>{asked:?}</html>")),
    });
    let github = client(&format!("  apiUrl: {}\n  tokenEnv: [DOT_COM]", door.url()), &[], bounds);
    let mut shown = format!("{github:?}\n");
    for _ in 0..7 {
        shown += &match github.send(&Request::get("github.com", "/x")) {
            Ok(answer) => format!("{:?}\n", the_loop::domain::github::read("github.com", &answer)),
            Err(unsent) => format!("{unsent:?} {unsent} {:?}\n", Trouble::from(unsent.clone()).hint()),
        };
    }
    for target in [Target::Link("https://evil.example/".into()), Target::Path("x y".into())] {
        let request = Request { target, ..Request::get("github.com", "") };
        shown += &format!("{request:?} {:?}\n", github.send(&request));
    }
    assert_eq!(door.asked().len(), 7);
    for kind in ["Token", "Elsewhere", "TooLarge", "Unreachable", "Outage", "no, Bearer [withheld]"] {
        assert!(shown.contains(kind), "{kind}: {shown}");
    }
    assert!(!shown.contains(TOKEN), "{shown}");
}
