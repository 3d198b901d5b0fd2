//! The launch rate limit: a token bucket per owner, kept in the database.

use std::time::Duration;

use launcher_domain::{Instance, LaunchRate};
use launcher_store::{IdempotencyKey, LaunchOutcome, LaunchRules, Store};
use sqlx::{AnyConnection, Connection, Row};
use tokio::task::JoinSet;

use crate::support::*;

/// Rate limit of six launches per minute: the bucket gets one token every ten seconds.
const SLOW: LaunchRules = LaunchRules {
    rate: Some(LaunchRate { per_minute: 6, burst: 3 }),
    max_queued: 10_000,
    max_per_user: None,
    max_storage_gib: None,
    class: None,
};

fn launched_at(owner: &str, seconds: i64) -> Instance {
    Instance { created_at: at(seconds), ..instance(owner) }
}

async fn launch_at(store: &Store, owner: &str, seconds: i64) -> LaunchOutcome {
    store.launch_own(&launched_at(owner, seconds), &SLOW, None).await.unwrap()
}

fn refused(seconds: u64) -> LaunchOutcome {
    LaunchOutcome::TooManyLaunches { wait: Duration::from_secs(seconds) }
}

#[tokio::test]
async fn launch_beyond_the_burst_is_refused_until_the_next_token() {
    on_every_engine(async |store| {
        for _ in 0..3 {
            created(launch_at(&store, "alice@example.org", 0).await);
        }
        let before = store.feed_latest().await.unwrap();
        assert_eq!(launch_at(&store, "alice@example.org", 0).await, refused(10));
        assert_eq!(launch_at(&store, "alice@example.org", 9).await, refused(1));
        assert_eq!(store.feed_latest().await.unwrap(), before, "a refused launch changes nothing");
        created(launch_at(&store, "bob@example.org", 9).await);
        created(launch_at(&store, "alice@example.org", 10).await);
        assert_eq!(launch_at(&store, "alice@example.org", 10).await, refused(10));
        let unlimited = LaunchRules { rate: None, ..SLOW };
        created(store.launch_own(&launched_at("alice@example.org", 10), &unlimited, None).await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn repeated_launch_with_its_key_takes_no_token() {
    on_every_engine(async |store| {
        let launch = async |key: &IdempotencyKey| {
            store.launch_own(&launched_at("alice@example.org", 0), &SLOW, Some(key)).await.unwrap()
        };
        let first = created(launch(&key("first", "hash")).await);
        for _ in 0..10 {
            assert_eq!(launch(&key("first", "hash")).await, LaunchOutcome::Replayed(first.clone()));
            assert_eq!(launch(&key("first", "other")).await, LaunchOutcome::KeyReused);
        }
        created(launch(&key("second", "hash")).await);
        created(launch(&key("third", "hash")).await);
        assert_eq!(launch(&key("fourth", "hash")).await, refused(10));
        assert_eq!(launch(&key("first", "hash")).await, LaunchOutcome::Replayed(first), "with an empty bucket, too");
    })
    .await;
}

#[tokio::test]
async fn refused_launch_takes_no_token() {
    on_every_engine(async |store| {
        let taken = launched(&store, "bob@example.org").await;
        let named = Instance { k8s_name: taken.k8s_name, ..launched_at("alice@example.org", 0) };
        for _ in 0..10 {
            assert_eq!(store.launch_own(&named, &SLOW, None).await.unwrap(), LaunchOutcome::NameTaken);
            for rules in [LaunchRules { max_per_user: Some(0), ..SLOW }, LaunchRules { max_queued: 0, ..SLOW }] {
                let outcome = store.launch_own(&launched_at("alice@example.org", 0), &rules, None).await.unwrap();
                assert!(
                    matches!(outcome, LaunchOutcome::LimitReached { .. } | LaunchOutcome::AtCapacity),
                    "{outcome:?}"
                );
            }
        }
        for _ in 0..3 {
            created(launch_at(&store, "alice@example.org", 0).await);
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_launches_do_not_exceed_the_burst() {
    on_every_engine(async |store| {
        let mut tasks = JoinSet::new();
        for _ in 0..100 {
            let store = store.clone();
            tasks.spawn(async move { launch_at(&store, "alice@example.org", 0).await });
        }
        let outcomes = tasks.join_all().await;
        let created = outcomes.iter().filter(|outcome| matches!(outcome, LaunchOutcome::Created(_))).count();
        let too_many = outcomes.iter().filter(|outcome| **outcome == refused(10)).count();
        assert_eq!((created, too_many), (3, 97));
    })
    .await;
}

#[tokio::test]
async fn token_bucket_survives_a_restart_and_is_purged_when_full() {
    for database in databases().await {
        let store = Store::open(&database.url).await.unwrap();
        store.create_template(&template(1), None).await.unwrap();
        for _ in 0..3 {
            created(launch_at(&store, "alice@example.org", 0).await);
        }
        created(launch_at(&store, "bob@example.org", 0).await);
        store.close().await;

        let store = Store::open(&database.url).await.unwrap();
        assert_eq!(launch_at(&store, "alice@example.org", 1).await, refused(9));
        assert_eq!(store.purge_gates(at(9)).await.unwrap(), 0);
        assert_eq!(store.purge_gates(at(10)).await.unwrap(), 1, "bob's has one launch to forget");
        assert_eq!(launch_at(&store, "alice@example.org", 9).await, refused(1), "alice's is not full yet");
        assert_eq!(store.purge_gates(at(30)).await.unwrap(), 1);
        let mut connection = AnyConnection::connect(&database.url).await.unwrap();
        let gates = sqlx::query("SELECT count(*) FROM launch_gate").fetch_one(&mut connection).await.unwrap();
        assert_eq!(gates.get::<i64, _>(0), 0, "nothing is left of people who do not launch");
        connection.close().await.unwrap();
        for _ in 0..3 {
            created(launch_at(&store, "alice@example.org", 30).await);
        }
        store.close().await;
    }
}
