//! Databases of an earlier version are opened, read, and migrated to the storage of this version.

use std::collections::BTreeMap;

use launcher_domain::template::TemplateSettings;
use launcher_domain::{EndReason, FailureCode, FailureReason, Instance, InstanceState};
use launcher_store::{FleetBinding, InstanceFilter, LaunchOutcome, LaunchRules, StateFilter, Store};
use sqlx::migrate::Migrator;
use sqlx::{AnyConnection, Connection, Row};
use uuid::Uuid;

use crate::support::*;

static SQLITE: Migrator = sqlx::migrate!("migrations/sqlite");
static POSTGRES: Migrator = sqlx::migrate!("migrations/postgres");

/// Last migration of the version that stored settings with each instance.
const SETTINGS_IN_ROWS: i64 = 5;

const TEMPLATE: &str = "INSERT INTO workshop_templates (template_id, settings, active, version, created_by, created_at, \
                        updated_at) VALUES ($1, $2, 1, 1, 'root@example.org', $3, $3)";
const INSTANCE: &str = "INSERT INTO workshop_instances (instance_id, k8s_name, owner_email, template_id, settings, state, \
     reason, url, created_at, dispatched_at, started_at, expires_at, ended_at, end_reason, spec_version, \
     applied_version, workshop_uid, revision, launch_number) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $18)";
const KEY: &str = "INSERT INTO idempotency_keys (owner_email, idempotency_key, body_hash, k8s_name, created_at) \
                   VALUES ($1, 'key', 'hash', $2, 0)";

async fn earlier_version(url: &str) -> AnyConnection {
    sqlx::any::install_default_drivers();
    if let Some(path) = url.strip_prefix("sqlite://") {
        std::fs::File::create(path).unwrap();
    }
    let mut connection = AnyConnection::connect(url).await.unwrap();
    let all = if url.starts_with("sqlite") { &SQLITE } else { &POSTGRES };
    let then = all.iter().filter(|migration| migration.version <= SETTINGS_IN_ROWS).cloned().collect();
    Migrator::with_migrations(then).run(&mut connection).await.unwrap();
    connection
}

fn millis(time: Option<jiff::Timestamp>) -> Option<i64> {
    time.map(|time| time.as_millisecond())
}

/// Returns 120 instances in all states. They have one of two different settings, one of which has a large environment.
fn rows() -> Vec<Instance> {
    let env: BTreeMap<String, String> = (0..64).map(|number| (format!("VAR_{number}"), "ü".repeat(100))).collect();
    let large = TemplateSettings { env, ..template(1).settings };
    let row = |number: usize, state| {
        let dispatched = (state != InstanceState::Queued).then(|| at(10));
        let started = matches!(state, InstanceState::Running | InstanceState::Terminated).then(|| at(20));
        Instance {
            state,
            settings: if number.is_multiple_of(2) { large.clone() } else { template(1).settings },
            reason: (state == InstanceState::Failed).then(|| FailureReason::new(FailureCode::Crashed, None)),
            url: (state == InstanceState::Running).then(|| "https://a.example.org/".to_owned()),
            dispatched_at: dispatched,
            started_at: started,
            expires_at: started.map(|_| at(7220)),
            ended_at: (state == InstanceState::Terminated).then(|| at(500)),
            end_reason: matches!(state, InstanceState::Terminating | InstanceState::Terminated)
                .then_some(EndReason::Owner),
            spec_version: i64::from(dispatched.is_some()),
            applied_version: i64::from(dispatched.is_some()),
            workshop_uid: dispatched.map(|_| format!("uid-{number}")),
            ..instance("alice@example.org")
        }
    };
    // The database of that version does not know suspended instances.
    let known = |state: &InstanceState| !matches!(state, InstanceState::Suspending | InstanceState::Suspended);
    let states = InstanceState::ALL.into_iter().filter(known).cycle().take(120).enumerate();
    let rows = states.map(|(number, state)| row(number, state));
    rows.zip(1..).map(|(row, revision)| Instance { revision, ..row }).collect()
}

