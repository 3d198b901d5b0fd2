//! Compare-and-swap changes of instances.

use launcher_domain::{
    Crash, EndReason, FailureCode, FailureReason, InstanceState, MaterialReport, SourceReport, StartStep,
};
use tokio::task::JoinSet;

use crate::support::*;

#[tokio::test]
async fn change_stores_all_fields_and_a_new_revision() {
    on_every_engine(async |store| {
        let before = launched(&store, "alice@example.org").await;
        let mut after = before.clone();
        after.state = InstanceState::Failed;
        after.report.start_step = Some(StartStep::PullingImage);
        after.report.start_progress = Some(40);
        after.reason = Some(FailureReason::new(FailureCode::Crashed, Some("It ended with status 3: 'x'.".into())));
        after.report.log_tail = Some("line 1\nline 2 \u{1f600}".to_owned());
        after.report.last_crash = Some(Crash { at: at(2), code: FailureCode::OutOfMemory, files_lost: true });
        after.report.material =
            Some(MaterialReport { sources: vec![SourceReport::failed("data", "It is 'down'. \u{1f600}")] });
        after.report.url = Some("https://a.example.org/".to_owned());
        after.report.frame_url = Some("https://a.example.org/_launcher/frame".to_owned());
        (after.outdated, after.restarted_at) = (true, Some(at(5)));
        after.raised_max_lifetime_seconds = Some(36_000);
        after.dispatched_at = Some(at(1));
        after.started_at = Some(at(2));
        after.expires_at = Some(at(3));
        after.ended_at = Some(at(4));
        after.end_reason = Some(EndReason::Failed);
        after.spec_version = 7;
        let stored = store.change_instance(&before, &after, &by_the_service()).await.unwrap().unwrap();

        assert!(stored.revision > before.revision);
        after.revision = stored.revision;
        assert_eq!(stored, after);
        assert_eq!(store.observe_instance(&before.k8s_name).await.unwrap(), Some(after.clone()));

        let cleared = changed(&store, &after, |row| {
            (row.reason, row.report.log_tail, row.report.url, row.end_reason) = (None, None, None, None);
            (row.report.start_step, row.report.start_progress, row.report.last_crash, row.report.material) =
                (None, None, None, None);
            (row.outdated, row.restarted_at) = (false, None);
            (row.dispatched_at, row.started_at, row.expires_at, row.ended_at) = (None, None, None, None);
        })
        .await;
        assert_eq!(
            (cleared.report.start_step, cleared.report.start_progress, cleared.report.last_crash),
            (None, None, None)
        );
        assert_eq!(cleared.report.material, None);
        assert_eq!((cleared.outdated, cleared.restarted_at), (false, None));
        assert_eq!((cleared.reason, cleared.report.log_tail, cleared.ended_at), (None, None, None));
    })
    .await;
}

#[tokio::test]
async fn change_of_outdated_row_writes_nothing() {
    on_every_engine(async |store| {
        let before = launched(&store, "alice@example.org").await;
        let quicker = ended(&store, &before, 60).await;
        let mut late = before.clone();
        late.state = InstanceState::Running;
        let latest = store.feed_latest().await.unwrap();

        assert_eq!(store.change_instance(&before, &late, &by_the_service()).await.unwrap(), None);
        assert_eq!(store.observe_instance(&before.k8s_name).await.unwrap(), Some(quicker));
        assert_eq!(store.feed_latest().await.unwrap(), latest);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn only_one_of_concurrent_changes_of_same_row_is_stored() {
    on_every_engine(async |store| {
        let before = launched(&store, "alice@example.org").await;
        let mut tasks = JoinSet::new();
        for version in 1..=50 {
            let (store, before) = (store.clone(), before.clone());
            tasks.spawn(async move {
                let mut after = before.clone();
                after.spec_version = version;
                store.change_instance(&before, &after, &by_the_service()).await.unwrap()
            });
        }
        let stored: Vec<_> = tasks.join_all().await.into_iter().flatten().collect();
        assert_eq!(stored.len(), 1);
        assert_eq!(store.observe_instance(&before.k8s_name).await.unwrap(), Some(stored[0].clone()));
    })
    .await;
}

#[tokio::test]
async fn instance_change_keeps_applied_version_and_workshop_uid() {
    on_every_engine(async |store| {
        let before = launched(&store, "alice@example.org").await;
        store.dispatch_applied(before.instance_id, 3, Some("uid-1")).await.unwrap();
        let stored = changed(&store, &before, |row| row.spec_version = 4).await;
        assert_eq!((stored.applied_version, stored.workshop_uid.as_deref()), (3, Some("uid-1")));
    })
    .await;
}

#[tokio::test]
async fn nul_byte_in_log_tail_is_replaced() {
    on_every_engine(async |store| {
        let before = launched(&store, "alice@example.org").await;
        let stored = changed(&store, &before, |row| row.report.log_tail = Some("a\0b\u{1b}[0m".to_owned())).await;
        assert_eq!(stored.report.log_tail.as_deref(), Some("a\u{fffd}b\u{1b}[0m"));
    })
    .await;
}

#[tokio::test]
async fn use_is_noted_while_the_instance_runs_and_never_goes_back() {
    on_every_engine(async |store| {
        let before = launched(&store, "alice@example.org").await;
        let noted = async |seconds| {
            store.note_use(before.instance_id, at(seconds)).await.unwrap();
            let listed = store.instance(&alice(), &before.k8s_name).await.unwrap().unwrap();
            (listed.used_at, listed.instance.revision)
        };
        assert_eq!(noted(1).await, (None, before.revision), "not running");
        let running = changed(&store, &before, |row| row.state = InstanceState::Running).await;
        assert_eq!(noted(3).await, (Some(at(3)), running.revision), "no change of the feed");
        assert_eq!(noted(2).await, (Some(at(3)), running.revision));
        assert_eq!(noted(4).await, (Some(at(4)), running.revision));
    })
    .await;
}
