//! Engine: the statements and limits that differ between SQLite and PostgreSQL.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::LazyLock;

use sqlx::any::AnyConnectOptions;
use sqlx::migrate::{Migration, Migrator};
use sqlx::{AssertSqlSafe, SqlSafeStr};

use crate::error::{StoreError, refused};

#[derive(Debug)]
pub(crate) struct Engine {
    /// Statements run on each new connection.
    pub(crate) session: &'static str,
    /// SQL statement that begins a write transaction.
    pub(crate) begin_write: &'static str,
    /// SQL statement that begins a transaction whose reads all see the same snapshot.
    pub(crate) begin_snapshot: &'static str,
    /// Statement before the pool closes its connections.
    pub(crate) before_close: Option<&'static str>,
    /// Number of connections of the pool. It exceeds `writers`, so that a read does not wait for a writer's connection.
    pub(crate) connections: u32,
    /// Maximum concurrent write transactions of this process.
    pub(crate) writers: usize,
    /// Query that the store sends before and after each use of a connection. The answer `on` means that the server
    /// refuses writes after a failover. The store then closes the connection, because the host name may belong to
    /// another server now.
    pub(crate) read_only: Option<&'static str>,
    /// SQL expression for the template name in an instance's settings, in lower case: the sort key of lists.
    pub(crate) template_name: &'static str,
    pub(crate) migrations: &'static LazyLock<Migrator>,
    pub(crate) doctor: DoctorQueries,
}

#[derive(Debug)]
pub(crate) struct DoctorQueries {
    /// SQL statements run on each new connection of `launcher doctor`. They replace `Engine::session`, and set only
    /// timeouts.
    pub(crate) session: &'static str,
    /// Query that returns one row if migrations have been run.
    pub(crate) migrated: &'static str,
    /// Query that returns the engine's version as text.
    pub(crate) version: &'static str,
    /// Query that returns the server's clock in milliseconds since the epoch; `None` if the engine uses this host's
    /// clock.
    pub(crate) clock: Option<&'static str>,
}

impl Engine {
    /// Returns version and checksum of each embedded migration, oldest first.
    pub(crate) fn migrations(&self) -> impl Iterator<Item = (i64, &[u8])> {
        self.migrations.iter().map(|migration| (migration.version, migration.checksum.as_ref()))
    }
}

/// Returns the migrations with the lines that an engine has.
fn migrations(line_of_engine: fn(&str) -> Option<String>) -> Migrator {
    static ALL: Migrator = sqlx::migrate!();
    let of_engine = |all: &Migration| {
        let lines: Vec<String> = all.sql.as_str().lines().filter_map(line_of_engine).collect();
        let sql = AssertSqlSafe(lines.join("\n")).into_sql_str();
        Migration::new(all.version, all.description.clone(), all.migration_type, sql, all.no_tx)
    };
    Migrator::with_migrations(ALL.iter().map(of_engine).collect())
}

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
    migrations: &SQLITE_MIGRATIONS,
    doctor: DoctorQueries {
        session: "PRAGMA busy_timeout = 2000",
        migrated: "SELECT 1 FROM sqlite_schema WHERE name = '_sqlx_migrations'",
        version: "SELECT sqlite_version()",
        clock: None,
    },
};
static SQLITE_MIGRATIONS: LazyLock<Migrator> =
    LazyLock::new(|| migrations(|line| (!line.ends_with("-- PostgreSQL")).then(|| line.replace(" COLLATE \"C\"", ""))));