async fn fill(connection: &mut AnyConnection, rows: &[Instance]) {
    let settings = serde_json::to_string(&template(1).settings).unwrap();
    let insert = sqlx::query(TEMPLATE).bind(Uuid::from_u128(1).to_string()).bind(settings);
    insert.bind(at(0).as_millisecond()).execute(&mut *connection).await.unwrap();
    for row in rows {
        let reason = row.reason.as_ref().map(|reason| serde_json::to_string(reason).unwrap());
        sqlx::query(INSTANCE)
            .bind(row.instance_id.to_string())
            .bind(row.k8s_name.clone())
            .bind(row.owner_email.as_str().to_owned())
            .bind(row.template_id.to_string())
            .bind(serde_json::to_string(&row.settings).unwrap())
            .bind(row.state.as_str())
            .bind(reason)
            .bind(row.url.clone())
            .bind(row.created_at.as_millisecond())
            .bind(millis(row.dispatched_at))
            .bind(millis(row.started_at))
            .bind(millis(row.expires_at))
            .bind(millis(row.ended_at))
            .bind(row.end_reason.map(|reason| reason.as_str()))
            .bind(row.spec_version)
            .bind(row.applied_version)
            .bind(row.workshop_uid.clone())
            .bind(row.revision)
            .execute(&mut *connection)
            .await
            .unwrap();
    }
    let key = sqlx::query(KEY).bind("alice@example.org").bind(rows[2].k8s_name.clone());
    key.execute(&mut *connection).await.unwrap();
    let gate = "INSERT INTO launch_gate (owner_email, launches) VALUES ('alice@example.org', 120)";
    sqlx::query(gate).execute(&mut *connection).await.unwrap();
    let counter = sqlx::query("UPDATE change_counter SET revision = $1").bind(i64::try_from(rows.len()).unwrap());
    counter.execute(&mut *connection).await.unwrap();
}

async fn number(connection: &mut AnyConnection, sql: &'static str) -> i64 {
    sqlx::query(sql).fetch_one(connection).await.unwrap().get(0)
}

async fn instances(store: &Store) -> Vec<Instance> {
    let all = InstanceFilter { state: StateFilter::All, ..InstanceFilter::default() };
    let mut listed = store.instances(&admin(), &all, &EVERYTHING).await.unwrap();
    listed.reverse();
    listed.into_iter().map(|listed| listed.instance).collect()
}

#[tokio::test]
async fn database_of_earlier_version_is_migrated_without_loss() {
    for database in databases().await {
        let rows = rows();
        let mut connection = earlier_version(&database.url).await;
        fill(&mut connection, &rows).await;

        let store = Store::open(&database.url).await.unwrap();
        assert_eq!(instances(&store).await, rows, "before the settings are moved");
        assert_eq!(store.feed_latest().await.unwrap(), 120);
        assert_eq!(store.move_inline_settings().await.unwrap(), 120);
        assert_eq!(instances(&store).await, rows, "after the settings were moved");
        assert_eq!(store.move_inline_settings().await.unwrap(), 0);
        assert_eq!(store.feed_latest().await.unwrap(), 120, "nothing that anybody can see has changed");
        assert_eq!(number(&mut connection, "SELECT count(*) FROM template_settings").await, 2);
        let inline = "SELECT count(*) FROM workshop_instances WHERE settings <> '' OR settings_hash IS NULL";
        assert_eq!(number(&mut connection, inline).await, 0);

        let again = store.launch(&instance("alice@example.org"), &NO_LIMITS, Some(&key("key", "hash"))).await.unwrap();
        assert_eq!(again, LaunchOutcome::Replayed(rows[2].clone()));
        let held = u32::try_from(rows.iter().filter(|row| row.counts_against_limit()).count()).unwrap();
        let rules = LaunchRules { max_per_user: Some(held), ..NO_LIMITS };
        let refused = store.launch(&instance("alice@example.org"), &rules, None).await.unwrap();
        assert_eq!(refused, LaunchOutcome::LimitReached { limit: held, held, ending: 20 });
        let next = launched(&store, "alice@example.org").await;
        assert_eq!(next.revision, 121);
        connection.close().await.unwrap();
        store.close().await;
    }
}

#[tokio::test]
async fn database_of_earlier_version_is_copied_unchanged() {
    for (source, target) in databases().await.into_iter().zip(databases().await) {
        let rows = rows();
        let mut connection = earlier_version(&source.url).await;
        fill(&mut connection, &rows).await;
        connection.close().await.unwrap();
        let (from, to) = (Store::open(&source.url).await.unwrap(), Store::open(&target.url).await.unwrap());
        from.copy_to(&to, FleetBinding::Keep).await.unwrap();
        assert_eq!(instances(&to).await, rows);
        assert_eq!(to.move_inline_settings().await.unwrap(), 120);
        assert_eq!(instances(&to).await, rows);
        from.close().await;
        to.close().await;
    }
}

/// During an upgrade on PostgreSQL, a launcher of the earlier version may still run and add rows.
#[tokio::test]
async fn row_written_by_launcher_of_earlier_version_is_read_and_migrated() {
    for database in databases().await {
        let store = Store::open(&database.url).await.unwrap();
        store.create_template(&template(2)).await.unwrap();
        let rows = rows();
        let mut connection = AnyConnection::connect(&database.url).await.unwrap();
        fill(&mut connection, &rows).await;
        connection.close().await.unwrap();
        assert_eq!(instances(&store).await, rows);
        assert_eq!(store.move_inline_settings().await.unwrap(), 120);
        assert_eq!(instances(&store).await, rows);
        store.close().await;
    }
}
