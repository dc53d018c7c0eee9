//! The S cases; every secret is put together at run time, so that none stands in this file.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn pat() -> String {
    format!("github{}11{}_{}dE", "_pat_", "A".repeat(20), "bC3".repeat(19))
}

fn classic() -> String {
    format!("gh{}{}", "p_", "a1B2".repeat(9))
}

fn stateless() -> String {
    let (a, b, c) = ("a-_B".repeat(9), "c_-D".repeat(90), "e-F_".repeat(20));
    format!("gh{}123456_eyJ{a}.eyJ{b}.{c}", "s_")
}

fn pem(end: &str) -> String {
    ["-----BEGIN RSA PRIVATE ", "KEY-----", end, "MIIE", &"Ab0".repeat(20), end, "-----END RSA PRIVATE ", "KEY-----"]
        .concat()
}

fn rules_in(text: &str) -> Vec<&'static str> {
    find(text).into_iter().map(|hit| hit.rule).collect()
}

#[test]
fn every_shape_can_be_looked_for() {
    assert!(rules::all_run() && named::runs() && !rules::may_hold("nothing"));
}

#[test]
fn s01_fine_grained_tokens_are_found_wherever_they_stand() {
    let pat = pat();
    for text in [
        pat.clone(),
        format!("GITHUB_TOKEN={pat}"),
        format!("{{\"token\": \"{pat}\"}}"),
        format!("https://{pat}@github.com/octo/hello"),
    ] {
        assert_eq!(rules_in(&text), ["github-fine-grained-token"], "{}", redact(&text));
        assert!(!redact(&text).contains("bC3"));
    }
}

#[test]
fn s02_a_stateless_token_leaves_no_tail() {
    for token in [stateless(), classic().replace("ghp_", "ghs_")] {
        for behind in ["", ",", "\"", "\n", " and more"] {
            let safe = redact(&format!("it is {token}{behind}")).into_owned();
            assert_eq!(safe, format!("it is {WITHHELD}{behind}"));
        }
    }
}

#[test]
fn s03_placeholders_are_no_secrets() {
    for text in [
        ["gl", "pat-", &"X".repeat(11), "-", &"X".repeat(8)].concat(),
        ["gh", "p_", &"x".repeat(36)].concat(),
        ["gh", "p_", &"*".repeat(36)].concat(),
        "token: <your-token>".into(),
        "GITHUB_TOKEN=${GITHUB_TOKEN}".into(),
        "token: ${{ secrets.X }}".into(),
        "password = \"changeme-12345\"".into(),
        "AKIAIOSFODNN7EXAMPLE".into(),
        "api_key: your-api-key-goes-here-123".into(),
    ] {
        assert_eq!(rules_in(&text), Vec::<&str>::new(), "{text}");
    }
}

#[test]
fn s04_hashes_and_ids_are_no_secrets() {
    for text in [
        "\"sha\":\"a436c10a95a71de7854079411ff9411ddfbb1de1\"",
        "github token ?ref=a436c10a95a71de7854079411ff9411ddfbb1de1",
        "token: a436c10a95a71de7854079411ff9411ddfbb1de1",
        "\"integrity\": \"sha512-kXk3bZ0zZ3h0dGVzdGluZyB0aGlzIGlzIG5vdCBhIHNlY3JldA==\"",
        "secretId: 0b9e8a4c-5a2f-4c44-9f0e-0c7d2a7f1a11",
        "tokenDigest: sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    ] {
        assert_eq!(rules_in(text), Vec::<&str>::new(), "{text}");
    }
}

#[test]
fn s06_a_user_part_that_is_a_secret_is_found() {
    let words = ["p%40", "ss1word"].concat();
    for text in [
        format!("https://{}@github.com/octo/hello.git", pat()),
        format!("https://x-access-token:{}@github.com/octo/hello.git", classic()),
        format!("https://{}:x-oauth-basic@github.com/octo/hello.git", classic()),
        format!("https://user:{words}@ghe.example/r"),
        format!("fatal: unable to access 'https://user:{words}@ghe.example/r/': no"),
    ] {
        assert_eq!(rules_in(&text).len(), 1, "{}", redact(&text));
        assert!(!redact(&text).contains(&words) && !redact(&text).contains("a1B2"), "{}", redact(&text));
    }
}

#[test]
fn s07_user_names_are_no_secrets_and_a_password_of_git_is_one() {
    for text in ["ssh://git@github.com/octo/hello.git", "git@github.com:octo/hello.git", "https://mona@ghe.example/r"] {
        assert_eq!(rules_in(text), Vec::<&str>::new(), "{text}");
    }
    assert_eq!(rules_in(&["ssh://git:", "hunter22", "@h/r"].concat()), ["url-password"]);
}

#[test]
fn s08_a_private_key_is_found_in_both_spellings_and_a_scan_that_did_not_run_is_no_answer() {
    for end in ["\n", "\\n", "\r\n"] {
        let text = format!("key: {} end", pem(end));
        assert_eq!(redact(&text), format!("key: {WITHHELD} end"));
    }
    assert_eq!(Leaks::DidNotRun.to_string(), "the secret scan did not run");
}

