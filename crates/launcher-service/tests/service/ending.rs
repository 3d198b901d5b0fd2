use launcher_domain::lifetime::Bound;
use launcher_domain::lifetime::ExtendError;
use launcher_domain::{EndReason, FailureCode, InstanceState};
use launcher_service::{Limits, ServiceError};
use launcher_testkit::eventually;

use crate::{World, caller};

#[tokio::test]
async fn extension_updates_row_and_workshop() {
    let world = World::new().await;
    let alice = caller("alice");
    let running = world.running(&alice).await;
    let extended =
        world.launcher.extend(&alice, &running.k8s_name, running.expires_at, Bound::Maximum).await.unwrap().instance;
    assert!(extended.expires_at > running.expires_at);
    eventually(async || {
        (world.fleet.workshop(&running.k8s_name)?.spec.expires_at == extended.expires_at).then_some(())
    })
    .await;
    let twice = world.launcher.extend(&alice, &running.k8s_name, running.expires_at, Bound::Maximum).await.unwrap_err();
    assert!(matches!(twice, ServiceError::Extend(ExtendError::ExpiryChanged)), "{twice}");
}

#[tokio::test]
async fn termination_records_end_reason_and_waits_for_deletion() {
    for (who, reason) in [("alice", EndReason::Owner), ("admin", EndReason::Admin)] {
        let world = World::new().await;
        let running = world.running(&caller("alice")).await;
        world.fleet.hold_deletions();
        let ending = world.launcher.terminate(&caller(who), &running.k8s_name).await.unwrap().instance;
        assert_eq!((ending.state, ending.end_reason), (InstanceState::Terminating, Some(reason)));
        let again = world.launcher.terminate(&caller(who), &running.k8s_name).await.unwrap().instance;
        assert_eq!(again.revision, ending.revision, "repeating it changes nothing");
        world.fleet.remove_workshop(&running.k8s_name);
        let ended = world.until(&running.k8s_name, InstanceState::Terminated).await;
        assert!(ended.ended_at.is_some() && ended.report.url.is_none());
        assert_eq!(ended.end_reason, Some(reason));
    }
}

#[tokio::test]
async fn queued_instance_is_terminated_at_once() {
    let world = World::with(Limits { max_concurrent_starts: 1, ..Limits::default() }).await;
    let alice = caller("alice");
    let first = world.launch(&alice).await;
    world.until(&first.k8s_name, InstanceState::Starting).await;
    let second = world.launch(&alice).await;
    let withdrawn = world.launcher.terminate(&alice, &second.k8s_name).await.unwrap().instance;
    assert_eq!((withdrawn.state, withdrawn.end_reason), (InstanceState::Terminated, Some(EndReason::Owner)));
    assert_eq!(world.fleet.names(), [first.k8s_name]);
}

#[tokio::test]
async fn failed_instance_frees_its_slot_and_stays_until_dismissed() {
    let world = World::with(Limits { max_instances_per_user: 1, ..Limits::default() }).await;
    let alice = caller("alice");
    let running = world.running(&alice).await;
    world.fleet.fail(&running.k8s_name, FailureCode::OutOfMemory, "Killed");
    let failed = world.until(&running.k8s_name, InstanceState::Failed).await;
    let code = failed.reason.map(|reason| reason.code);
    assert_eq!((code, failed.report.log_tail.as_deref()), (Some(FailureCode::OutOfMemory), Some("Killed")));
    eventually(async || world.fleet.names().is_empty().then_some(())).await;
    world.launch(&alice).await;

    world.launcher.terminate(&alice, &running.k8s_name).await.unwrap();
    let dismissed = world.until(&running.k8s_name, InstanceState::Terminated).await;
    assert_eq!(dismissed.end_reason, Some(EndReason::Failed));
    assert!(dismissed.reason.is_some(), "why it ended stays readable");
}

#[tokio::test]
async fn expired_workshop_is_terminated() {
    let world = World::new().await;
    let running = world.running(&caller("alice")).await;
    world.fleet.expire(&running.k8s_name);
    let ended = world.until(&running.k8s_name, InstanceState::Terminated).await;
    assert_eq!(ended.end_reason, Some(EndReason::Expired));
    assert!(world.fleet.names().is_empty());
}

#[tokio::test]
async fn workshop_deleted_from_outside_is_lost() {
    let world = World::new().await;
    let (alice, bob) = (caller("alice"), caller("bob"));
    let seen = world.running(&alice).await;
    world.fleet.remove_workshop(&seen.k8s_name);
    assert_eq!(world.until(&seen.k8s_name, InstanceState::Terminated).await.end_reason, Some(EndReason::Lost));

    let unseen = world.running(&bob).await;
    world.fleet.remove_silently(&unseen.k8s_name);
    world.fleet.relist();
    assert_eq!(world.until(&unseen.k8s_name, InstanceState::Terminated).await.end_reason, Some(EndReason::Lost));
}
