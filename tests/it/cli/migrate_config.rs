//! `the-loop migrate-config`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::Place;

const OLD: &str = "# ours
version: \"0.3.0\"
state: {root: .the-loop}

webhooks:
  ghWebhook:
    port: 0   # any
    routing:
      # people of the team
      authorizedUsers: [mona]
";

fn config(place: &Place) -> std::path::PathBuf {
    place.path("repo/.the-loop/cli-config.yaml")
}

#[test]
fn k62_a_stale_configuration_stops_everything_but_what_mends_it() {
    let place = Place::new();
    place.configure(OLD);
    for line in ["start", "status", "export", "sessions list", "config show"] {
        let ran = place.run(line);
        assert_eq!(ran.code, 1, "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains("the-loop migrate-config"), "{line}: {}", ran.stderr);
    }
    for (line, code) in [("--version", 0), ("export --help", 0), ("doctor", 1), ("migrate-config", 0)] {
        let ran = place.run(line);
        assert_eq!(ran.code, code, "{line}: {}", ran.stderr);
        assert!(!ran.stderr.contains("error:"), "{line}: {}", ran.stderr);
    }
    assert_eq!(place.run("config check").code, 0);
    assert_eq!(place.run("sessions list").code, 0);
}

#[test]
fn every_change_is_said_and_the_text_as_it_was_is_kept() {
    let place = Place::new();
    place.configure(OLD);
    fs::set_permissions(config(&place), fs::Permissions::from_mode(0o640)).expect("a mode");
    let dry = place.run("migrate-config --dry-run");
    assert_eq!(dry.code, 0, "{}", dry.stderr);
    for part in ["would change `", "`webhooks.ghWebhook.routing` → `routing`", "+  # people of the team\n", "never"] {
        assert!(dry.stdout.contains(part), "{part}: {}", dry.stdout);
    }
    assert_eq!(fs::read_to_string(config(&place)).ok().as_deref(), Some(OLD));

    let document = place.run("migrate-config --json").json();
    assert_eq!((&document["changed"], &document["dryRun"]), (&true.into(), &false.into()), "{document}");
    let text = fs::read_to_string(config(&place)).expect("the configuration");
    assert!(text.starts_with("# ours\nversion: \"0.4.0\"\n") && text.contains("    port: 0   # any\n"), "{text}");
    assert_eq!(fs::metadata(config(&place)).expect("the file").permissions().mode() & 0o777, 0o640);
    let backup = document["backup"].as_str().expect("a copy");
    assert_eq!(fs::read_to_string(backup).ok().as_deref(), Some(OLD));
    assert!(backup.ends_with(".the-loop/local/config-copies/cli-config.yaml.v0.3.0"), "{backup}");

    let again = place.run("migrate-config");
    assert!(again.stdout.starts_with("nothing to do: "), "{}", again.stdout);
    assert_eq!(fs::read_to_string(config(&place)).ok(), Some(text));
}

#[test]
fn what_cannot_be_migrated_is_named_with_its_place_and_left_alone() {
    let place = Place::new();
    for (text, said) in [
        ("version: 99\n", "it needs a newer the-loop"),
        ("version: 0.1.0\nrouting: off\n", "line 2, column 1: `routing`: expected a section"),
        ("version: 0.1.0\na: [\n", "this is not YAML"),
        ("{version: 0.1.0}\n", "cannot change without spoiling it"),
    ] {
        place.configure(text);
        let ran = place.run("migrate-config");
        assert_eq!(ran.code, 1, "{text}: {}", ran.stdout);
        assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains(said), "{text}: {}", ran.stderr);
        assert_eq!(fs::read_to_string(config(&place)).ok().as_deref(), Some(text));
    }
}

#[test]
fn what_is_wrong_for_another_reason_does_not_keep_it_from_being_migrated() {
    let place = Place::new();
    place.configure("version: 0.3.0\nrouting:\n  runner: tmx\n");
    let ran = place.run("migrate-config");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("still to be put right by hand: line 3"), "{}", ran.stderr);
    let nothing = Place::new().run("migrate-config");
    assert_eq!(nothing.stdout, "nothing to do: no configuration was found, the defaults hold\n");
}
