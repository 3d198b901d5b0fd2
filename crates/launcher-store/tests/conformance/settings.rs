//! Settings are stored once per content, and purged when no instance refers to them.

use std::collections::BTreeMap;

use launcher_domain::{EndReason, Instance, Template, TemplateSettings};
use launcher_store::{LaunchRules, Store};
use sqlx::{AnyConnection, AssertSqlSafe, Connection, Row};
use tokio::task::JoinSet;

use crate::support::*;

/// Returns settings near the maximum size of an environment: 64 pairs of 3.3 kB.
fn large_settings() -> TemplateSettings {
    let env: BTreeMap<String, String> = (0..64).map(|number| (format!("VAR_{number}"), "x".repeat(3300))).collect();
    TemplateSettings { env, ..template(1).settings }
}

fn with_settings(settings: &TemplateSettings, owner: &str) -> Instance {
    Instance { settings: settings.clone(), ..instance(owner) }
}

async fn number(url: &str, sql: &'static str) -> i64 {
    let mut connection = AnyConnection::connect(url).await.unwrap();
    let number = sqlx::query(AssertSqlSafe(sql)).fetch_one(&mut connection).await.unwrap().get(0);
    connection.close().await.unwrap();
    number
}

const KEPT: &str = "SELECT count(*) FROM template_settings";
/// Query for the total size of the stored settings in bytes, without the templates of the catalog.
const BYTES: &str = "SELECT CAST(COALESCE(sum(length(settings)), 0) AS BIGINT) FROM template_settings";

#[tokio::test]
async fn settings_of_many_launches_are_stored_once() {
    for database in databases().await {
        let store = Store::open(&database.url).await.unwrap();
        store.create_template(&template(1), None).await.unwrap();
        let (settings, mut rows) = (large_settings(), Vec::new());
        for _ in 0..40 {
            let draft = with_settings(&settings, "alice@example.org");
            rows.push(created(store.launch_own(&draft, &NO_LIMITS, None).await.unwrap()));
        }
        assert!(rows.iter().all(|row| row.settings == settings));
        assert_eq!(store.observe_instance(&rows[7].k8s_name).await.unwrap().as_ref(), Some(&rows[7]));
        assert_eq!(number(&database.url, KEPT).await, 1);
        let bytes = number(&database.url, BYTES).await;
        assert!((200_000..250_000).contains(&bytes), "40 rows of 210 kB took {bytes} bytes");
        store.close().await;
    }
}

#[tokio::test]
async fn template_change_keeps_settings_of_earlier_launches() {
    on_every_engine(async |store| {
        let before = launched(&store, "alice@example.org").await;
        let other = TemplateSettings { image: "other:2".to_owned(), ..before.settings.clone() };
        let changed = Template { settings: other.clone(), version: 2, ..template(1) };
        assert!(store.save_template(&template(1), &changed, &admin(), None).await.unwrap());
        let draft = with_settings(&other, "alice@example.org");
        let after = created(store.launch_own(&draft, &NO_LIMITS, None).await.unwrap());
        assert_eq!(after.settings, other);
        assert_eq!(store.observe_instance(&before.k8s_name).await.unwrap(), Some(before));
    })
    .await;
}

#[tokio::test]
async fn settings_are_purged_with_their_last_instance() {
    for database in databases().await {
        let store = Store::open(&database.url).await.unwrap();
        store.create_template(&template(1), None).await.unwrap();
        let draft = with_settings(&large_settings(), "alice@example.org");
        let first = created(store.launch_own(&draft, &NO_LIMITS, None).await.unwrap());
        let second = launched(&store, "alice@example.org").await;
        let third = launched(&store, "alice@example.org").await;
        assert_eq!(number(&database.url, KEPT).await, 2);
        ended(&store, &first, 10).await;
        ended(&store, &second, 10).await;
        assert_eq!(store.purge_settings().await.unwrap(), 0, "ended instances still show theirs");
        assert_eq!(store.purge_ended(at(11)).await.unwrap(), 2);
        assert_eq!(store.purge_settings().await.unwrap(), 1, "the third instance has those of the second");
        assert_eq!(store.observe_instance(&third.k8s_name).await.unwrap(), Some(third));
        assert_eq!(store.purge_settings().await.unwrap(), 0);
        store.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_purge_keeps_settings_of_new_launches() {
    on_every_engine(async |store| {
        let mut tasks = JoinSet::new();
        for number in 0..4 {
            let store = store.clone();
            let owner = format!("user{number}@example.org");
            tasks.spawn(async move {
                for _ in 0..10 {
                    let rules = LaunchRules { max_per_user: Some(1), ..NO_LIMITS };
                    let row = created(store.launch_own(&instance(&owner), &rules, None).await.unwrap());
                    let end = row.terminate(EndReason::Owner, at(1)).unwrap();
                    store.change_instance(&row, &end, &by_the_service()).await.unwrap().unwrap();
                    store.purge_withdrawn(at(2)).await.unwrap();
                }
            });
        }
        for _ in 0..2 {
            let store = store.clone();
            tasks.spawn(async move {
                for _ in 0..20 {
                    store.purge_settings().await.unwrap();
                }
            });
        }
        tasks.join_all().await;
    })
    .await;
}
