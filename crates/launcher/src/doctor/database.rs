//! Checks of the database: it is reachable, has this program's schema and accepts writes, and the queue makes progress.

use std::time::Duration;

use launcher_store::StoreError;
use launcher_store::doctor::{Examination, Rows, Schema};
use rustix::fs::statvfs;

use super::clock::{Reading, now};
use super::report::{Finding, fail, ok, warning};
use crate::doctor::report::{DatabaseFacts, QUERY_TIMEOUT, Section, within};
use crate::settings::ServeSettings;

/// Remedy for a database that answers only some queries.
const REMEDY: &str = "Read the database server's log. If the database is damaged, restore a backup";
/// Timeout for closing the database connection.
const CLOSING: Duration = Duration::from_secs(1);
/// Free space on the database's volume, in bytes, below which the doctor warns.
const ROOM: u64 = 200 << 20;
/// Maximum wait of the first queued launch while the limit on concurrent starts is not reached. After a longer wait the
/// doctor reports that the queue stalls.
const TURN: Duration = Duration::from_secs(120);

pub(super) async fn check(settings: ServeSettings) -> Section<DatabaseFacts> {
    let examination = match query(Examination::open(&settings.database.url())).await {
        Ok(examination) => examination,
        Err(problem) => return Finding::fail("database", not_opened(&settings, &problem)).into(),
    };
    let mut section = Section::default();
    if let Err((check, problem)) = run_queries(&settings, &examination, &mut section).await {
        section.add([fail!(check, "{problem}. {REMEDY}")]);
    }
    drop(tokio::time::timeout(CLOSING, examination.close()).await);
    section
}

fn not_opened(settings: &ServeSettings, problem: &str) -> String {
    let is_default = settings.database.database_url.is_none();
    if problem.contains("no such file") {
        let setting = if is_default { "SERVICE_DATA_DIR" } else { "SERVICE_DATABASE_URL" };
        format!("{problem} ({setting}). Correct the path, or start the service: its first start creates the file")
    } else if is_default {
        format!("{problem}. Check SERVICE_DATA_DIR: it has the database, because SERVICE_DATABASE_URL is not set")
    } else {
        problem.to_owned()
    }
}

/// Awaits the answer to a database query, for at most [`QUERY_TIMEOUT`]. The error is the database engine's own
/// message.
async fn query<T>(answer: impl Future<Output = Result<T, StoreError>>) -> Result<T, String> {
    let answer = async {
        answer.await.map_err(|error| match error {
            StoreError::Unavailable(said) | StoreError::Other(said) => said.to_string(),
            other => other.to_string(),
        })
    };
    within(QUERY_TIMEOUT, answer).await
}

/// Runs the database queries in order. Stops at the first error, and returns it with the name of the failed check.
async fn run_queries(
    settings: &ServeSettings,
    examination: &Examination,
    section: &mut Section<DatabaseFacts>,
) -> Result<(), (&'static str, String)> {
    let engine = query(examination.engine()).await.map_err(|problem| ("database", problem))?;
    let location = examination.file().map_or_else(String::new, |file| format!(" in {}", file.display()));
    section.add([ok!("database", "{engine}{location}")]);
    let before = now();
    let clock = query(examination.clock()).await.map_err(|problem| ("database", problem))?;
    section.facts.clock = clock.map(|theirs| Reading::of("the database server", theirs, before));
    section.add(room(examination));

    let schema = query(examination.schema()).await.map_err(|problem| ("schema", problem))?;
    section.add([assess_schema(schema)]);
    if schema != Schema::None {
        section.add([writing(examination).await]);
    }
    if matches!(schema, Schema::Current | Schema::Older(_)) {
        let failed = |problem| ("rows", problem);
        let rows = query(examination.rows()).await.map_err(failed)?;
        section.add([assess_rows(settings, &rows)]);
        section.facts.bound = Some(query(examination.bound_fleet()).await.map_err(failed)?);
        section.facts.catalog = query(examination.catalog_needs()).await.map_err(failed)?;
    }
    Ok(())
}

