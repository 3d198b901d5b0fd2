//! Tests of snapshots: found by the loop that saves them, listed and deleted by their owners.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use launcher_domain::clock::SystemEntropy;
use launcher_domain::{
    ActivityAction, ArchiveToken, EndReason, Instance, InstanceSnapshot, InstanceState, Snapshot, SnapshotState,
};
use launcher_store::{ActivityFilter, Page, Store};
use uuid::Uuid;

use crate::support::*;

pub(crate) fn snapshot(owner: &str, number: u128, saved_at: i64) -> Snapshot {
    Snapshot {
        snapshot_id: Uuid::from_u128(number),
        owner_email: email(owner),
        template_id: Uuid::from_u128(7),
        template_name: "Statistics".to_owned(),
        k8s_name: format!("statistics-{number}"),
        bytes: 5_000_000_000,
        created_at: Timestamp::from_millisecond(saved_at).unwrap(),
        kept_until: Timestamp::from_millisecond(saved_at).unwrap(),
    }
}

/// Launches an instance with a planned snapshot, which then runs and expires at this time.
async fn running(store: &Store, expires_at: Timestamp) -> Instance {
    let mut draft = instance("alice@example.org");
    draft.snapshot = Some(InstanceSnapshot::planned(ArchiveToken::random(&SystemEntropy)));
    let row = created(store.launch_own(&draft, &NO_LIMITS, None).await.unwrap());
    assert_eq!(row.snapshot, draft.snapshot);
    changed(store, &row, |row| {
        row.state = InstanceState::Running;
        row.expires_at = Some(expires_at);
    })
    .await
}

#[tokio::test]
async fn snapshot_of_an_instance_is_stored_and_found_when_it_expires_or_ends() {
    on_every_engine(async |store| {
        let expiry = Timestamp::from_second(1_790_000_000).unwrap();
        let row = running(&store, expiry).await;
        let before = expiry - Duration::from_millis(1);
        assert!(store.snapshot_overdue(before).await.unwrap().is_empty());
        assert_eq!(store.snapshot_overdue(expiry).await.unwrap(), std::slice::from_ref(&row));
        assert!(store.snapshot_ending().await.unwrap().is_empty());

        let ending = changed(&store, &row, |row| *row = row.terminate(EndReason::Owner, expiry).unwrap()).await;
        assert_eq!(ending.snapshot.as_ref().map(|snapshot| snapshot.state), Some(SnapshotState::Pending));
        assert_eq!(store.snapshot_ending().await.unwrap(), [ending]);
        assert!(store.snapshot_overdue(expiry).await.unwrap().is_empty());
    })
    .await;
}

#[tokio::test]
async fn saved_snapshot_is_listed_for_its_owner_and_admins_only() {
    on_every_engine(async |store| {
        let (first, second) = (snapshot("alice@example.org", 1, 1000), snapshot("bob@example.org", 2, 2000));
        for one in [&first, &second, &first] {
            store.save_snapshot(one).await.unwrap();
        }
        assert_eq!(store.snapshots(&alice(), None, &EVERYTHING).await.unwrap(), std::slice::from_ref(&first));
        assert_eq!(store.snapshots(&admin(), None, &EVERYTHING).await.unwrap(), [second.clone(), first.clone()]);
        let of_bob = store.snapshots(&admin(), Some(&second.owner_email), &EVERYTHING).await.unwrap();
        assert_eq!(of_bob, std::slice::from_ref(&second));
        let page = Page { limit: 1, after: Some(second.snapshot_id) };
        assert_eq!(store.snapshots(&admin(), None, &page).await.unwrap(), std::slice::from_ref(&first));
        assert_eq!(store.snapshot(&alice(), second.snapshot_id).await.unwrap(), None);
        assert_eq!(store.snapshot(&alice(), first.snapshot_id).await.unwrap(), Some(first.clone()));
        assert_eq!(store.snapshots_held(&first.owner_email).await.unwrap(), 1);
    })
    .await;
}

#[tokio::test]
async fn deletion_is_decided_once_and_the_row_removed_after_the_object() {
    on_every_engine(async |store| {
        let (old, new) = (snapshot("alice@example.org", 1, 1000), snapshot("alice@example.org", 2, 5000));
        store.save_snapshot(&old).await.unwrap();
        store.save_snapshot(&new).await.unwrap();
        let now = Timestamp::from_millisecond(9000).unwrap();
        let before = Timestamp::from_millisecond(5000).unwrap();
        store.purge_snapshot(old.snapshot_id).await.unwrap();
        assert_eq!(store.snapshots_held(&old.owner_email).await.unwrap(), 2, "its deletion is not decided");

        assert_eq!(store.purge_old_snapshots(before, now).await.unwrap(), 1);
        assert_eq!(store.purge_old_snapshots(before, now).await.unwrap(), 0);
        assert!(!store.delete_snapshot(&alice(), old.snapshot_id, now).await.unwrap());
        assert!(store.delete_snapshot(&alice(), new.snapshot_id, now).await.unwrap());
        assert_eq!(store.snapshots_held(&old.owner_email).await.unwrap(), 0);
        let mut deleted = store.purge_snapshots().await.unwrap();
        deleted.sort();
        assert_eq!(deleted, [old.snapshot_id, new.snapshot_id]);
        for id in deleted {
            store.purge_snapshot(id).await.unwrap();
        }
        assert!(store.purge_snapshots().await.unwrap().is_empty());

        let logged = store.activities(&ActivityFilter::default(), &ALL_ENTRIES).await.unwrap();
        let actors: Vec<_> = logged
            .iter()
            .filter(|entry| entry.activity.action == ActivityAction::VolumeDeleted)
            .map(|entry| entry.activity.act.actor_email.as_ref().map(ToString::to_string))
            .collect();
        assert_eq!(actors, [Some("alice@example.org".to_owned()), None]);
    })
    .await;
}

#[tokio::test]
async fn announced_deletion_of_a_snapshot_moves_only_to_a_later_time() {
    on_every_engine(async |store| {
        let saved = snapshot("alice@example.org", 1, 1000);
        store.save_snapshot(&saved).await.unwrap();
        let time = |millis| Timestamp::from_millisecond(millis).unwrap();
        for (retention, announced) in [(500, 1500), (200, 1500), (600, 1600)] {
            store.announce_snapshot_retention(SignedDuration::from_millis(retention)).await.unwrap();
            let found = store.snapshot(&admin(), saved.snapshot_id).await.unwrap().unwrap();
            assert_eq!(found.kept_until, time(announced), "{retention}");
            assert_eq!(store.purge_old_snapshots(time(1001), time(announced)).await.unwrap(), 0);
        }
        assert_eq!(store.purge_old_snapshots(time(1001), time(1601)).await.unwrap(), 1);
    })
    .await;
}
