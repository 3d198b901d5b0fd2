//! The keeper program for the tests. It does the same as `launcher keep`.

use std::env::args_os;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Skip the program's name, `keep` and `--`.
    launcher_fleet::keeper::run(args_os().skip(3))
}
