//! Engine: the statements and limits that differ between SQLite and PostgreSQL.

use sqlx::migrate::Migrator;

/// One database engine.
#[derive(Debug)]
pub(crate) struct Engine {
    /// Statements run on each new connection.
    pub(super) session: &'static str,
    /// SQL statement that begins a write transaction.
    pub(crate) begin_write: &'static str,
    /// SQL statement that begins a transaction whose reads all see the same snapshot.
    pub(crate) begin_snapshot: &'static str,
    /// Statement before the pool closes its connections.
    pub(crate) before_close: Option<&'static str>,
    /// Number of connections of the pool. It exceeds `writers`, so that a read does not wait for a writer's connection.
    pub(super) connections: u32,
    /// Maximum concurrent write transactions of this process.
    pub(crate) writers: usize,
    /// Query that the store sends before and after each use of a connection. The answer `on` means that the server
    /// refuses writes after a failover. The store then closes the connection, because the host name may belong to
    /// another server now.
    pub(super) read_only: Option<&'static str>,
    /// SQL expression for the template name in an instance's settings, in lower case: the sort key of lists.
    pub(crate) template_name: &'static str,
    pub(super) migrations: &'static Migrator,
    pub(crate) doctor: DoctorQueries,
}

/// Queries of `launcher doctor`.
#[derive(Debug)]
pub(crate) struct DoctorQueries {
    /// SQL statements run on each new connection of `launcher doctor`. They replace `Engine::session`, and set only
    /// timeouts.
    pub(super) session: &'static str,
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

    /// Returns the query that shows if the server refuses writes; `None` for an engine without a server.
    pub(crate) fn read_only(&self) -> Option<&'static str> {
        self.read_only
    }
}
