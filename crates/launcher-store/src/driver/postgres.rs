//! PostgreSQL: a server with concurrent writers, for one or several replicas of this program.

use std::error::Error;
use std::str::FromStr;

use sqlx::any::AnyConnectOptions;
use sqlx::migrate::Migrator;

use super::engine::{DoctorQueries, Engine};
use crate::error::{StoreError, refused};

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
    migrations: &MIGRATIONS,
    doctor: DoctorQueries {
        session: "SET statement_timeout = '3s'; SET lock_timeout = '2s'; SET client_min_messages = warning",
        migrated: "SELECT 1 WHERE to_regclass('_sqlx_migrations') IS NOT NULL",
        version: "SHOW server_version",
        clock: Some("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)"),
    },
};
static MIGRATIONS: Migrator = sqlx::migrate!("migrations/postgres");

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
pub(super) fn options(url: &str) -> Result<(&'static Engine, String, AnyConnectOptions), StoreError> {
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
pub(super) fn away(target: &str, error: StoreError) -> StoreError {
    let problem = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    refused(target, &problem, "check that the server runs, accepts writes and is reachable from here, then start again")
}
