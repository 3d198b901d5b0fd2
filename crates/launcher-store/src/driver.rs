//! What differs between engines, and nothing else: how a URL is opened, how a session is set up, how a write begins,
//! which migrations apply.

mod postgres;
mod sqlite;

use std::path::Path;
use std::time::Duration;

use sqlx::any::{AnyConnectOptions, AnyPoolOptions};
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::{AnyConnection, AnyPool, ConnectOptions, Connection, Executor, Row};
use tokio::time::{Instant, sleep, timeout};

use crate::error::{StoreError, is_locked, silent};

/// How long a request waits for a connection, or for its turn to write; and how long an opening is tried.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// How long one statement may take, with the wait for a connection. A server ends it earlier by itself; this is for one
/// that is gone without a word, whose connections would wait for hours.
pub(crate) const STATEMENT: Duration = Duration::from_secs(20);
/// How long a server may take to greet, or to say that a connection is still alive.
const GREETING: Duration = Duration::from_secs(3);
/// How soon an opening that found nobody, or a locked file, is tried again: at first, and at most.
const RETRY: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(500));

/// One database engine.
#[derive(Debug)]
pub(crate) struct Engine {
    /// Run on each new connection.
    session: &'static str,
    /// Begins a transaction that will write.
    pub(crate) begin_write: &'static str,
    /// Begins a transaction in which all reads see the same moment.
    pub(crate) begin_snapshot: &'static str,
    /// Connections of the pool. Fewer may write, so that a read never waits behind writers.
    connections: u32,
    /// Transactions of this process that may write at the same time.
    pub(crate) writers: usize,
    /// Asked of a connection to a server, before and after each use; `on` means that the server takes no writes any
    /// more, and that another may have its name by now.
    read_only: Option<&'static str>,
    /// The name in an instance's settings, in small letters: what lists are sorted by.
    pub(crate) template_name: &'static str,
    migrations: &'static Migrator,
    pub(crate) doctor: Questions,
}

/// What `launcher doctor` asks of an engine.
#[derive(Debug)]
pub(crate) struct Questions {
    /// Run on each connection instead of the session: it only limits how long an answer may take.
    session: &'static str,
    /// Answers one row where migrations have been run.
    pub(crate) migrated: &'static str,
    /// The engine's version, as text.
    pub(crate) version: &'static str,
    /// Milliseconds since the epoch, on the server's clock; `None` where it is this machine's.
    pub(crate) clock: Option<&'static str>,
}

impl Engine {
    /// The migrations that this program carries, oldest first: version and checksum.
    pub(crate) fn migrations(&self) -> impl Iterator<Item = (i64, &[u8])> {
        self.migrations.iter().map(|migration| (migration.version, migration.checksum.as_ref()))
    }

    /// Whether this program may ask for writes and be told that the server takes none.
    pub(crate) fn read_only(&self) -> Option<&'static str> {
        self.read_only
    }
}

/// Refuses the URL of a file that is not there. A database of a server is there, or cannot be opened.
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

/// Opens the database that a URL names, and brings its schema up to date.
pub(crate) async fn open(url: &str) -> Result<(AnyPool, &'static Engine), StoreError> {
    let (engine, target, options) = options(url).await?;
    prepare(&options, engine, &target).await?;
    let pool = pool(engine).connect_with(options).await?;
    Ok((pool, engine))
}

/// Opens the database that a URL names as it is: nothing is made, set or brought up to date. Tried once.
pub(crate) async fn open_as_it_is(url: &str) -> Result<(AnyPool, &'static Engine), StoreError> {
    must_exist(url)?;
    let (engine, target, options) = options(url).await?;
    let session = engine.doctor.session;
    // The pool would keep to itself why it cannot connect.
    let connection = connect(&options, session).await.map_err(|error| match not_opened(error, &target) {
        error @ StoreError::Unavailable(_) if engine.read_only.is_some() => postgres::away(&target, error),
        error => error,
    })?;
    connection.close().await?;
    let pool = AnyPoolOptions::new()
        .max_connections(1)
        .acquire_timeout(GREETING)
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
        .acquire_timeout(PATIENCE)
        .after_connect(move |connection, _| Box::pin(set_up(connection, engine.session)));
    let Some(question) = engine.read_only else {
        // A file needs no asking whether it is still there; each question is a way to SQLite's thread and back.
        return options.test_before_acquire(false).after_release(|connection, _| Box::pin(is_whole(connection)));
    };
    // The pool's own test of a connection has no end where the server is gone without a word.
    options
        .test_before_acquire(false)
        .before_acquire(move |connection, _| Box::pin(takes_writes(connection, question)))
        .after_release(move |connection, _| Box::pin(takes_writes(connection, question)))
}

async fn connect(options: &AnyConnectOptions, session: &'static str) -> Result<AnyConnection, sqlx::Error> {
    let mut connection = timeout(GREETING, options.connect()).await.unwrap_or_else(|_| Err(silent()))?;
    set_up(&mut connection, session).await?;
    Ok(connection)
}

async fn set_up(connection: &mut AnyConnection, session: &'static str) -> Result<(), sqlx::Error> {
    timeout(GREETING, connection.execute(session)).await.map_err(|_| silent())?.map(|_| ())
}

/// Whether nothing is left of the transaction that ran on it. Where the disk is full, SQLite rolls back by itself, and the
/// driver's own rollback then fails: the driver would count a transaction for ever, and refuse to begin another.
async fn is_whole(connection: &mut AnyConnection) -> Result<bool, sqlx::Error> {
    if connection.is_in_transaction() {
        // What was asked before is done when this is answered, a rollback among it.
        connection.ping().await?;
    }
    Ok(!connection.is_in_transaction())
}

async fn takes_writes(connection: &mut AnyConnection, question: &'static str) -> Result<bool, sqlx::Error> {
    let answer = timeout(GREETING, connection.fetch_one(question)).await.map_err(|_| silent())??;
    Ok(answer.try_get::<String, _>(0)? != "on")
}

/// Opens the database once, and brings its schema up to date; again and again, for a while, where somebody holds a lock
/// or nobody answers. The pool would try as long, and keep the reason to itself.
async fn prepare(options: &AnyConnectOptions, engine: &Engine, target: &str) -> Result<(), StoreError> {
    let deadline = Instant::now() + PATIENCE;
    let (mut pause, longest) = RETRY;
    loop {
        let error = match prepare_once(options, engine, target).await {
            // SQLite does not wait for its lock where a file turns to WAL: who opens a new file beside others tries
            // again.
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

/// Whoever holds a lock gives it back, and a server that is away may come; everything else has to be put right first.
fn not_opened(error: sqlx::Error, target: &str) -> StoreError {
    let problem = match &error {
        sqlx::Error::Database(said) if said.code().is_some_and(|code| is_locked(&code)) => return error.into(),
        sqlx::Error::Database(said) => said.message().to_owned(),
        // What TLS says of a certificate.
        sqlx::Error::Io(said) if said.kind() == std::io::ErrorKind::InvalidData => said.to_string(),
        sqlx::Error::Tls(_) | sqlx::Error::Protocol(_) | sqlx::Error::Configuration(_) => error.to_string(),
        _ => return error.into(),
    };
    refused(target, &problem, "look at it and at the rights to it, or set SERVICE_DATABASE_URL to another one")
}

/// Several processes may open a new database at once. PostgreSQL lets them wait for each other; with SQLite one that
/// comes second finds its step done when it looks again, and may come second at each step.
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
