//! Two stores on one PostgreSQL database, like two replicas of the service.

use launcher_domain::{LaunchRate, Scope};
use launcher_store::{InstanceFilter, LaunchOutcome, LaunchRules, Store};
use tokio::task::JoinSet;

use crate::support::*;

async fn two_replicas(database: &Database) -> [Store; 2] {
    let (first, second) = tokio::join!(Store::open(&database.url), Store::open(&database.url));
    let replicas = [first.unwrap(), second.unwrap()];
    replicas[0].create_template(&template(1), None).await.unwrap();
    replicas
}

async fn launch_at_once(
    replicas: &[Store; 2],
    number: usize,
    owner: impl Fn(usize) -> String,
    rules: LaunchRules,
) -> usize {
    let (mut launches, mut outcomes) = (JoinSet::new(), Vec::new());
    for number in 0..number {
        // The last of more launches would wait for the database longer than the store permits.
        if launches.len() == AT_ONCE {
            outcomes.push(launches.join_next().await.unwrap().unwrap());
        }
        let (store, draft) = (replicas[number % 2].clone(), instance(&owner(number)));
        launches.spawn(async move { store.launch_own(&draft, &rules, None).await.unwrap() });
    }
    outcomes.extend(launches.join_all().await);
    outcomes.iter().filter(|outcome| matches!(outcome, LaunchOutcome::Created(_))).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn instance_limit_holds_across_replicas() {
    let database = postgres().await;
    let replicas = two_replicas(&database).await;
    let rules = LaunchRules { max_per_user: Some(1), max_queued: 1000, ..NO_LIMITS };
    let created = launch_at_once(&replicas, 500, |_| "alice@example.org".to_owned(), rules).await;

    assert_eq!(created, 1);
    let rows = replicas[1].instances(&admin(), &InstanceFilter::default(), &EVERYTHING).await.unwrap();
    assert_eq!(rows.len(), 1);
    for store in replicas {
        store.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn queue_limit_and_promotion_hold_across_replicas() {
    let database = postgres().await;
    let replicas = two_replicas(&database).await;
    let rules = LaunchRules { max_per_user: Some(1), max_queued: 50, ..NO_LIMITS };
    let created = launch_at_once(&replicas, 120, |number| format!("user{number}@example.org"), rules).await;
    assert_eq!(created, 50);

    let mut promotions = JoinSet::new();
    for number in 0..20 {
        let store = replicas[number % 2].clone();
        promotions.spawn(async move { store.dispatch_promote_queued(30, at(10)).await.unwrap() });
    }
    let promoted = promotions.join_all().await.concat();
    let different: std::collections::BTreeSet<_> = promoted.iter().map(|row| row.instance_id).collect();
    assert_eq!((promoted.len(), different.len()), (30, 30));
    for store in replicas {
        store.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn feed_is_complete_and_ordered_across_replicas() {
    const WRITERS: usize = 8;
    const LAUNCHES: i64 = 25;
    let database = postgres().await;
    let replicas = two_replicas(&database).await;
    // Revision before the first launch.
    let first = replicas[0].feed_latest().await.unwrap();
    let last = first + LAUNCHES * WRITERS as i64;
    let mut writers = JoinSet::new();
    for number in 0..WRITERS {
        let store = replicas[number % 2].clone();
        writers.spawn(async move {
            for _ in 0..LAUNCHES {
                launched(&store, &format!("user{number}@example.org")).await;
            }
        });
    }
    let mut readers = JoinSet::new();
    for store in replicas.clone() {
        readers.spawn(async move {
            let mut seen: Vec<i64> = Vec::new();
            loop {
                let since = seen.last().copied().unwrap_or(first);
                // The feed must contain the change with the latest revision, and all earlier changes.
                let latest = store.feed_latest().await.unwrap();
                let rows = store.feed_since(Scope::Everyone, since, 10_000).await.unwrap().listed;
                seen.extend(rows.into_iter().map(|listed| listed.instance.revision));
                assert!(seen.last().copied().unwrap_or(first) >= latest);
                if latest == last {
                    return seen;
                }
            }
        });
    }
    writers.join_all().await;
    for seen in readers.join_all().await {
        assert_eq!(seen, (first + 1..=last).collect::<Vec<_>>());
    }
    for store in replicas {
        store.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn launch_rate_holds_across_replicas() {
    let database = postgres().await;
    let replicas = two_replicas(&database).await;
    let rules = LaunchRules { rate: Some(LaunchRate { per_minute: 1, burst: 7 }), ..NO_LIMITS };
    let created = launch_at_once(&replicas, 100, |_| "alice@example.org".to_owned(), rules).await;
    assert_eq!(created, 7);
    for store in replicas {
        store.close().await;
    }
}
