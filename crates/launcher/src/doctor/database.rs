//! Checks of the database: it is reachable, has this program's schema, takes writes, and its rows make progress.

use std::time::Duration;

use launcher_domain::AppType;
use launcher_store::StoreError;
use launcher_store::doctor::{Examination, Rows, Schema};
use rustix::fs::statvfs;

use super::clock::{Reading, now};
use super::report::Finding;
use super::{QUERY_TIMEOUT, Section, within};
use crate::settings::ServeSettings;

/// Remedy for a database that answers only some queries.
const REMEDY: &str = "Look at the server's own log; where the database is damaged, restore a backup";
/// Timeout for closing the connection.
const CLOSING: Duration = Duration::from_secs(1);
/// Minimum free space, in bytes; less gives a warning.
const ROOM: u64 = 200 << 20;
/// Maximum wait of the first queued launch while starts are below their limit. A longer wait means: no dispatch loop.
const TURN: Duration = Duration::from_secs(120);

/// Facts that other checks need from the database.
#[derive(Debug, Clone, Default)]
pub(super) struct Facts {
    /// Fleet that the rows are bound to; `Some(None)` for unbound rows, `None` if the query failed.
    pub(super) bound: Option<Option<String>>,
    /// App types that people can launch.
    pub(super) apps: Vec<AppType>,
    pub(super) clock: Option<Reading>,
}

pub(super) async fn check(settings: ServeSettings) -> Section<Facts> {
    let mut section = Section::default();
    let examination = match query(Examination::open(&settings.database_url())).await {
        Ok(examination) => examination,
        Err(problem) => {
            section.add([Finding::fail("database", not_opened(&settings, &problem))]);
            return section;
        }
    };
    if let Err((check, problem)) = run_queries(&settings, &examination, &mut section).await {
        section.add([Finding::fail(check, format!("{problem}. {REMEDY}"))]);
    }
    drop(tokio::time::timeout(CLOSING, examination.close()).await);
    section
}

fn not_opened(settings: &ServeSettings, problem: &str) -> String {
    match (&settings.database_url, problem.contains("no such file")) {
        (Some(_), false) => problem.to_owned(),
        (Some(_), true) => {
            format!("{problem} (SERVICE_DATABASE_URL). Where the service never ran, its first start makes it")
        }
        (None, false) => format!("{problem}. It is in SERVICE_DATA_DIR, as SERVICE_DATABASE_URL is not set"),
        (None, true) => {
            format!("{problem} (SERVICE_DATA_DIR). Where the service never ran, its first start makes it")
        }
    }
}

/// Awaits an answer with the timeout [`QUERY_TIMEOUT`]. An error has the database engine's own message.
async fn query<T>(answer: impl Future<Output = Result<T, StoreError>>) -> Result<T, String> {
    let answer = async {
        answer.await.map_err(|error| match error {
            StoreError::Unavailable(said) | StoreError::Other(said) => said.to_string(),
            other => other.to_string(),
        })
    };
    within(QUERY_TIMEOUT, answer).await
}

/// Runs the queries in order. The first failure ends the checks, and is returned with the name of its check.
async fn run_queries(
    settings: &ServeSettings,
    examination: &Examination,
    section: &mut Section<Facts>,
) -> Result<(), (&'static str, String)> {
    let engine = query(examination.engine()).await.map_err(|problem| ("database", problem))?;
    let location = examination.file().map_or_else(String::new, |file| format!(" in {}", file.display()));
    section.add([Finding::ok("database", format!("{engine}{location}"))]);
    let before = now();
    let clock = query(examination.clock()).await.map_err(|problem| ("database", problem))?;
    section.facts.clock = clock.map(|theirs| Reading::of("the database server's", theirs, before));
    section.add(room(examination));

    let schema = query(examination.schema()).await.map_err(|problem| ("schema", problem))?;
    section.add([assess_schema(schema)]);
    if schema != Schema::None {
        section.add([writing(examination).await]);
    }
    if matches!(schema, Schema::Current | Schema::Older(_)) {
        let failed = |problem| ("rows", problem);
        let rows = query(examination.rows()).await.map_err(failed)?;
        section.add(assess_rows(settings, &rows));
        section.facts.bound = Some(query(examination.bound_fleet()).await.map_err(failed)?);
        section.facts.apps = query(examination.apps()).await.map_err(failed)?;
    }
    Ok(())
}

