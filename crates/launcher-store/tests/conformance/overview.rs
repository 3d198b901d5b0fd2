//! Statistics over many instances.

use jiff::SignedDuration;
use launcher_domain::names::earliest_uuid;
use launcher_domain::{EndReason, Instance, InstanceState};
use launcher_store::{EndedCount, LaunchCount, LiveCount, Store};
use uuid::Uuid;

use crate::support::*;

const HOUR: i64 = 3600;

/// Launches an instance with this time in its row and identifier; it becomes ready after this many milliseconds.
async fn launched_at(store: &Store, owner: &str, seconds: i64, ready_after: Option<i64>) -> Instance {
    let mut draft = instance(owner);
    draft.created_at = at(seconds);
    let number = draft.instance_id.as_u128();
    draft.instance_id = Uuid::from_u128(earliest_uuid(at(seconds)).as_u128() + number);
    let row = created(store.launch_own(&draft, &NO_LIMITS, None).await.unwrap());
    let Some(after) = ready_after else { return row };
    changed(store, &row, |row| {
        row.state = InstanceState::Running;
        row.started_at = Some(row.created_at + SignedDuration::from_millis(after));
    })
    .await
}

async fn over(store: &Store, row: &Instance, reason: EndReason, seconds: i64) {
    changed(store, row, |row| {
        (row.state, row.end_reason, row.ended_at) = (InstanceState::Terminated, Some(reason), Some(at(seconds)));
    })
    .await;
}

#[tokio::test]
async fn launches_are_counted_by_template_hour_and_time_to_ready() {
    on_every_engine(async |store| {
        store.create_template(&template(2), None).await.unwrap();
        launched_at(&store, "alice@example.org", -1, Some(100)).await;
        launched_at(&store, "alice@example.org", 0, Some(1_299)).await;
        launched_at(&store, "bob@example.org", HOUR - 1, Some(1_200)).await;
        launched_at(&store, "bob@example.org", HOUR, Some(12_999)).await;
        for end in [None, Some(HOUR + 5)] {
            let row = launched_at(&store, "bob@example.org", HOUR, None).await;
            let failed = |row: &mut Instance| {
                (row.state, row.end_reason) = (InstanceState::Failed, Some(EndReason::Failed));
            };
            let row = changed(&store, &row, failed).await;
            if let Some(end) = end {
                over(&store, &row, EndReason::Failed, end).await;
            }
        }

        let count = |hour, ready_millis, launches, failures| LaunchCount {
            template_id: Uuid::from_u128(1),
            hour,
            ready_millis,
            launches,
            failures,
        };
        let mut counts = store.count_launches(&admin(), at(0)).await.unwrap();
        counts.sort_by_key(|count| (count.hour, count.ready_millis));
        assert_eq!(counts, [count(0, Some(1_200), 2, 0), count(1, None, 2, 2), count(1, Some(12_000), 1, 0)]);
        let hers = store.count_launches(&alice(), at(0)).await.unwrap();
        assert_eq!(hers, [count(0, Some(1_200), 1, 0)], "the scope holds for figures too");
    })
    .await;
}

#[tokio::test]
async fn start_times_are_those_of_the_templates_newest_launches_without_their_wait_in_the_queue() {
    on_every_engine(async |store| {
        store.create_template(&template(2), None).await.unwrap();
        launched_at(&store, "alice@example.org", 0, Some(9_000)).await;
        launched_at(&store, "alice@example.org", 1, Some(1_200)).await;
        launched_at(&store, "bob@example.org", 2, None).await;
        let queued = launched_at(&store, "bob@example.org", 3, Some(9_400)).await;
        let dispatch = |row: &mut Instance| row.dispatched_at = Some(at(9));
        changed(&store, &queued, dispatch).await;
        assert_eq!(store.newest_start_times(Uuid::from_u128(1), 3).await.unwrap(), [3_400, 1_200]);
        assert_eq!(store.newest_start_times(Uuid::from_u128(2), 3).await.unwrap(), [0_i64; 0]);
    })
    .await;
}

#[tokio::test]
async fn live_instances_are_counted_by_template_state_and_ready_hour() {
    on_every_engine(async |store| {
        launched_at(&store, "alice@example.org", -3 * HOUR, Some(0)).await;
        launched_at(&store, "alice@example.org", HOUR, Some(0)).await;
        launched_at(&store, "bob@example.org", HOUR + 1, Some(0)).await;
        launched_at(&store, "bob@example.org", HOUR, None).await;
        let gone = launched_at(&store, "bob@example.org", HOUR, Some(0)).await;
        over(&store, &gone, EndReason::Owner, 2 * HOUR).await;

        let count =
            |state, ready_hour, instances| LiveCount { template_id: Uuid::from_u128(1), state, ready_hour, instances };
        let mut counts = store.count_live(&admin(), at(0)).await.unwrap();
        counts.sort_by_key(|count| count.ready_hour);
        use InstanceState::{Queued, Running};
        assert_eq!(counts, [count(Queued, None, 1), count(Running, Some(-3), 1), count(Running, Some(1), 2)]);
        assert_eq!(store.count_live(&alice(), at(0)).await.unwrap().len(), 2);
    })
    .await;
}

#[tokio::test]
async fn ended_instances_are_counted_by_ready_and_end_hour() {
    on_every_engine(async |store| {
        for (owner, ready, reason, end) in [
            ("alice@example.org", Some(0), EndReason::Owner, -1),
            ("alice@example.org", Some(0), EndReason::Expired, 3 * HOUR),
            ("bob@example.org", Some(0), EndReason::Lost, 3 * HOUR + 1),
            ("bob@example.org", Some(0), EndReason::Failed, 3 * HOUR),
            ("bob@example.org", None, EndReason::Owner, 3 * HOUR),
        ] {
            let row = launched_at(&store, owner, -5 * HOUR, ready).await;
            over(&store, &row, reason, end).await;
        }
        // A suspended instance ran until its suspension.
        let row = launched_at(&store, "bob@example.org", -5 * HOUR, Some(0)).await;
        let row = changed(&store, &row, |row| row.suspended_at = Some(at(HOUR))).await;
        over(&store, &row, EndReason::Owner, 3 * HOUR).await;
        let count = |ended_hour, instances| EndedCount { ready_hour: -5, ended_hour, instances };
        let mut counts = store.count_ended(&admin(), at(0)).await.unwrap();
        counts.sort_by_key(|count| count.ended_hour);
        assert_eq!(counts, [count(1, 1), count(3, 2)]);
        assert_eq!(store.count_ended(&alice(), at(0)).await.unwrap(), [count(3, 1)]);
    })
    .await;
}
