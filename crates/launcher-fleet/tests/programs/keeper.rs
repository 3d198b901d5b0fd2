//! The keeper of the tests' workshops, as `launcher keep` is that of others.

use std::env::args_os;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Its name, `keep` and `--`.
    launcher_fleet::keeper::run(args_os().skip(3))
}