fn assess_schema(schema: Schema) -> Finding {
    const CHECK: &str = "schema";
    match schema {
        Schema::Current => Finding::ok(CHECK, "it is this program's"),
        Schema::None => Finding::warn(
            CHECK,
            "the database is empty: the first start makes its tables. If there should be rows, SERVICE_DATABASE_URL or \
             SERVICE_DATA_DIR names the wrong one",
        ),
        Schema::Older(missing) => Finding::warn(
            CHECK,
            format!(
                "changes of the schema are missing ({missing}): the next start makes them. Back the database up first"
            ),
        ),
        Schema::Newer(version) => Finding::fail(CHECK, StoreError::NewerSchema { version }.to_string()),
        Schema::Changed(version) => Finding::fail(CHECK, StoreError::ChangedSchema { version }.to_string()),
    }
}

async fn writing(examination: &Examination) -> Finding {
    const CHECK: &str = "writing";
    match query(examination.is_read_only()).await {
        Ok(true) => {
            return Finding::fail(
                CHECK,
                "the server takes no writes: it is a standby, or told to be read-only. Let SERVICE_DATABASE_URL name the \
                 primary",
            );
        }
        Ok(false) => {}
        Err(problem) => return Finding::fail(CHECK, format!("{problem}. Look at the database server and its log")),
    }
    let (remedy, what) = if examination.file().is_some() {
        ("Look at the rights to the file and its folder, at the disk, and at who else has the file open", "the file")
    } else {
        ("Look at the rights of the user that SERVICE_DATABASE_URL names, and at who holds locks", "the server")
    };
    match query(examination.try_to_write()).await {
        Ok(()) => Finding::ok(CHECK, format!("{what} takes writes; the one that was tried was taken back")),
        Err(problem) => Finding::fail(CHECK, format!("{problem}. {remedy}")),
    }
}

/// Checks the free space on the volume of a SQLite database.
fn room(examination: &Examination) -> Option<Finding> {
    const CHECK: &str = "disk";
    let file = examination.file()?;
    let volume = statvfs(file).ok()?;
    let free = volume.f_bavail.saturating_mul(volume.f_frsize);
    let words = format!("{} MiB are free where {} is", free >> 20, file.display());
    Some(if free < ROOM {
        Finding::warn(CHECK, format!("{words}: without room no launch is taken. Free some, or enlarge the volume"))
    } else {
        Finding::ok(CHECK, words)
    })
}

fn assess_rows(settings: &ServeSettings, rows: &Rows) -> Option<Finding> {
    const CHECK: &str = "workshops";
    let of = |state| rows.states.get(state).copied().unwrap_or(0);
    let (queued, starting, limit) = (of("queued"), of("starting"), settings.max_concurrent_starts);
    let counts = rows.states.iter().filter(|(state, _)| **state != "terminated");
    let counts: Vec<String> = counts.map(|(state, count)| format!("{count} {state}")).collect();
    let counts = if counts.is_empty() { "none".to_owned() } else { counts.join(", ") };
    let waited = rows.oldest_queued.map(|launched| now().duration_since(launched).unsigned_abs());
    match waited {
        Some(waited) if waited > TURN && starting < limit => Some(Finding::warn(
            CHECK,
            format!(
                "{counts}. The first in line waits for {} minutes while only {starting} of {limit} are starting: nobody \
                 takes launches from the line. Is the launcher running and ready? If it is, restart it",
                waited.as_secs() / 60
            ),
        )),
        Some(waited) if waited > settings.limits().start_timeout => Some(Finding::warn(
            CHECK,
            format!(
                "{counts}. The line is long: {queued} wait, the first for {} minutes. If starts are quick, raise \
                 SERVICE_MAX_CONCURRENT_STARTS; if not, see what they wait for",
                waited.as_secs() / 60
            ),
        )),
        _ => Some(Finding::ok(CHECK, counts)),
    }
}