/// Creates the file and its folder, accessible to their owner only. Returns the options that open it.
pub(crate) async fn sqlite_options(path: &str) -> Result<(&'static Engine, String, AnyConnectOptions), StoreError> {
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
    let options = AnyConnectOptions::from_str(&format!("sqlite://{}", escape_path(absolute)))?;
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
fn escape_path(path: &str) -> String {
    path.bytes().fold(String::with_capacity(path.len()), |mut escaped, byte| {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
        escaped
    })
}

/// Isolation is READ COMMITTED. Each decision is made by a statement that begins after its lock was taken. The
/// statement therefore sees everything that the previous holder of the lock committed. A launch locks its owner's
/// `launch_gate` row, then counts the owner's instances; it locks the counter's row, then counts the queue. A change of
/// an instance's state locks the counter first. Locks are always taken in the order gate, counter, then instance or
/// volume, which prevents deadlocks. With REPEATABLE READ, the snapshot would be older than the wait for the gate: of a hundred
/// parallel launches of one owner, each that had to wait would fail and need a retry.
///
/// The server's timeouts are shorter than this program's: for a lock, for a statement, and for a transaction whose
/// program has stalled, so that its locks do not block others. A migration that takes longer has to set its own limits.
/// A server or a role may be configured to acknowledge a commit before it is on disk. A 201 could then be lost, so the
/// session corrects that setting and keeps any stricter one. The snapshot transaction of a copy has no idle timeout: it
/// holds no lock that others wait for, and is idle while a batch is written to the other database.
static POSTGRES: Engine = Engine {
    session: "SET statement_timeout = '10s'; SET lock_timeout = '5s'; \
              SET idle_in_transaction_session_timeout = '10s'; SET default_transaction_isolation = 'read committed'; \
              SET client_min_messages = warning; \
              SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
    begin_write: "BEGIN ISOLATION LEVEL READ COMMITTED",
    begin_snapshot: "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; \
                     SET LOCAL idle_in_transaction_session_timeout = 0",
    before_close: None,
    connections: 10,
    // Most writes lock the counter row until their commit, so they run one after the other, and more writers would not
    // be faster. This limit keeps six of the ten connections free for reads.
    writers: 4,
    read_only: Some("SHOW transaction_read_only"),
    template_name: concat!("lower(((", instance_settings!(), ")::json ->> 'name') COLLATE \"C\")"),
    migrations: &POSTGRES_MIGRATIONS,
    doctor: DoctorQueries {
        session: "SET statement_timeout = '3s'; SET lock_timeout = '2s'; SET client_min_messages = warning",
        migrated: "SELECT 1 WHERE to_regclass('_sqlx_migrations') IS NOT NULL",
        version: "SHOW server_version",
        clock: Some("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)"),
    },
};
static POSTGRES_MIGRATIONS: LazyLock<Migrator> =
    LazyLock::new(|| migrations(|line| (!line.ends_with("-- SQLite")).then(|| line.to_owned())));

const REMEDY: &str = "correct SERVICE_DATABASE_URL: postgres://user:password@host:port/database?sslmode=verify-full, \
                      with characters such as # / ? @ of the password written as %23 %2F %3F %40";
/// Query parameters that a URL may have. Others are refused, because the driver would ignore them and log their values.
const PARAMETERS: [&str; 12] = [
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "host",
    "hostaddr",
    "port",
    "user",
    "password",
    "dbname",
    "application_name",
    "options",
];
/// Accepted values of `sslmode`. The list omits `allow`, because the driver treats it as `disable`.
const MODES: [&str; 5] = ["disable", "prefer", "require", "verify-ca", "verify-full"];

/// Returns the options of a URL, and the server's name for messages. Messages never contain the URL or the parser's
/// error, because a password may be in the wrong place of the URL.
pub(crate) fn postgres_options(url: &str) -> Result<(&'static Engine, String, AnyConnectOptions), StoreError> {
    let wrong = |problem: &str| refused("that the settings name", problem, REMEDY);
    let mut options = AnyConnectOptions::from_str(url).map_err(|_| wrong("its URL cannot be read"))?;
    let url = &options.database_url;
    if url.fragment().is_some() {
        return Err(wrong("its URL has a fragment (#): write a # of the password as %23"));
    }
    let parameters: Vec<(String, String)> = url.query_pairs().into_owned().collect();
    for (name, value) in &parameters {
        if !PARAMETERS.contains(&name.as_str()) {
            return Err(wrong(&format!(
                "its URL has a parameter that this program does not know; it knows {}",
                PARAMETERS.join(", ")
            )));
        }
        if let "sslrootcert" | "sslcert" | "sslkey" = name.as_str()
            && let Err(error) = std::fs::File::open(value)
        {
            return Err(wrong(&format!("its {name} cannot be read: {error}")));
        }
    }
    let named = |name: &str| parameters.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    let mode = named("sslmode").unwrap_or("prefer");
    if !MODES.contains(&mode) {
        return Err(wrong(&format!("its sslmode has to be one of {}", MODES.join(", "))));
    }
    if named("sslrootcert").is_some() && !mode.starts_with("verify-") {
        return Err(wrong("its sslrootcert requires sslmode=verify-full or sslmode=verify-ca"));
    }
    let host = named("hostaddr").or(named("host")).or(url.host_str()).unwrap_or("this host");
    let target = format!("on {}", host.replace("%2F", "/").replace("%2f", "/"));
    if named("application_name").is_none() {
        options.database_url.query_pairs_mut().append_pair("application_name", "workshop-launcher");
    }
    Ok((&POSTGRES, target, options))
}

/// Returns the error for an unreachable server, with a remedy for the administrator.
pub(crate) fn away(target: &str, error: StoreError) -> StoreError {
    let problem = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    refused(target, &problem, "check that the server runs, accepts writes and is reachable from here, then start again")
}
