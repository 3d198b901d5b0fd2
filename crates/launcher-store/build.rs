//! A new migration file must lead to a new build: `sqlx::migrate!` embeds the folder, and cargo does not look there.

fn main() {
    println!("cargo:rerun-if-changed=migrations");
}
