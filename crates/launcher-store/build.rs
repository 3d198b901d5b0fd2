//! Triggers a rebuild when a migration file is added: `sqlx::migrate!` embeds the folder, but cargo does not track it.

fn main() {
    println!("cargo:rerun-if-changed=migrations");
}
