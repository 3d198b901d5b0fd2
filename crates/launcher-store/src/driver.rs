//! Differences between the engines: opening a URL, session settings, the start of a write, and the migrations.

mod postgres;
mod sqlite;

use std::path::Path;
use std::time::Duration;

use sqlx::any::{AnyConnectOptions, AnyPoolOptions};
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::{AnyConnection, AnyPool, ConnectOptions, Connection, Executor, Row};
use tokio::time::{Instant, sleep, timeout};

use crate::error::{StoreError, is_locked, timeout_error};

/// Maximum wait of a request for a connection or a write permit, and maximum duration of opening the database.
pub(crate) const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum duration of one statement, including the wait for a connection. A server's own timeout is shorter. This one
/// is for a server that vanished silently: its connections would otherwise wait for hours.
pub(crate) const STATEMENT_TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum duration of a connection attempt, a session setup or a liveness check.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// Backoff after a failed attempt to open (no server, or a locked file): first and maximum delay.
const RETRY: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(500));

/// One database engine.
#[derive(Debug)]
pub(crate) struct Engine {
    /// Statements run on each new connection.
    session: &'static str,
    /// Begins a transaction that will write.
    pub(crate) begin_write: &'static str,
    /// Begins a transaction whose reads all see one snapshot.
    pub(crate) begin_snapshot: &'static str,
    /// Connections of the pool. `writers` is smaller, so that a read never waits for writers.
    connections: u32,
    /// Maximum concurrent write transactions of this process.
    pub(crate) writers: usize,
    /// Query sent to a server before and after each use of a connection. The answer `on` means that the server no
    /// longer takes writes, and that another server may have its name by now.
    read_only: Option<&'static str>,
    /// SQL expression for the template name in an instance's settings, in lower case: the sort key of lists.
    pub(crate) template_name: &'static str,
    migrations: &'static Migrator,
    pub(crate) doctor: DoctorQueries,
}

/// Queries of `launcher doctor`.
#[derive(Debug)]
pub(crate) struct DoctorQueries {
    /// Sets timeouts on each connection; used instead of `Engine::session`.
    session: &'static str,
    /// Returns one row if migrations have been run.
    pub(crate) migrated: &'static str,
    /// Returns the engine's version as text.
    pub(crate) version: &'static str,
    /// Returns the server's clock in milliseconds since the epoch; `None` if the engine uses this host's clock.
    pub(crate) clock: Option<&'static str>,
}

impl Engine {
    /// Returns version and checksum of each embedded migration, oldest first.
    pub(crate) fn migrations(&self) -> impl Iterator<Item = (i64, &[u8])> {
        self.migrations.iter().map(|migration| (migration.version, migration.checksum.as_ref()))
    }

    /// Returns the query that shows if the server refuses writes; `None` for an engine without a server.
    pub(crate) fn read_only(&self) -> Option<&'static str> {
        self.read_only
    }
}

