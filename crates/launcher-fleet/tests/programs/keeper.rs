//! The keeper of the tests' workshops, equivalent to `launcher keep`.

use std::env::args_os;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Skips its name, `keep` and `--`.
    launcher_fleet::keeper::run(args_os().skip(3))
}
