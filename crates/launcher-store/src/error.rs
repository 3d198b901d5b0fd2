//! Errors of the store.

use std::error::Error;

use uuid::Uuid;

/// Error of a read or a write. Its message contains neither SQL nor a stored value. The engine's error is its source,
/// which only the log shows.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database is locked, busy, unreachable, out of connections, or its storage fails. The same request may
    /// succeed later. Nothing was written, with one exception: if the connection broke during a commit, the outcome is
    /// unknown.
    #[error(
        "the database cannot answer right now (locked, busy, unreachable, or its storage fails): try again in a moment"
    )]
    Unavailable(#[source] Box<dyn Error + Send + Sync>),
    /// The database was last opened by a newer program.
    #[error(
        "the database has schema change {version}, which this program does not know: run the newer version that wrote \
         it, or restore the backup that was made before the upgrade"
    )]
    NewerSchema {
        /// Version of the migration that this program lacks.
        version: i64,
    },
    #[error(
        "schema change {version} of the database differs from this program's: they come from different builds; run the \
         version that created the database, or start with a new one"
    )]
    ChangedSchema {
        /// Version of the migration that differs.
        version: i64,
    },
    /// A row has a value that this program never writes.
    #[error(
        "row {row} of table {table} has an unreadable value in column {column}: it was changed from outside; correct it \
         by hand or restore a backup"
    )]
    Corrupt {
        table: &'static str,
        /// The row's identifier; nil when the identifier itself is unreadable.
        row: Uuid,
        column: &'static str,
    },
    #[error("another template has the slug")]
    SlugTaken { slug: String },
    #[error("another class has the slug")]
    ClassSlugTaken { slug: String },
    #[error("the creator has {limit} classes")]
    TooManyClasses {
        /// Maximum number of classes that are not archived.
        limit: u32,
    },
    #[error("the class has no other teacher")]
    NoTeacher,
    /// The class would have more members than [`launcher_domain::class::MAX_MEMBERS`].
    #[error("the class has too many members")]
    TooManyMembers,
    #[error("the role in the class does not permit this any more")]
    ClassRole,
    #[error("the database to copy from is empty: check its URL")]
    NothingToCopy,
    #[error("cannot open the database {target}: {problem}; {remedy}")]
    Open {
        /// The path, or the kind of URL; never a password.
        target: String,
        problem: String,
        remedy: &'static str,
    },
    #[error("the database to copy to is not empty: its table {table} has rows; give a new, empty one")]
    NotEmpty {
        /// The first table that has rows.
        table: &'static str,
    },
    /// The engine refused a statement: a bug in this program or a damaged database.
    #[error("the database refused a statement: see the log for its message")]
    Other(#[source] Box<dyn Error + Send + Sync>),
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        if is_unavailable(&error) { Self::Unavailable(error.into()) } else { Self::Other(error.into()) }
    }
}

fn is_unavailable(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed
        | sqlx::Error::BeginFailed
        | sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::Protocol(_) => true,
        sqlx::Error::Database(database) => database.code().is_some_and(|code| is_unavailable_code(&code)),
        _ => false,
    }
}

/// Returns true for errors that may be temporary. This includes SQLite's READONLY, IOERR, FULL, CANTOPEN and PROTOCOL,
/// because the storage may recover. It also includes a rejected password and a missing database, because an
/// administrator may be changing them.
fn is_unavailable_code(code: &str) -> bool {
    const SQLSTATE: [&str; 2] = ["28", "3D"];
    is_locked(code)
        || match primary_code(code) {
            Some(code) => matches!(code, 8 | 10 | 13 | 14 | 15),
            None => SQLSTATE.iter().any(|class| code.starts_with(class)),
        }
}

/// Returns true if the engine is reachable but currently cannot run the statement. For SQLite: BUSY and LOCKED. For
/// PostgreSQL: the SQLSTATE classes of connection, resource, shutdown and system errors, and the codes of deadlock,
/// serialization failure, lock timeout, idle transaction timeout, and a server that is read-only after a failover.
pub(crate) fn is_locked(code: &str) -> bool {
    const SQLSTATE: [&str; 9] = ["08", "53", "57", "58", "25006", "25P03", "40001", "40P01", "55P03"];
    match primary_code(code) {
        Some(code) => matches!(code, 5 | 6),
        None => SQLSTATE.iter().any(|class| code.starts_with(class)),
    }
}

/// Returns the error for a database that cannot be opened with these settings.
pub(crate) fn refused(target: &str, problem: &str, remedy: &'static str) -> StoreError {
    StoreError::Open { target: target.to_owned(), problem: problem.to_owned(), remedy }
}

/// Returns the error for a database that does not answer in time.
pub(crate) fn timeout_error() -> sqlx::Error {
    sqlx::Error::Io(std::io::Error::new(std::io::ErrorKind::TimedOut, "the database does not answer"))
}

/// Returns SQLite's primary result code, without the extension in the higher bits; `None` for an SQLSTATE. An SQLSTATE
/// has five characters, and SQLite's codes have fewer digits.
fn primary_code(code: &str) -> Option<i32> {
    (code.len() < 5).then(|| code.parse::<i32>().ok()).flatten().map(|code| code & 0xff)
}
