//! Opens the database at a URL, and applies migrations.

use std::path::Path;
use std::time::Duration;

use sqlx::any::{AnyConnectOptions, AnyPoolOptions};
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::{AnyConnection, AnyPool, ConnectOptions, Connection, Executor, Row};
use tokio::time::{Instant, sleep, timeout};

use crate::engine::{Engine, away, postgres_options, sqlite_options};
use crate::error::{StoreError, is_locked, refused, timeout_error};

/// Maximum wait of a request for a connection or a write permit, and maximum duration of opening the database.
pub(crate) const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum duration of one statement, including the wait for a connection. The server has a shorter timeout of its own.
/// This timeout is needed if the server disappears without closing its connections: they would otherwise wait for
/// hours.
pub(crate) const STATEMENT_TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum duration of a connection attempt, a session setup or a liveness check.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// Backoff after a failed attempt to open (no server, or a locked file): first and maximum delay.
const RETRY: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(500));

/// Returns an error for a SQLite URL whose file does not exist. Accepts other URLs: opening fails if the server lacks
/// the database.
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
    // Connect without the pool, because the pool hides the reason of a failed connection.
    let connection = connect(&options, session).await.map_err(|error| match not_opened(error, &target) {
        error @ StoreError::Unavailable(_) if engine.read_only.is_some() => away(&target, error),
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
        Some(("sqlite", path)) => sqlite_options(path.strip_prefix("//").unwrap_or(path)).await,
        Some(("postgres" | "postgresql", _)) => postgres_options(url),
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
        // SQLite needs no liveness check before each use, which would cost a round trip to SQLite's thread.
        return options.test_before_acquire(false).after_release(|connection, _| Box::pin(is_whole(connection)));
    };
    // Replace the pool's liveness check, which has no timeout: it would hang if the server disappeared.
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

/// Checks that the driver counts no open transaction on the connection. If the disk is full, SQLite rolls back without
/// a request, and the driver's own rollback fails. The driver then still counts a transaction, and cannot begin
/// another.
async fn is_whole(connection: &mut AnyConnection) -> Result<bool, sqlx::Error> {
    if connection.is_in_transaction() {
        // The driver handles commands in order, so a pending rollback has been handled when the ping returns.
        connection.ping().await?;
    }
    Ok(!connection.is_in_transaction())
}

async fn takes_writes(connection: &mut AnyConnection, question: &'static str) -> Result<bool, sqlx::Error> {
    let answer = timeout(CONNECT_TIMEOUT, connection.fetch_one(question)).await.map_err(|_| timeout_error())??;
    Ok(answer.try_get::<String, _>(0)? != "on")
}

/// Opens the database once and applies pending migrations. Retries until `ACQUIRE_TIMEOUT` has passed while the
/// database is locked or the server does not answer. Does not use the pool, because the pool would hide the reason of a
/// failure.
async fn prepare(options: &AnyConnectOptions, engine: &Engine, target: &str) -> Result<(), StoreError> {
    let deadline = Instant::now() + ACQUIRE_TIMEOUT;
    let (mut pause, longest) = RETRY;
    loop {
        let error = match prepare_once(options, engine, target).await {
            // SQLite does not wait for the lock while a file switches to WAL. A process therefore has to retry if
            // others open the new file at the same time.
            Err(error @ StoreError::Unavailable(_)) => error,
            decided => return decided,
        };
        if Instant::now() > deadline {
            return Err(if engine.read_only.is_some() { away(target, error) } else { error });
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

/// Converts an error of opening. A lock and an unreachable server become [`StoreError::Unavailable`], which `prepare`
/// retries. Every other error needs a correction by an administrator.
fn not_opened(error: sqlx::Error, target: &str) -> StoreError {
    let problem = match &error {
        sqlx::Error::Database(said) if said.code().is_some_and(|code| is_locked(&code)) => return error.into(),
        sqlx::Error::Database(said) => said.message().to_owned(),
        // TLS rejected the server's certificate.
        sqlx::Error::Io(said) if said.kind() == std::io::ErrorKind::InvalidData => said.to_string(),
        sqlx::Error::Tls(_) | sqlx::Error::Protocol(_) | sqlx::Error::Configuration(_) => error.to_string(),
        _ => return error.into(),
    };
    refused(target, &problem, "check the database and its permissions, or set SERVICE_DATABASE_URL to another one")
}

/// Applies pending migrations. Several processes may do this at once. PostgreSQL serializes them. On SQLite, a process
/// fails if another one applied the migration first, and succeeds when it retries. This may happen at each migration,
/// so the maximum number of retries is the number of migrations.
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
