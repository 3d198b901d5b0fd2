//! What differs between engines, and nothing else: how a URL is opened, how a session is set up, how a write begins,
//! which migrations apply.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use sqlx::any::{AnyConnectOptions, AnyPoolOptions};
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::{AnyConnection, AnyPool, ConnectOptions, Connection, Executor};
use tokio::time::{Instant, sleep};

use crate::error::{StoreError, is_locked};

/// How long a request waits for a connection, or for its turn to write.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// How soon an opening that found the file locked is tried again.
const RETRY: Duration = Duration::from_millis(20);

/// One database engine.
#[derive(Debug)]
pub(crate) struct Engine {
    /// Run on each new connection.
    session: &'static str,
    /// Begins a transaction that will write.
    pub(crate) begin_write: &'static str,
    /// Connections of the pool. Fewer may write, so that a read never waits behind writers.
    connections: u32,
    /// Transactions of this process that may write at the same time.
    pub(crate) writers: usize,
    migrations: &'static Migrator,
}

/// SQLite has one writer at a time. Writers queue in this process, in order, instead of polling for the file's lock;
/// IMMEDIATE takes that lock at the start, where waiting is safe. FULL: what was acknowledged survives a power cut.
static SQLITE: Engine = Engine {
    session: "PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
              PRAGMA foreign_keys = ON; PRAGMA journal_size_limit = 67108864",
    begin_write: "BEGIN IMMEDIATE",
    connections: 8,
    writers: 1,
    migrations: &SQLITE_MIGRATIONS,
};
static SQLITE_MIGRATIONS: Migrator = sqlx::migrate!("migrations/sqlite");

/// Opens the database that a URL names, and brings its schema up to date.
pub(crate) async fn open(url: &str) -> Result<(AnyPool, &'static Engine), StoreError> {
    sqlx::any::install_default_drivers();
    let (engine, options) = match url.split_once(':') {
        Some(("sqlite", path)) => (&SQLITE, sqlite_options(path.strip_prefix("//").unwrap_or(path)).await?),
        Some((scheme @ ("postgres" | "postgresql"), _)) => {
            return Err(refused(
                scheme,
                "this build has no PostgreSQL driver",
                "set SERVICE_DATABASE_URL to sqlite:///path/to/launcher.db",
            ));
        }
        _ => {
            return Err(refused(
                "that the settings name",
                "its URL names no database that this program knows",
                "set SERVICE_DATABASE_URL to sqlite:///path/to/launcher.db",
            ));
        }
    };
    // The pool would try again until its patience ends, and keep the reason to itself.
    let deadline = Instant::now() + PATIENCE;
    while let Err(error) = prepare(&options, engine).await {
        // SQLite does not wait for its lock where a file turns to WAL: who opens a new file beside others tries again.
        if !matches!(error, StoreError::Unavailable(_)) || Instant::now() > deadline {
            return Err(error);
        }
        sleep(RETRY).await;
    }
    let pool = AnyPoolOptions::new()
        .max_connections(engine.connections)
        .acquire_timeout(PATIENCE)
        .after_connect(move |connection, _| {
            Box::pin(async move { connection.execute(engine.session).await.map(|_| ()) })
        })
        .connect_with(options)
        .await?;
    Ok((pool, engine))
}

/// Whoever holds a lock gives it back; everything else that the engine says has to be put right first.
fn not_opened(error: sqlx::Error) -> StoreError {
    match &error {
        sqlx::Error::Database(said) if !said.code().is_some_and(|code| is_locked(&code)) => refused(
            "that the settings name",
            said.message(),
            "look at it and at the rights to it, or set SERVICE_DATABASE_URL to another one",
        ),
        _ => error.into(),
    }
}

/// Opens the database once, and brings its schema up to date.
async fn prepare(options: &AnyConnectOptions, engine: &Engine) -> Result<(), StoreError> {
    let mut connection = options.connect().await.map_err(not_opened)?;
    connection.execute(engine.session).await.map_err(not_opened)?;
    migrate(&mut connection, engine.migrations).await?;
    Ok(connection.close().await?)
}

/// Two processes may open a new database at once; the one that comes second finds its step done when it looks again.
async fn migrate(connection: &mut AnyConnection, migrations: &Migrator) -> Result<(), StoreError> {
    let outcome = match migrations.run(&mut *connection).await {
        Err(MigrateError::ExecuteMigration(..) | MigrateError::Execute(_)) => migrations.run(connection).await,
        decided => decided,
    };
    outcome.map_err(|error| match error {
        MigrateError::VersionMissing(version) => StoreError::NewerSchema { version },
        MigrateError::VersionMismatch(version) => StoreError::ChangedSchema { version },
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => error.into(),
        other => StoreError::Other(other.into()),
    })
}

/// Makes the file and its folder, readable by their owner alone, and the options that open it.
async fn sqlite_options(path: &str) -> Result<AnyConnectOptions, StoreError> {
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
            "give a path on a local disk that this program's user may write to, in a folder that it may write to",
        )
    })?;
    let Some(absolute) = absolute.to_str() else {
        return Err(refused(&path.display().to_string(), "its path is not UTF-8", "choose another path"));
    };
    Ok(AnyConnectOptions::from_str(&format!("sqlite://{}", escape(absolute)))?)
}

async fn create_file(path: &Path) -> std::io::Result<PathBuf> {
    let absolute = std::path::absolute(path)?;
    if let Some(folder) = absolute.parent() {
        tokio::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).await?;
    }
    // SQLite gives its journal the file's own mode.
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

/// A path as it has to be written in a URL (RFC 3986, 2.3: everything but unreserved characters is escaped).
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

fn refused(target: &str, problem: &str, remedy: &'static str) -> StoreError {
    StoreError::Open { target: target.to_owned(), problem: problem.to_owned(), remedy }
}
