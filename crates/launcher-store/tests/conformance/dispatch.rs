//! Tests of the dispatch queries: promotion from the queue, pending rows, and the record of an apply.

use launcher_domain::InstanceState;
use tokio::task::JoinSet;

use crate::support::*;

#[tokio::test]
async fn promotion_is_oldest_first_up_to_the_start_limit() {
    on_every_engine(async |store| {
        let mut waiting = Vec::new();
        for number in 0..5 {
            waiting.push(launched(&store, &format!("user{number}@example.org")).await);
        }
        let latest = store.feed_latest().await.unwrap();

        let promoted = store.dispatch_promote_queued(2, at(10)).await.unwrap();
        assert_eq!(names(&promoted), names(&waiting[..2]));
        for (row, revision) in promoted.iter().zip(latest + 1..) {
            assert_eq!(row.state, InstanceState::Starting);
            assert_eq!((row.dispatched_at, row.spec_version, row.applied_version), (Some(at(10)), 1, 0));
            assert_eq!(row.revision, revision, "revisions follow the order of the queue");
            assert_eq!(store.observe_instance(&row.k8s_name).await.unwrap().as_ref(), Some(row));
        }
        assert!(store.dispatch_promote_queued(2, at(11)).await.unwrap().is_empty(), "no room");

        changed(&store, &promoted[0], |row| row.state = InstanceState::Running).await;
        assert_eq!(names(&store.dispatch_promote_queued(2, at(12)).await.unwrap()), names(&waiting[2..3]));
        assert_eq!(names(&store.dispatch_promote_queued(9, at(13)).await.unwrap()), names(&waiting[3..]));
        assert!(store.dispatch_promote_queued(9, at(14)).await.unwrap().is_empty(), "the queue is empty");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_promotions_keep_the_start_limit() {
    on_every_engine(async |store| {
        for number in 0..40 {
            launched(&store, &format!("user{number}@example.org")).await;
        }
        let mut tasks = JoinSet::new();
        for _ in 0..30 {
            let store = store.clone();
            tasks.spawn(async move { store.dispatch_promote_queued(25, at(10)).await.unwrap() });
        }
        let mut promoted = tasks.join_all().await.concat();

        promoted.sort_by_key(|row| row.instance_id);
        assert_eq!(promoted.len(), 25);
        promoted.dedup_by_key(|row| row.instance_id);
        assert_eq!(promoted.len(), 25);
    })
    .await;
}

#[tokio::test]
async fn pending_lists_unapplied_rows_oldest_change_first() {
    on_every_engine(async |store| {
        for number in 0..3 {
            launched(&store, &format!("user{number}@example.org")).await;
        }
        assert!(store.dispatch_pending(0, 10).await.unwrap().instances.is_empty(), "queued ones want no Workshop yet");
        let promoted = store.dispatch_promote_queued(3, at(10)).await.unwrap();
        let touched = changed(&store, &promoted[0], |row| row.spec_version += 1).await;
        let order = [&promoted[1], &promoted[2], &touched];
        let pending = store.dispatch_pending(0, 10).await.unwrap().instances;
        assert_eq!(pending.iter().collect::<Vec<_>>(), order);
        assert_eq!(names(&store.dispatch_pending(0, 2).await.unwrap().instances), names(order[..2].iter().copied()));

        store.dispatch_applied(touched.instance_id, 1, None).await.unwrap();
        assert_eq!(store.dispatch_pending(0, 10).await.unwrap().instances.len(), 3, "version 2 is not applied yet");
        store.dispatch_applied(touched.instance_id, 2, None).await.unwrap();
        assert_eq!(names(&store.dispatch_pending(0, 10).await.unwrap().instances), names(order[..2].iter().copied()));
    })
    .await;
}

#[tokio::test]
async fn recording_an_older_applied_version_changes_nothing() {
    on_every_engine(async |store| {
        let row = launched(&store, "alice@example.org").await;
        let noted = async || {
            let row = store.observe_instance(&row.k8s_name).await.unwrap().unwrap();
            (row.applied_version, row.workshop_uid, row.revision)
        };
        let uid = |text: &str| Some(text.to_owned());

        store.dispatch_applied(row.instance_id, 2, Some("uid-2")).await.unwrap();
        assert_eq!(noted().await, (2, uid("uid-2"), row.revision));
        store.dispatch_applied(row.instance_id, 1, Some("uid-1")).await.unwrap();
        assert_eq!(noted().await, (2, uid("uid-2"), row.revision), "an answer that comes late");
        store.dispatch_applied(row.instance_id, 3, None).await.unwrap();
        assert_eq!(noted().await, (3, uid("uid-2"), row.revision));
        store.dispatch_applied(row.instance_id, 3, Some("uid-3")).await.unwrap();
        assert_eq!(
            noted().await,
            (3, uid("uid-2"), row.revision),
            "the uid of a Workshop that a late call created again is not recorded"
        );
    })
    .await;
}
