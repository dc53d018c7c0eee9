//! The `the-loop` binary: hands the command line to the library and its answer to the shell.

fn main() -> std::process::ExitCode {
    the_loop::cli::main()
}
