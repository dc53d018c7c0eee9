//! What the product does per second, in one run on one machine.
#![allow(clippy::print_stdout)]

#[path = "support/load.rs"]
mod load;
#[path = "support/null_door.rs"]
mod null_door;
#[expect(dead_code, reason = "shared with the tests, which use every shape")]
#[path = "../tests/support/payloads.rs"]
mod payloads;

fn main() -> anyhow::Result<()> {
    println!("{}", null_door::report(100_000)?);
    Ok(())
}