/// Returns an error for a SQLite URL without an existing file. Other URLs pass: a server's database exists or fails to
/// open.
pub(crate) fn must_exist(url: &str) -> Result<(), StoreError> {
    let Some(("sqlite", path)) = url.split_once(':') else { return Ok(()) };
    let path = path.strip_prefix("//").unwrap_or(path);
    let problem = match Path::new(path).metadata() {
        Ok(found) if found.is_file() => return Ok(()),
        Ok(_) => "it is not a file".to_owned(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(refused(path, &problem, "check its path"))
}

/// Opens the database at a URL and applies pending migrations.
pub(crate) async fn open(url: &str) -> Result<(AnyPool, &'static Engine), StoreError> {
    let (engine, target, options) = options(url).await?;
    prepare(&options, engine, &target).await?;
    let pool = pool(engine).connect_with(options).await?;
    Ok((pool, engine))
}

/// Opens the database at a URL without creating, configuring or migrating it. Makes one attempt.
pub(crate) async fn open_unmigrated(url: &str) -> Result<(AnyPool, &'static Engine), StoreError> {
    must_exist(url)?;
    let (engine, target, options) = options(url).await?;
    let session = engine.doctor.session;
    // The pool would hide the reason of a failed connection.
    let connection = connect(&options, session).await.map_err(|error| match not_opened(error, &target) {
        error @ StoreError::Unavailable(_) if engine.read_only.is_some() => postgres::away(&target, error),
        error => error,
    })?;
    connection.close().await?;
    let pool = AnyPoolOptions::new()
        .max_connections(1)
        .acquire_timeout(CONNECT_TIMEOUT)
        .after_connect(move |connection, _| Box::pin(set_up(connection, session)));
    Ok((pool.connect_with(options).await?, engine))
}

async fn options(url: &str) -> Result<(&'static Engine, String, AnyConnectOptions), StoreError> {
    sqlx::any::install_default_drivers();
    match url.split_once(':') {
        Some(("sqlite", path)) => sqlite::options(path.strip_prefix("//").unwrap_or(path)).await,
        Some(("postgres" | "postgresql", _)) => postgres::options(url),
        _ => Err(refused(
            "that the settings name",
            "its URL names no database that this program knows",
            "set SERVICE_DATABASE_URL to sqlite:///path/to/launcher.db or postgres://user:password@host/database",
        )),
    }
}

fn pool(engine: &'static Engine) -> AnyPoolOptions {
    let options = AnyPoolOptions::new()
        .max_connections(engine.connections)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .after_connect(move |connection, _| Box::pin(set_up(connection, engine.session)));
    let Some(question) = engine.read_only else {
        // A file needs no liveness check, and each query is a round trip to SQLite's thread.
        return options.test_before_acquire(false).after_release(|connection, _| Box::pin(is_whole(connection)));
    };
    // The pool's own liveness check has no timeout: it hangs if the server vanished silently.
    options
        .test_before_acquire(false)
        .before_acquire(move |connection, _| Box::pin(takes_writes(connection, question)))
        .after_release(move |connection, _| Box::pin(takes_writes(connection, question)))
}

async fn connect(options: &AnyConnectOptions, session: &'static str) -> Result<AnyConnection, sqlx::Error> {
    let mut connection = timeout(CONNECT_TIMEOUT, options.connect()).await.unwrap_or_else(|_| Err(timeout_error()))?;
    set_up(&mut connection, session).await?;
    Ok(connection)
}

async fn set_up(connection: &mut AnyConnection, session: &'static str) -> Result<(), sqlx::Error> {
    timeout(CONNECT_TIMEOUT, connection.execute(session)).await.map_err(|_| timeout_error())?.map(|_| ())
}

/// Checks that no transaction is left open on the connection. On a full disk SQLite rolls back on its own, and the
/// driver's later rollback fails. The driver would then count a transaction forever, and refuse to begin another.
async fn is_whole(connection: &mut AnyConnection) -> Result<bool, sqlx::Error> {
    if connection.is_in_transaction() {
        // The driver answers in order: a pending rollback is done when the ping returns.
        connection.ping().await?;
    }
    Ok(!connection.is_in_transaction())
}

async fn takes_writes(connection: &mut AnyConnection, question: &'static str) -> Result<bool, sqlx::Error> {
    let answer = timeout(CONNECT_TIMEOUT, connection.fetch_one(question)).await.map_err(|_| timeout_error())??;
    Ok(answer.try_get::<String, _>(0)? != "on")
}

/// Opens the database once and applies pending migrations. Retries until `ACQUIRE_TIMEOUT` has passed while the
/// database is locked or the server does not answer. The pool would retry as long, but hide the reason.
async fn prepare(options: &AnyConnectOptions, engine: &Engine, target: &str) -> Result<(), StoreError> {
    let deadline = Instant::now() + ACQUIRE_TIMEOUT;
    let (mut pause, longest) = RETRY;
    loop {
        let error = match prepare_once(options, engine, target).await {
            // SQLite does not wait for the lock while a file switches to WAL. A process that opens a new file at the
            // same time as others therefore retries.
            Err(error @ StoreError::Unavailable(_)) => error,
            decided => return decided,
        };
        if Instant::now() > deadline {
            return Err(if engine.read_only.is_some() { postgres::away(target, error) } else { error });
        }
        sleep(pause).await;
        pause = longest.min(pause * 2);
    }
}

async fn prepare_once(options: &AnyConnectOptions, engine: &Engine, target: &str) -> Result<(), StoreError> {
    let mut connection = connect(options, engine.session).await.map_err(|error| not_opened(error, target))?;
    migrate(&mut connection, engine.migrations, target).await?;
    Ok(connection.close().await?)
}

/// Returns locks and an absent server as errors that `prepare` retries: a lock is released, and a server may come back.
/// Every other error needs a correction by an admin.
fn not_opened(error: sqlx::Error, target: &str) -> StoreError {
    let problem = match &error {
        sqlx::Error::Database(said) if said.code().is_some_and(|code| is_locked(&code)) => return error.into(),
        sqlx::Error::Database(said) => said.message().to_owned(),
        // A certificate that TLS rejected.
        sqlx::Error::Io(said) if said.kind() == std::io::ErrorKind::InvalidData => said.to_string(),
        sqlx::Error::Tls(_) | sqlx::Error::Protocol(_) | sqlx::Error::Configuration(_) => error.to_string(),
        _ => return error.into(),
    };
    refused(target, &problem, "look at it and at the rights to it, or set SERVICE_DATABASE_URL to another one")
}

/// Several processes may open a new database at once. PostgreSQL serializes them. On SQLite the loser of a race fails,
/// and finds the migration applied when it retries. It may lose the race at each migration, so the retries are as many
/// as the migrations.
async fn migrate(connection: &mut AnyConnection, migrations: &Migrator, target: &str) -> Result<(), StoreError> {
    let mut outcome = migrations.run(&mut *connection).await;
    for _ in migrations.iter() {
        let Err(MigrateError::ExecuteMigration(..) | MigrateError::Execute(_)) = outcome else { break };
        outcome = migrations.run(&mut *connection).await;
    }
    outcome.map_err(|error| match error {
        MigrateError::VersionMissing(version) => StoreError::NewerSchema { version },
        MigrateError::VersionMismatch(version) => StoreError::ChangedSchema { version },
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => not_opened(error, target),
        other => StoreError::Other(other.into()),
    })
}

fn refused(target: &str, problem: &str, remedy: &'static str) -> StoreError {
    StoreError::Open { target: target.to_owned(), problem: problem.to_owned(), remedy }
}
