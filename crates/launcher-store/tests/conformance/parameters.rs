//! Tests of launch parameters: stored with the instance, and secret ones only until its end is decided.

use std::collections::BTreeMap;

use jiff::Timestamp;
use launcher_domain::instance::{Observation, ObservedPhase};
use launcher_domain::{EndReason, FailureCode, FailureReason, Instance, InstanceState, SecretValues};
use launcher_store::{ActivityFilter, Store};
use sqlx::{AnyConnection, Connection, Row};

use crate::support::*;

const SECRET: &str = "hunter2-\u{fc}nique";

pub(crate) fn draft() -> Instance {
    let mut draft = instance("alice@example.org");
    let value = |text: &str| Some(text.to_owned());
    draft.parameters = BTreeMap::from([("DATASET".to_owned(), value("a \"b\" ü")), ("TOKEN".to_owned(), None)]);
    draft
}

pub(crate) fn secrets() -> SecretValues {
    [("TOKEN".to_owned(), SECRET.to_owned())].into_iter().collect()
}

async fn launch(store: &Store) -> Instance {
    created(store.launch(None, &draft(), &secrets(), &NO_LIMITS, None).await.unwrap())
}

async fn promoted(store: &Store) -> Instance {
    launch(store).await;
    store.dispatch_promote_queued(1, at(1)).await.unwrap().remove(0)
}

fn ready(at: Timestamp) -> Observation {
    Observation { ready_at: Some(at), ..Observation::of_phase(ObservedPhase::Running) }
}

async fn store_change(store: &Store, before: &Instance, after: &Instance) -> Instance {
    store.change_instance(before, after, &by_the_service()).await.unwrap().expect("no concurrent change")
}

/// Returns all columns of all rows of the table, as a text.
async fn raw(url: &str, table: &str) -> String {
    sqlx::any::install_default_drivers();
    let mut connection = AnyConnection::connect(url).await.unwrap();
    let engine = if url.starts_with("sqlite") {
        "json_group_array(json_array(secrets, parameters))"
    } else {
        "string_agg(t::text, '\n')"
    };
    let text = format!("SELECT COALESCE({engine}, '') FROM {table} AS t");
    let row = sqlx::query(sqlx::AssertSqlSafe(text)).fetch_one(&mut connection).await.unwrap();
    let text = row.get(0);
    connection.close().await.unwrap();
    text
}

#[tokio::test]
async fn values_are_stored_with_the_instance() {
    on_every_engine(async |store| {
        let launched = launch(&store).await;
        assert_eq!(launched.parameters, draft().parameters);
        let listed = store.instance(&alice(), &launched.k8s_name).await.unwrap().unwrap();
        assert_eq!(listed.instance, launched);
        assert_eq!(store.dispatch_secrets(launched.instance_id).await.unwrap(), secrets());
        let without = self::launched(&store, "bob@example.org").await;
        assert!(without.parameters.is_empty());
        assert!(store.dispatch_secrets(without.instance_id).await.unwrap().is_empty());
    })
    .await;
}

#[tokio::test]
async fn secrets_stay_while_the_instance_is_live() {
    on_every_engine(async |store| {
        let starting = promoted(&store).await;
        let running = store_change(&store, &starting, &starting.observe(&ready(at(2))).unwrap()).await;
        assert_eq!(running.state, InstanceState::Running);
        assert_eq!(store.dispatch_secrets(running.instance_id).await.unwrap(), secrets());
    })
    .await;
}

#[tokio::test]
async fn end_erases_secrets_from_the_database() {
    let ends: [fn(&Instance) -> Instance; 4] = [
        |row| row.terminate(EndReason::Owner, at(3)).unwrap(),
        |row| row.observe(&Observation::of_failure(FailureReason::new(FailureCode::Crashed, None))).unwrap(),
        |row| row.observe(&Observation { phase: ObservedPhase::Expired, ..ready(at(2)) }).unwrap(),
        |row| row.workshop_gone(at(3)).unwrap(),
    ];
    for database in databases().await {
        let store = Store::open(&database.url).await.unwrap();
        store.create_template(&template(1), None).await.unwrap();
        for end in ends {
            let starting = promoted(&store).await;
            assert!(raw(&database.url, "workshop_instances").await.contains(SECRET));
            let ended = store_change(&store, &starting, &end(&starting)).await;
            assert!(store.dispatch_secrets(ended.instance_id).await.unwrap().is_empty(), "{:?}", ended.state);
            let rows = raw(&database.url, "workshop_instances").await;
            assert!(!rows.contains(SECRET) && rows.contains("DATASET"), "{:?}: {rows}", ended.state);
            assert_eq!(ended.parameters, draft().parameters);
        }
        let queued = launch(&store).await;
        ended(&store, &queued, 3).await;
        assert!(!raw(&database.url, "workshop_instances").await.contains(SECRET));
        store.close().await;
    }
}

#[tokio::test]
async fn sqlite_file_does_not_contain_erased_secrets() {
    let database = sqlite();
    let path = database.url.trim_start_matches("sqlite://").to_owned();
    let contains = || {
        let files = ["", "-wal"].map(|end| std::fs::read(format!("{path}{end}")).unwrap_or_default());
        files.iter().any(|file| file.windows(SECRET.len()).any(|part| part == SECRET.as_bytes()))
    };
    let store = Store::open(&database.url).await.unwrap();
    store.create_template(&template(1), None).await.unwrap();
    let launched = launch(&store).await;
    // Values that need several pages of the file.
    let long = (0..9).map(|number| (format!("TOKEN_{number}"), SECRET.repeat(60))).collect();
    let with_long = created(store.launch(None, &draft(), &long, &NO_LIMITS, None).await.unwrap());
    assert!(contains());
    ended(&store, &launched, 3).await;
    ended(&store, &with_long, 3).await;
    // Closing the database writes its log into the file, and removes the log.
    store.close().await;
    assert!(!contains());
}

#[tokio::test]
async fn activity_log_and_keys_do_not_contain_values() {
    for database in databases().await {
        let store = Store::open(&database.url).await.unwrap();
        store.create_template(&template(1), None).await.unwrap();
        let outcome = store.launch(None, &draft(), &secrets(), &NO_LIMITS, Some(&key("key", "hash"))).await;
        created(outcome.unwrap());
        let log = store.activities(&ActivityFilter::default(), &ALL_ENTRIES).await.unwrap();
        let log = format!("{log:?}");
        assert!(log.contains("Launched") && !log.contains(SECRET) && !log.contains("DATASET"), "{log}");
        store.close().await;
    }
}
