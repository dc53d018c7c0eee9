//! The `the-loop` binary: hands the command line to the library and its answer to the shell.

/// What one thread allocates another frees here, all day: see `docs/decisions/allocator.md`.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> std::process::ExitCode {
    the_loop::cli::main()
}