#[test]
fn other_shapes_are_found() {
    let body = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
    for (rule, text) in [
        ("gitlab-token", format!("gl{}{}", "pat-", &body[..20])),
        ("aws-access-key", ["AK", "IAQ2W3E4R5T6Y7U2I3"].concat()),
        ("google-api-key", format!("AI{}{}", "za", &body[..35])),
        ("slack-token", format!("xox{}{body}", "b-")),
        ("stripe-key", format!("sk{}{body}", "_live_")),
        ("npm-token", format!("np{}{body}", "m_")),
        ("anthropic-key", format!("sk-{}{body}", "ant-api03-")),
        ("openai-key", format!("sk-{}{body}", "proj-")),
        ("authorization", format!("Authorization: Bearer {body}")),
        ("named-secret", format!("DB_PASSWORD={}", &body[..12])),
        ("named-secret", ["DB_PASS", "WORD=hunter", "22"].concat()),
        ("named-secret", format!("client_secret: '{body}'")),
        ("named-secret", format!("\"apiKey\":\"{body}\"")),
        ("json-web-token", format!("ey{}.ey{}.{body}", "JhbGciOiJIUzI1NiJ9", "JzdWIiOiIxMjM0NTY3ODkwIn0")),
    ] {
        assert_eq!(rules_in(&text), [rule], "{}", redact(&text));
    }
}

#[test]
fn a_word_is_a_secret_where_nothing_but_a_value_can_stand() {
    let word = ["correct", "horse1"].concat();
    for (found, before, after) in [
        (true, "DB_PASSWORD=", ""),
        (true, "DB_PASSWORD=", ". And on"),
        (true, "DB_PASSWORD='", "'"),
        (true, "password: \"", "\""),
        // A name of a program, an object's field, a call.
        (false, "db_password=", ""),
        (false, "DB_PASSWORD: ", ""),
        (false, "DB_PASSWORD = ", ""),
        (false, "password: ", ""),
        (false, "DB_PASSWORD=", "(1)"),
        (false, "password: \"", "<T>\""),
    ] {
        let text = format!("{before}{word}{after}");
        let safe = if found { format!("{before}{WITHHELD}{after}") } else { text.clone() };
        assert_eq!(redact(&text), safe, "{text}");
    }
}

#[test]
fn of_two_that_begin_alike_the_longer_is_withheld() {
    let web = format!("ey{}.ey{}.a1B2c3D4e5F6", "JhbGciOiJIUzI1NiJ9", "JzdWIiOiIxMjM0NTY3ODkwIn0");
    assert_eq!(rules_in(&web), ["json-web-token"]);
    let text = format!("token: \"{web}/Zx9Kq7Lm2\"");
    assert_eq!(redact(&text), format!("token: \"{WITHHELD}\""));
}

#[test]
fn code_and_prose_are_no_secrets() {
    for text in [
        "let token = self.tokens.next_token2();",
        "password: String,",
        "the secret: never tell anybody",
        "tokenEnv: [GITHUB_TOKEN, GH_TOKEN]",
        "secretFile: /etc/the-loop/secret2",
        "token=$(gh auth token)",
        "fn token_of(item: &Item1) -> Token2",
        "secretEnv: THE_LOOP_GH_WEBHOOK_SECRET",
        "token = config.github.token_v2_name",
    ] {
        assert_eq!(rules_in(text), Vec::<&str>::new(), "{text}");
    }
}

#[test]
fn a_document_is_scanned_by_texts_keys_and_names_and_the_report_shows_no_value() {
    let value = ["Zx9", "Kq7Lm2Pw8Rt4Vy6"].concat();
    let leaks = Scanned::json(json!({
        "a": [{"note": format!("see {}", classic())}],
        "settings": {"apiToken": value, "n": 1},
        classic(): "x",
    }))
    .expect_err("secrets");
    let said = leaks.to_string();
    assert!(
        said.contains("`a[0].note`") && said.contains("`settings.apiToken`") && said.contains("`[withheld]`"),
        "{said}"
    );
    assert!(!said.contains("a1B2") && !said.contains(&value), "{said}");
    assert!(Scanned::json(json!({"head": "a436c10a95a71de7854079411ff9411ddfbb1de1", "token": "", "n": null})).is_ok());
}

#[test]
fn k75_a_long_text_made_to_keep_a_pattern_busy_is_read_once() {
    for piece in ["token", "-----BEGIN PRIVATE ", "http://a:", "a", "authorization: ", "eyJ", "password = "] {
        let text = piece.repeat((4 << 20) / piece.len());
        let begun = std::time::Instant::now();
        find(&text);
        // Not a speed: what is not linear takes hours here.
        assert!(begun.elapsed().as_secs() < 60, "{piece}");
    }
}

proptest! {
    #[test]
    fn what_was_redacted_holds_no_secret_and_loses_nothing_else(before in "[ -~\n]{0,40}", after in "[ \n,\"'][ -~]{0,40}", which in 0..3_usize) {
        let secret = [pat(), classic(), stateless()][which].clone();
        let safe = redact(&format!("{before} {secret}{after}")).into_owned();
        prop_assert!(find(&safe).is_empty(), "{safe}");
        prop_assert!(!safe.contains(&secret));
    }

    #[test]
    fn any_text_can_be_scanned(text in ".{0,200}") {
        for hit in find(&text) {
            prop_assert!(text.get(hit.range).is_some());
        }
    }
}
