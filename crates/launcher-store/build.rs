//! A new migration file must lead to a new build: `sqlx::migrate!` embeds the folder, and cargo does not look there.

#[expect(clippy::print_stdout, reason = "a build script talks to cargo through its output")]
fn main() {
    println!("cargo:rerun-if-changed=migrations");
}
