//! Tests of the queries of the observe loop, of the fleet binding, and of purges.

use jiff::Timestamp;
use launcher_domain::InstanceState;
use launcher_store::{ActivityFilter, LaunchOutcome};

use crate::support::*;

#[tokio::test]
async fn observe_lists_rows_that_may_have_a_workshop() {
    on_every_engine(async |store| {
        let mut expected = Vec::new();
        for (state, spec_version, may_exist) in [
            (InstanceState::Queued, 0, false),
            (InstanceState::Starting, 1, true),
            (InstanceState::Running, 0, true),
            (InstanceState::Terminating, 0, true),
            (InstanceState::Terminated, 1, false),
            (InstanceState::Failed, 1, true),
            (InstanceState::Failed, 0, false),
        ] {
            let row = launched(&store, "alice@example.org").await;
            let row = changed(&store, &row, |row| (row.state, row.spec_version) = (state, spec_version)).await;
            if may_exist {
                expected.push(row.k8s_name);
            }
        }
        let mut found = store.observe_with_workshop().await.unwrap();
        found.sort_by_key(|row| row.instance_id);
        assert_eq!(names(&found), expected);
    })
    .await;
}

#[tokio::test]
async fn database_stays_bound_to_its_first_fleet() {
    on_every_engine(async |store| {
        assert_eq!(store.bound_fleet().await.unwrap(), None);
        assert_eq!(store.bind_fleet("first").await.unwrap(), "first");
        assert_eq!(store.bind_fleet("second").await.unwrap(), "first");
        assert_eq!(store.bound_fleet().await.unwrap().as_deref(), Some("first"));
    })
    .await;
}

#[tokio::test]
async fn instances_are_counted_by_state() {
    on_every_engine(async |store| {
        for state in [InstanceState::Running, InstanceState::Running, InstanceState::Failed] {
            let row = launched(&store, "alice@example.org").await;
            changed(&store, &row, |row| row.state = state).await;
        }
        launched(&store, "alice@example.org").await;
        let counts = store.count_states().await.unwrap();
        let expected = [1, 0, 2, 0, 0, 0, 0, 1];
        assert_eq!(counts, InstanceState::ALL.into_iter().zip(expected).collect::<Vec<_>>());
    })
    .await;
}

#[tokio::test]
async fn old_failed_instances_are_found_for_dismissal() {
    on_every_engine(async |store| {
        let row = async |state, dispatched_at: Option<Timestamp>, expires_at| {
            let row = launched(&store, "alice@example.org").await;
            let change = |row: &mut launcher_domain::Instance| {
                (row.state, row.dispatched_at, row.expires_at) = (state, dispatched_at, expires_at);
            };
            changed(&store, &row, change).await
        };
        let never_ready = row(InstanceState::Failed, Some(at(99)), None).await;
        let was_ready = row(InstanceState::Failed, Some(at(10)), Some(at(99))).await;
        row(InstanceState::Failed, Some(at(100)), None).await;
        row(InstanceState::Failed, Some(at(10)), Some(at(100))).await;
        row(InstanceState::Running, Some(at(10)), Some(at(20))).await;
        row(InstanceState::Terminated, Some(at(10)), Some(at(20))).await;
        assert_eq!(store.observe_old_failures(at(100)).await.unwrap(), [never_ready, was_ready]);
    })
    .await;
}

#[tokio::test]
async fn purge_removes_only_old_ended_instances_and_their_keys() {
    on_every_engine(async |store| {
        let launch = async |name: &str| {
            let outcome = store.launch_own(&instance("alice@example.org"), &NO_LIMITS, Some(&key(name, "hash"))).await;
            outcome.unwrap()
        };
        let old = created(launch("old").await);
        let old = ended(&store, &old, 99).await;
        let recent = created(launch("recent").await);
        let recent = ended(&store, &recent, 100).await;
        let waiting = created(launch("waiting").await);
        let failed = created(launch("failed").await);
        let failed =
            changed(&store, &failed, |row| (row.state, row.ended_at) = (InstanceState::Failed, Some(at(1)))).await;

        assert_eq!(store.purge_ended(at(100)).await.unwrap(), 1);
        assert_eq!(store.observe_instance(&old.k8s_name).await.unwrap(), None);
        assert_eq!(launch("recent").await, LaunchOutcome::Replayed(recent));
        assert_eq!(launch("waiting").await, LaunchOutcome::Replayed(waiting));
        assert_eq!(launch("failed").await, LaunchOutcome::Replayed(failed));
        created(launch("old").await);
        assert_eq!(store.purge_ended(at(100)).await.unwrap(), 0);
    })
    .await;
}

#[tokio::test]
async fn purge_removes_more_than_one_batch() {
    on_every_database(async |store, url| {
        let row = launched(&store, "alice@example.org").await;
        ended(&store, &row, 1).await;
        copy_instance(url, &row.k8s_name, 1000).await;
        assert_eq!(store.purge_ended(at(2)).await.unwrap(), 1001);
        let left: u64 = store.count_states().await.unwrap().iter().map(|(_, count)| count).sum();
        assert_eq!(left, 0);
    })
    .await;
}

#[tokio::test]
async fn launch_terminated_in_queue_is_purged_early_but_stays_in_activity_log() {
    on_every_engine(async |store| {
        let launch = async |name: &str| {
            store.launch_own(&instance("alice@example.org"), &NO_LIMITS, Some(&key(name, "hash"))).await.unwrap()
        };
        let withdrawn = ended(&store, &created(launch("withdrawn").await), 99).await;
        let later = ended(&store, &created(launch("later").await), 100).await;
        let waiting = created(launch("waiting").await);
        let dispatched = created(launch("dispatched").await);
        let dispatched = changed(&store, &dispatched, |row| {
            (row.state, row.dispatched_at) = (InstanceState::Terminated, Some(at(50)));
            row.ended_at = Some(at(60));
        })
        .await;

        let entries = store.activities(&ActivityFilter::default(), &ALL_ENTRIES).await.unwrap();
        assert_eq!(store.purge_withdrawn(at(100)).await.unwrap(), 1);
        assert_eq!(store.purge_withdrawn(at(100)).await.unwrap(), 0);
        assert_eq!(store.observe_instance(&withdrawn.k8s_name).await.unwrap(), None);
        assert_eq!(store.activities(&ActivityFilter::default(), &ALL_ENTRIES).await.unwrap(), entries);
        for (name, row) in [("later", later), ("waiting", waiting), ("dispatched", dispatched)] {
            assert_eq!(launch(name).await, LaunchOutcome::Replayed(row));
        }
        created(launch("withdrawn").await);
    })
    .await;
}
