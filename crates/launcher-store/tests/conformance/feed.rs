//! Order of changes.

use launcher_domain::{InstanceState, Scope};
use tokio::task::JoinSet;

use crate::support::*;

#[tokio::test]
async fn feed_orders_rows_by_last_change_and_resumes() {
    on_every_engine(async |store| {
        let before = store.feed_latest().await.unwrap();
        let first = launched(&store, "alice@example.org").await;
        let second = launched(&store, "alice@example.org").await;
        let third = launched(&store, "bob@example.org").await;
        let first = changed(&store, &first, |row| row.state = InstanceState::Running).await;
        assert_eq!(store.feed_latest().await.unwrap(), first.revision);
        assert_eq!(first.revision, before + 4, "one for each change");

        let feed = async |since, limit| {
            let changes = store.feed_since(Scope::Everyone, since, limit).await.unwrap();
            let rows = changes.listed.into_iter().map(|listed| (listed.instance, listed.queue_position));
            (rows.collect::<Vec<_>>(), changes.upto, changes.more)
        };
        let start = feed(before, 2).await;
        assert_eq!(start, (vec![(second, Some(1)), (third.clone(), Some(2))], third.revision, true));
        assert_eq!(feed(third.revision, 2).await, (vec![(first.clone(), None)], first.revision, false));
        assert_eq!(feed(first.revision, 2).await, (Vec::new(), first.revision, false));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn feed_returns_every_change_of_concurrent_writers() {
    on_every_engine(async |store| {
        let before = store.feed_latest().await.unwrap();
        let mut writers = JoinSet::new();
        for number in 0..8 {
            let store = store.clone();
            writers.spawn(async move {
                for _ in 0..20 {
                    launched(&store, &format!("user{number}@example.org")).await;
                }
            });
        }
        let mut seen = Vec::new();
        let mut since = before;
        loop {
            let writing = !writers.is_empty();
            while writers.try_join_next().is_some() {}
            let changes = store.feed_since(Scope::Everyone, since, 7).await.unwrap();
            since = changes.upto;
            if changes.listed.is_empty() && !writing {
                break;
            }
            seen.extend(changes.listed.into_iter().map(|listed| listed.instance.revision));
            tokio::task::yield_now().await;
        }
        assert_eq!(seen, (before + 1..=before + 160).collect::<Vec<i64>>());
    })
    .await;
}

#[tokio::test]
async fn queue_is_in_launch_order() {
    on_every_engine(async |store| {
        let mut waiting = Vec::new();
        for number in 0..4 {
            waiting.push(launched(&store, &format!("user{number}@example.org")).await);
        }
        store.dispatch_promote_queued(1, at(10)).await.unwrap();
        let queue = store.queue(Scope::Everyone).await.unwrap();
        assert_eq!(names(queue.iter().map(|listed| &listed.instance)), names(&waiting[1..]));
        assert_eq!(queue.iter().map(|listed| listed.queue_position).collect::<Vec<_>>(), [Some(1), Some(2), Some(3)]);
        let queued = store.queued_ids().await.unwrap();
        assert_eq!(queued, queue.iter().map(|listed| listed.instance.instance_id).collect::<Vec<_>>());
        let owner = &waiting[2].owner_email;
        assert_eq!(
            store.queue(Scope::Owner(owner)).await.unwrap(),
            queue[1..2],
            "one owner's, with the same positions"
        );
    })
    .await;
}

/// The second launch is stored by a replica whose clock lags, so its identifier sorts before that of the first launch.
#[tokio::test]
async fn queue_of_owner_is_in_launch_order_despite_lagging_clock() {
    on_every_engine(async |store| {
        let (lagging, first) = (instance("alice@example.org"), instance("alice@example.org"));
        assert!(lagging.instance_id < first.instance_id);
        for draft in [&first, &lagging] {
            created(store.launch_own(draft, &NO_LIMITS, None).await.unwrap());
        }
        let queue = store.queue(Scope::Owner(&first.owner_email)).await.unwrap();
        assert_eq!(names(queue.iter().map(|listed| &listed.instance)), names([&first, &lagging]));
        assert_eq!(queue.iter().map(|listed| listed.queue_position).collect::<Vec<_>>(), [Some(1), Some(2)]);
    })
    .await;
}
