//! Prints the reference of problems: `cargo run -p launcher-api --example problems > docs/problems.md`.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

fn main() {
    print!("{}", launcher_api::problem_reference());
}