fn assess_schema(schema: Schema) -> Finding {
    const CHECK: &str = "schema";
    match schema {
        Schema::Current => Finding::ok(CHECK, "the tables match this version of the launcher"),
        Schema::None => Finding::warn(
            CHECK,
            "the database is empty: the first start creates its tables. If you expect rows, correct \
             SERVICE_DATABASE_URL or SERVICE_DATA_DIR",
        ),
        Schema::Older(missing) => {
            warning!(
                CHECK,
                "migrations are missing ({missing}): the next start applies them. Back up the database first"
            )
        }
        Schema::Newer(version) => Finding::fail(CHECK, StoreError::NewerSchema { version }.to_string()),
        Schema::Changed(version) => Finding::fail(CHECK, StoreError::ChangedSchema { version }.to_string()),
    }
}

async fn writing(examination: &Examination) -> Finding {
    const CHECK: &str = "writes";
    match query(examination.is_read_only()).await {
        Ok(true) => {
            return Finding::fail(
                CHECK,
                "the server refuses writes: it is a standby or read-only. Set SERVICE_DATABASE_URL to the primary",
            );
        }
        Ok(false) => {}
        Err(problem) => return fail!(CHECK, "{problem}. Read the database server's log"),
    }
    let (remedy, what) = if examination.file().is_some() {
        (
            "Check the permissions of the file and its folder, the disk, and other programs that have the file open",
            "the file",
        )
    } else {
        ("Check the permissions of the user in SERVICE_DATABASE_URL, and sessions that hold locks", "the server")
    };
    match query(examination.try_to_write()).await {
        Ok(()) => ok!(CHECK, "{what} accepts writes; the test write is rolled back"),
        Err(problem) => fail!(CHECK, "{problem}. {remedy}"),
    }
}

/// Checks the free space on the volume of a SQLite database.
fn room(examination: &Examination) -> Option<Finding> {
    const CHECK: &str = "disk";
    let file = examination.file()?;
    let volume = statvfs(file).ok()?;
    let free = volume.f_bavail.saturating_mul(volume.f_frsize);
    let words = format!("{} MiB are free on the volume of {}", free >> 20, file.display());
    Some(if free < ROOM {
        warning!(CHECK, "{words}: on a full volume launches fail. Free space, or enlarge the volume")
    } else {
        Finding::ok(CHECK, words)
    })
}

fn assess_rows(settings: &ServeSettings, rows: &Rows) -> Finding {
    const CHECK: &str = "workshops";
    let of = |state| rows.states.get(state).copied().unwrap_or(0);
    let (queued, starting, limit) = (of("queued"), of("starting"), settings.limits.max_concurrent_starts);
    let counts = rows.states.iter().filter(|(state, _)| **state != "terminated");
    let counts: Vec<String> = counts.map(|(state, count)| format!("{count} {state}")).collect();
    let counts = if counts.is_empty() { "none".to_owned() } else { counts.join(", ") };
    let waited = rows.oldest_queued.map(|launched| now().duration_since(launched).unsigned_abs());
    match waited {
        Some(waited) if waited > TURN && starting < limit => warning!(
            CHECK,
            "{counts}. The queue stalls: its first launch has waited for {} minutes while {starting} of at most \
             {limit} workshops start. Check that the launcher is ready; if it is, restart it",
            waited.as_secs() / 60
        ),
        Some(waited) if waited > settings.limits.start_timeout => warning!(
            CHECK,
            "{counts}. The queue is long: {queued} launches wait, the first for {} minutes. If starts are quick, \
             raise SERVICE_MAX_CONCURRENT_STARTS; if not, check what the starting workshops wait for",
            waited.as_secs() / 60
        ),
        _ => Finding::ok(CHECK, counts),
    }
}
