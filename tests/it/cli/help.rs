//! The help of every command, word for word. `INSTA_UPDATE=always` writes what changed.

use super::Place;

/// The lines of all commands, groups included.
fn lines(command: &clap::Command, line: &str, found: &mut Vec<String>) {
    found.push(line.trim().to_owned());
    for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
        lines(below, &format!("{line} {}", below.get_name()), found);
    }
}

#[test]
fn the_help_of_every_command_is_as_it_was_read_last() {
    let place = Place::new();
    let mut found = Vec::new();
    lines(&the_loop::cli::command(), "", &mut found);
    for line in found {
        let ran = place.run(&format!("{line} --help"));
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{line}");
        let name = if line.is_empty() { "the-loop".to_owned() } else { line.replace(' ', "-") };
        insta::assert_snapshot!(name, ran.stdout);
    }
}
