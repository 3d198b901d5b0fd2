//! Tests of suspended instances: their volume, their resume under the limits of a launch, and their end by the retention.

use launcher_domain::{
    ActivityAction, Crash, EmailAddress, EndReason, FailureCode, Instance, InstanceState, LaunchRate, Report,
    SecretValues, StorageKind,
};
use launcher_store::{ActivityFilter, LaunchOutcome, LaunchRules, ResumeOutcome, Store, VolumeDeletion};
use tokio::task::JoinSet;

use crate::support::*;
use crate::volumes::{draft, used_by};

const OWNER: &str = "alice@example.org";

/// Launches an instance with a volume, lets it run with the Workshop `uid`, and suspends it.
async fn suspended(store: &Store, draft: &Instance, uid: &str) -> Instance {
    let queued = created(store.launch_own(draft, &NO_LIMITS, None).await.unwrap());
    let promoted = store.dispatch_promote_queued(100, at(1)).await.unwrap();
    let starting = promoted.into_iter().find(|row| row.k8s_name == queued.k8s_name).unwrap();
    store.dispatch_applied(starting.instance_id, starting.spec_version, Some(uid)).await.unwrap();
    let starting = store.observe_instance(&starting.k8s_name).await.unwrap().unwrap();
    let running = changed(store, &starting, |row| {
        (row.state, row.started_at, row.expires_at) = (InstanceState::Running, Some(at(2)), Some(at(7202)));
        row.restarted_at = Some(at(4));
        row.report.last_crash = Some(Crash { at: at(5), code: FailureCode::Crashed, files_lost: false });
    })
    .await;
    let suspending = running.suspend(at(10)).unwrap().unwrap();
    let suspending = store.change_instance(&running, &suspending, &by_the_service()).await.unwrap().unwrap();
    let suspended = suspending.workshop_gone(at(11)).unwrap();
    store.change_instance(&suspending, &suspended, &by_the_service()).await.unwrap().unwrap()
}

async fn resume(store: &Store, before: &Instance, rules: &LaunchRules) -> ResumeOutcome {
    let after = before.resume(at(600)).unwrap().unwrap();
    let act = launcher_domain::Act { actor_email: Some(before.owner_email.clone()), at: at(600) };
    store.resume_instance(before, &after, rules, &act).await.unwrap()
}

fn resumed(outcome: ResumeOutcome) -> Instance {
    match outcome {
        ResumeOutcome::Resumed(instance) => instance,
        other => panic!("not resumed: {other:?}"),
    }
}

#[tokio::test]
async fn resumed_instance_is_the_last_in_the_queue_with_its_name_and_volume() {
    on_every_engine(async |store| {
        let before = suspended(&store, &draft(OWNER, StorageKind::Kept, 1), "uid-1").await;
        assert_eq!((before.state, before.suspended_at), (InstanceState::Suspended, Some(at(10))));
        let other = launched(&store, "bob@example.org").await;

        let after = resumed(resume(&store, &before, &NO_LIMITS).await);
        assert_eq!((after.state, after.resumed_at, after.suspended_at), (InstanceState::Queued, Some(at(600)), None));
        assert_eq!(
            (&after.k8s_name, &after.volume, &after.settings),
            (&before.k8s_name, &before.volume, &before.settings)
        );
        assert_eq!((after.workshop_uid.as_deref(), after.former_uid.as_deref()), (None, Some("uid-1")));
        assert_eq!((after.started_at, after.expires_at), (None, None));
        assert!(before.report.last_crash.is_some(), "of the former run");
        assert_eq!(after.report, Report::default());
        let decided = before.resume(at(600)).unwrap().unwrap();
        assert_eq!(
            after,
            Instance { revision: after.revision, ..decided },
            "each field that a resume changes is stored"
        );
        assert_eq!(store.observe_instance(&after.k8s_name).await.unwrap().as_ref(), Some(&after));
        assert_eq!(store.dispatch_pending(0, 100).await.unwrap().instances, [], "a queued instance has no Workshop");

        let position = |name: String| {
            let store = store.clone();
            async move { store.instance(&admin(), &name).await.unwrap().unwrap().queue_position }
        };
        assert_eq!(position(other.k8s_name).await, Some(1));
        assert_eq!(position(after.k8s_name).await, Some(2));
    })
    .await;
}

