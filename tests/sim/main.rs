//! Simulation of the whole app with fakes and a manual clock.
fn main() {}
