//! `the-loop config`.

use std::fs;

use super::Place;

#[test]
fn check_reports_every_problem_with_its_place() {
    let place = Place::new();
    place.configure("versino: 1\nrouting:\n  runner: tmx\n  authorizedUsers: mona\n");
    let ran = place.run("config check");
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines.len(), 3, "{}", ran.stdout);
    for (line, part) in
        lines.iter().zip(["line 1, column 1: `versino`", "line 3, column 11: `routing.runner`", "line 4, column 20"])
    {
        assert!(line.contains("cli-config.yaml: ") && line.contains(part), "{line}");
    }
    let ran = place.run("config check --json");
    let document = ran.json();
    assert_eq!((ran.code, &document["ok"]), (1, &false.into()));
    assert_eq!(document["problems"][1]["key"], "routing.runner");
    assert_eq!((&document["problems"][1]["line"], &document["problems"][1]["column"]), (&3.into(), &11.into()));
}

#[test]
fn check_says_that_a_file_is_good_and_what_is_worth_knowing() {
    let place = Place::new();
    assert_eq!(place.run("config check").stdout, "no configuration was found; the defaults hold\n");
    place.configure("service: {port: 1}\n");
    let ran = place.run("config check");
    assert_eq!(ran.code, 0);
    assert!(
        ran.stdout.contains("note: line 1, column 1: `service`") && ran.stdout.ends_with("is good\n"),
        "{}",
        ran.stdout
    );
    assert_eq!(place.run("config check --json").json()["notes"][0]["key"], "service");
}

#[test]
fn c01_a_newer_configuration_is_refused_and_left_alone() {
    let place = Place::new();
    let text = "version: 99\npoll: {newKnob: 1}\n";
    place.configure(text);
    for line in ["config check", "webhook send x.json", "config show"] {
        let ran = place.run(line);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.code, 1, "{line}");
        assert!(said.contains("99") && said.contains("0.4.0") && said.contains("newer the-loop"), "{line}: {said}");
    }
    assert_eq!(fs::read_to_string(place.path("repo/.the-loop/cli-config.yaml")).ok().as_deref(), Some(text));
}

#[test]
fn show_says_where_each_value_came_from() {
    let place = Place::new();
    place.configure("routing:\n  runner: process\n");
    let document = place.run("config show --json").json();
    let values = document["values"].as_array().expect("a list");
    let find = |key: &str| values.iter().find(|value| value["key"] == key).expect(key);
    assert_eq!(
        (&find("routing.runner")["value"], &find("routing.runner")["from"]["line"]),
        (&"process".into(), &2.into())
    );
    assert_eq!(find("state.root")["from"], "default");
    assert!(place.run("config show").stdout.contains("\"process\""));
}

#[test]
fn k33_the_variable_wins_over_a_file_in_the_checkout() {
    let place = Place::new();
    place.configure("routing: {runner: tmux}\n");
    let own = place.path("own.yaml");
    fs::write(&own, "routing: {runner: process}\n").expect("a file");
    let output = place.command("config show --json").env("THE_LOOP_CLI_CONFIG", &own).output().map(super::Ran::of);
    let document = output.expect("the binary runs").json();
    assert_eq!(
        (&document["chosenBy"], &document["file"]),
        (&"variable".into(), &own.to_string_lossy().as_ref().into())
    );
    fs::remove_file(&own).expect("the file");
    let output = place.command("config check").env("THE_LOOP_CLI_CONFIG", &own).output().map(super::Ran::of);
    let ran = output.expect("the binary runs");
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.contains("THE_LOOP_CLI_CONFIG") && ran.stderr.contains("own.yaml"), "{}", ran.stderr);
}