#[tokio::test]
async fn late_answer_about_the_former_workshop_is_not_recorded() {
    on_every_engine(async |store| {
        let before = suspended(&store, &draft(OWNER, StorageKind::Kept, 1), "uid-1").await;
        assert!(before.applied_version < before.spec_version, "the deletion is not recorded yet");
        let queued = resumed(resume(&store, &before, &NO_LIMITS).await);
        store.dispatch_applied(queued.instance_id, before.applied_version, Some("uid-1")).await.unwrap();
        store.dispatch_applied(queued.instance_id, before.spec_version, None).await.unwrap();

        let [starting] = &store.dispatch_promote_queued(100, at(700)).await.unwrap()[..] else { panic!() };
        assert_eq!((starting.workshop_uid.as_ref(), starting.dispatched_at), (None, Some(at(700))));
        assert_eq!(store.dispatch_pending(0, 100).await.unwrap().instances, std::slice::from_ref(starting));
        store.dispatch_applied(starting.instance_id, starting.spec_version, Some("uid-2")).await.unwrap();
        let row = store.observe_instance(&starting.k8s_name).await.unwrap().unwrap();
        assert_eq!(row.workshop_uid.as_deref(), Some("uid-2"));
    })
    .await;
}

#[tokio::test]
async fn suspended_instance_holds_its_volume_and_no_place() {
    on_every_engine(async |store| {
        let row = suspended(&store, &draft(OWNER, StorageKind::Kept, 1), "uid-1").await;
        let again = store.launch_own(&draft(OWNER, StorageKind::Kept, 2), &NO_LIMITS, None).await.unwrap();
        assert_eq!(again, LaunchOutcome::VolumeInUse(used_by(&row, true)));
        let listed = store.volumes(&alice(), None, &EVERYTHING).await.unwrap();
        assert_eq!(listed[0].used_by, Some(used_by(&row, true)));

        let one = LaunchRules { max_per_user: Some(1), ..NO_LIMITS };
        created(store.launch_own(&instance(OWNER), &one, None).await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn resume_is_refused_like_a_launch() {
    on_every_engine(async |store| {
        let row = suspended(&store, &draft(OWNER, StorageKind::Kept, 1), "uid-1").await;
        launched(&store, OWNER).await;
        let limited = LaunchRules { max_per_user: Some(1), ..NO_LIMITS };
        let refused = LaunchOutcome::LimitReached { limit: 1, held: 1, ending: 0 };
        assert_eq!(resume(&store, &row, &limited).await, ResumeOutcome::Refused(refused));
        let full = LaunchRules { max_queued: 1, ..NO_LIMITS };
        assert_eq!(resume(&store, &row, &full).await, ResumeOutcome::Refused(LaunchOutcome::AtCapacity));
        let slow = LaunchRules { rate: Some(LaunchRate { per_minute: 1, burst: 1 }), ..NO_LIMITS };
        let other = Instance { created_at: at(599), ..instance(OWNER) };
        created(store.launch_own(&other, &slow, None).await.unwrap());
        assert!(matches!(
            resume(&store, &row, &slow).await,
            ResumeOutcome::Refused(LaunchOutcome::TooManyLaunches { .. })
        ));
        assert_eq!(
            store.observe_instance(&row.k8s_name).await.unwrap(),
            Some(row.clone()),
            "a refusal changes nothing"
        );
        resumed(resume(&store, &row, &NO_LIMITS).await);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_resumes_queue_the_instance_once() {
    on_every_engine(async |store| {
        let row = suspended(&store, &draft(OWNER, StorageKind::Kept, 1), "uid-1").await;
        let mut tasks = JoinSet::new();
        for _ in 0..10 {
            let (store, row) = (store.clone(), row.clone());
            tasks.spawn(async move { resume(&store, &row, &NO_LIMITS).await });
        }
        let outcomes = tasks.join_all().await;
        let won = outcomes.iter().filter(|outcome| matches!(outcome, ResumeOutcome::Resumed(_))).count();
        let lost = outcomes.iter().filter(|outcome| **outcome == ResumeOutcome::Changed).count();
        assert_eq!((won, lost), (1, 9));
        let logged = store.activities(&ActivityFilter::default(), &ALL_ENTRIES).await.unwrap();
        let count = |action| logged.iter().filter(|entry| entry.activity.action == action).count();
        assert_eq!((count(ActivityAction::Suspended), count(ActivityAction::Resumed)), (1, 1));
    })
    .await;
}

#[tokio::test]
async fn secret_parameters_survive_the_suspension_until_the_end() {
    on_every_engine(async |store| {
        let secrets: SecretValues = [("TOKEN".to_owned(), "s3cret".to_owned())].into_iter().collect();
        let mut wanted = draft(OWNER, StorageKind::Kept, 1);
        wanted.parameters.insert("TOKEN".to_owned(), None);
        let queued = created(store.launch(None, &wanted, &secrets, &NO_LIMITS, None).await.unwrap());
        let mut row = queued;
        use InstanceState::{Queued, Running, Starting, Suspended, Suspending};
        for state in [Queued, Starting, Running, Suspending, Suspended] {
            row = changed(&store, &row, |row| row.state = state).await;
            assert_eq!(store.dispatch_secrets(row.instance_id).await.unwrap(), secrets, "{state:?}");
        }
        let queued = resumed(resume(&store, &row, &NO_LIMITS).await);
        assert_eq!(store.dispatch_secrets(queued.instance_id).await.unwrap(), secrets);
        let ended = changed(&store, &queued, |row| row.state = InstanceState::Terminated).await;
        assert!(store.dispatch_secrets(ended.instance_id).await.unwrap().is_empty());
    })
    .await;
}

#[tokio::test]
async fn suspension_is_no_use_of_the_volume() {
    on_every_engine(async |store| {
        let old = suspended(&store, &draft(OWNER, StorageKind::Kept, 1), "uid-1").await;
        let running =
            created(store.launch_own(&draft("bob@example.org", StorageKind::Kept, 2), &NO_LIMITS, None).await.unwrap());
        assert_eq!(store.observe_used_volumes(at(200), at(100)).await.unwrap(), 1);
        let used = store.volume(&admin(), running.volume.as_deref().unwrap()).await.unwrap().unwrap();
        assert_eq!(used.volume.last_used_at, at(200));

        assert_eq!(store.observe_forgotten(at(0), at(300)).await.unwrap(), []);
        assert_eq!(store.observe_forgotten(at(100), at(300)).await.unwrap(), std::slice::from_ref(&old));
        assert_eq!(store.purge_unused_volumes(at(100), at(300)).await.unwrap(), 0, "the instance still holds it");

        let ended = old.terminate(EndReason::Expired, at(300)).unwrap();
        store.change_instance(&old, &ended, &by_the_service()).await.unwrap().unwrap();
        assert_eq!(store.observe_forgotten(at(100), at(300)).await.unwrap(), []);
        assert_eq!(store.purge_unused_volumes(at(100), at(300)).await.unwrap(), 1);
        let owner = EmailAddress::parse(OWNER).unwrap();
        assert_eq!(store.volumes(&admin(), Some(&owner), &EVERYTHING).await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn resume_uses_the_volume_again() {
    on_every_engine(async |store| {
        let row = suspended(&store, &draft(OWNER, StorageKind::Kept, 1), "uid-1").await;
        resumed(resume(&store, &row, &NO_LIMITS).await);
        assert_eq!(store.observe_forgotten(at(599), at(700)).await.unwrap(), []);
        assert_eq!(store.purge_unused_volumes(at(599), at(700)).await.unwrap(), 0);
        let listed = store.volumes(&alice(), None, &EVERYTHING).await.unwrap();
        assert_eq!((listed[0].volume.last_used_at, listed[0].used_by.clone()), (at(600), Some(used_by(&row, false))));
    })
    .await;
}

#[tokio::test]
async fn resume_of_an_instance_that_ended_with_its_volume_has_to_read_it_again() {
    on_every_engine(async |store| {
        let read = suspended(&store, &draft(OWNER, StorageKind::Kept, 1), "uid-1").await;
        let ended = read.terminate(EndReason::Owner, at(300)).unwrap();
        store.change_instance(&read, &ended, &by_the_service()).await.unwrap().unwrap();
        let volume = read.volume.as_deref().unwrap();
        assert_eq!(store.delete_volume(&alice(), volume, at(301)).await.unwrap(), VolumeDeletion::Decided);
        assert_eq!(resume(&store, &read, &NO_LIMITS).await, ResumeOutcome::Changed);
    })
    .await;
}
