//! SQLite: one file, one writer at a time.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use sqlx::any::AnyConnectOptions;
use sqlx::migrate::Migrator;

use super::engine::{DoctorQueries, Engine};
use crate::error::{StoreError, refused};

/// SQLite has one writer at a time. Writers queue in this process, in order, instead of polling for the file's lock.
/// IMMEDIATE takes that lock at the start of the transaction: a transaction that reads first and locks later can fail.
/// `synchronous = FULL`: acknowledged writes survive a power failure. Temporary storage is in memory: a statement that
/// checks a foreign key needs some, and a container may have no writable directory for temporary files.
/// `secure_delete = ON`: FAST would leave erased secrets in the file if they filled whole pages.
static SQLITE: Engine = Engine {
    session: "PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
              PRAGMA foreign_keys = ON; PRAGMA journal_size_limit = 67108864; PRAGMA temp_store = MEMORY; \
              PRAGMA secure_delete = ON",
    begin_write: "BEGIN IMMEDIATE",
    begin_snapshot: "BEGIN",
    // Connections that close at the same time would leave the log beside the file, with secrets that are erased since.
    before_close: Some("PRAGMA wal_checkpoint(TRUNCATE)"),
    connections: 8,
    writers: 1,
    read_only: None,
    template_name: concat!("lower(json_extract(", instance_settings!(), ", '$.name'))"),
    migrations: &MIGRATIONS,
    doctor: DoctorQueries {
        session: "PRAGMA busy_timeout = 2000",
        migrated: "SELECT 1 FROM sqlite_schema WHERE name = '_sqlx_migrations'",
        version: "SELECT sqlite_version()",
        clock: None,
    },
};
static MIGRATIONS: Migrator = sqlx::migrate!("migrations/sqlite");

/// Creates the file and its folder, accessible to their owner only. Returns the options that open it.
pub(super) async fn options(path: &str) -> Result<(&'static Engine, String, AnyConnectOptions), StoreError> {
    if path.is_empty() || path.contains('?') || path.starts_with(":memory:") {
        return Err(refused(
            "that the settings name",
            "a sqlite URL names a file and takes no parameters",
            "set SERVICE_DATABASE_URL to sqlite:///path/to/launcher.db",
        ));
    }
    let path = PathBuf::from(path);
    let absolute = create_file(&path).await.map_err(|error| {
        refused(
            &path.display().to_string(),
            &error.to_string(),
            "set a path on a local disk whose file and folder this program's user may write",
        )
    })?;
    let Some(absolute) = absolute.to_str() else {
        return Err(refused(&path.display().to_string(), "its path is not UTF-8", "choose another path"));
    };
    let options = AnyConnectOptions::from_str(&format!("sqlite://{}", escape(absolute)))?;
    Ok((&SQLITE, path.display().to_string(), options))
}

async fn create_file(path: &Path) -> std::io::Result<PathBuf> {
    let absolute = std::path::absolute(path)?;
    if let Some(folder) = absolute.parent() {
        tokio::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).await?;
    }
    // Create the file with a private mode before SQLite opens it. SQLite gives its journal the same mode.
    tokio::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&absolute)
        .await?;
    tokio::fs::canonicalize(&absolute).await
}

/// Percent-encodes a path for a URL (RFC 3986, 2.3: everything but unreserved characters, and `/`).
fn escape(path: &str) -> String {
    path.bytes().fold(String::with_capacity(path.len()), |mut escaped, byte| {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
        escaped
    })
}
