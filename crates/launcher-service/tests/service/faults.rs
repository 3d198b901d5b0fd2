use std::time::Duration;

use futures_util::StreamExt;
use launcher_domain::lifetime::Bound;
use launcher_domain::{ActivityAction, EndReason, FailureCode, Instance, InstanceState};
use launcher_fleet::Fleet;
use launcher_service::{ActivityFilter, Limits, Page};
use launcher_testkit::{Fault, FrozenTime, eventually, in_time};
use launcher_workshop::desired_workshop;
use tokio::time::{advance, pause, resume};

use crate::{World, caller};

#[tokio::test]
async fn failed_fleet_call_is_retried() {
    let world = World::new().await;
    world.fleet.inject_faults([Fault::Unavailable, Fault::ErrorAfterSuccess]);
    let name = world.launch(&caller("alice")).await.k8s_name;
    world.workshop(&name).await;
    eventually(async || (world.fleet.applied() >= 3).then_some(())).await;
    assert_eq!(world.fleet.names(), [name], "a retry after a lost answer creates no second Workshop");
}

#[tokio::test]
async fn unanswered_fleet_call_does_not_delay_other_instances() {
    let world = World::with(Limits { max_instances_per_user: 2, ..Limits::default() }).await;
    let alice = caller("alice");
    let running = world.running(&alice).await;
    world.fleet.inject_faults([Fault::Hang]);
    world.launcher.terminate(&caller("alice"), &running.k8s_name).await.unwrap();
    eventually(async || world.fleet.is_fault_free().then_some(())).await;
    // The unanswered call never times out, so the launch does not wait for it.
    let _frozen = FrozenTime::start();
    let mut events = world.fleet.watch();
    let launched = world.launch(&alice).await.k8s_name;
    in_time(async {
        while world.fleet.workshop(&launched).is_none() {
            events.next().await;
        }
    })
    .await;
}

#[tokio::test]
async fn instances_in_backoff_do_not_delay_other_instances() {
    // 520 instances, more than one batch of dispatch, are in backoff when one more instance is launched.
    let mut world = World::with(Limits { max_concurrent_starts: 2000, ..Limits::default() }).await;
    let admin = caller("admin");
    world.fleet.inject_faults((0..4000).map(|_| Fault::Unavailable));
    world.kill().await;
    let first = world.launch(&admin).await.k8s_name;
    world.copy_instance(&first, 519).await;
    world.start();
    let last = world.launch(&admin).await.k8s_name;
    eventually(async || (world.fleet.applied() >= 521).then_some(())).await;
    world.fleet.clear_faults();
    world.workshop(&last).await;
}

#[tokio::test]
async fn workshop_created_after_its_instance_failed_is_deleted() {
    let world = World::new().await;
    let alice = caller("alice");
    let running = world.running(&alice).await;
    let late = world.fleet.workshop(&running.k8s_name).unwrap();
    world.fleet.fail(&running.k8s_name, FailureCode::Crashed, "");
    world.until(&running.k8s_name, InstanceState::Failed).await;
    eventually(async || world.fleet.names().is_empty().then_some(())).await;
    world.fleet.add_unrequested(&late);
    eventually(async || world.fleet.names().is_empty().then_some(())).await;
}

#[tokio::test]
async fn deletion_completes_when_answer_of_fleet_is_lost() {
    let world = World::new().await;
    let alice = caller("alice");
    let running = world.running(&alice).await;
    world.fleet.inject_faults([Fault::Unavailable, Fault::ErrorAfterSuccess]);
    world.launcher.terminate(&alice, &running.k8s_name).await.unwrap();
    world.until(&running.k8s_name, InstanceState::Terminated).await;
}

#[tokio::test]
async fn stored_changes_are_applied_after_launcher_is_killed() {
    let mut world = World::new().await;
    let alice = caller("alice");
    world.kill().await;
    let launched = world.launch(&alice).await;
    world.kill().await;
    world.start();
    world.workshop(&launched.k8s_name).await;
    world.fleet.ready(&launched.k8s_name);
    world.until(&launched.k8s_name, InstanceState::Running).await;

    world.kill().await;
    world.launcher.terminate(&alice, &launched.k8s_name).await.unwrap();
    world.kill().await;
    world.start();
    world.until(&launched.k8s_name, InstanceState::Terminated).await;
    assert!(world.fleet.names().is_empty());
}

#[tokio::test]
async fn launcher_killed_before_recording_an_apply_creates_no_duplicate() {
    let mut world = World::new().await;
    let alice = caller("alice");
    world.fleet.inject_faults([Fault::HangAfterSuccess]);
    let name = world.launch(&alice).await.k8s_name;
    world.workshop(&name).await;
    let pending = world.store.dispatch_pending(0, 9).await.unwrap().instances;
    assert_eq!((pending.len(), pending[0].workshop_uid.as_deref()), (1, None), "applied, and not yet noted");
    world.kill().await;
    assert_eq!((world.fleet.created(), world.fleet.applied()), (1, 1));

    world.start();
    world.everything_told().await;
    assert_eq!(world.fleet.names(), std::slice::from_ref(&name));
    assert_eq!((world.fleet.created(), world.fleet.applied()), (1, 2));
    world.fleet.ready(&name);
    world.until(&name, InstanceState::Running).await;

    // When the workshop is ready, its expiry is set. Wait until the fleet has applied the expiry too.
    world.everything_told().await;
    world.fleet.inject_faults([Fault::HangAfterSuccess]);
    world.launcher.terminate(&alice, &name).await.unwrap();
    eventually(async || world.fleet.names().is_empty().then_some(())).await;
    world.kill().await;
    world.start();
    world.until(&name, InstanceState::Terminated).await;
    assert_eq!(world.fleet.created(), 1);
}

#[tokio::test]
async fn fleet_changes_during_downtime_are_observed_after_start() {
    let mut world = World::new().await;
    let starting = world.launch(&caller("alice")).await.k8s_name;
    world.workshop(&starting).await;
    world.until(&starting, InstanceState::Starting).await;
    let gone = world.running(&caller("bob")).await.k8s_name;
    world.kill().await;
    world.fleet.ready(&starting);
    world.fleet.remove_silently(&gone);
    world.start();
    world.until(&starting, InstanceState::Running).await;
    world.until(&gone, InstanceState::Terminated).await;
}

#[tokio::test]
async fn orphaned_workshop_is_deleted() {
    let world = World::new().await;
    let running = world.running(&caller("alice")).await;
    let stray = Instance { k8s_name: "stray-aaaaaaaaaa".to_owned(), ..running.clone() };
    world.fleet.add_unrequested(&desired_workshop(&stray));
    eventually(async || (world.fleet.names() == [running.k8s_name.clone()]).then_some(())).await;
}

#[tokio::test]
async fn orphan_whose_deletion_failed_is_deleted_by_an_early_resync() {
    let mut world = World::new().await;
    let running = world.running(&caller("alice")).await;
    world.everything_told().await;
    world.kill().await;
    let stray = Instance { k8s_name: "stray-aaaaaaaaaa".to_owned(), ..running.clone() };
    world.fleet.add_unrequested(&desired_workshop(&stray));
    world.fleet.inject_faults([Fault::Unavailable]);
    world.start();
    eventually(async || world.fleet.is_fault_free().then_some(())).await;
    assert_eq!(world.fleet.names().len(), 2, "the first deletion failed");
    eventually(async || {
        // The clock advances quickly to the resync.
        pause();
        advance(Duration::from_secs(1)).await;
        resume();
        (world.fleet.names() == [running.k8s_name.clone()]).then_some(())
    })
    .await;
}

#[tokio::test]
async fn changed_spec_of_a_terminating_workshop_is_not_restored() {
    let world = World::new().await;
    let (ending, other) = (world.running(&caller("alice")).await, world.running(&caller("bob")).await);
    world.fleet.hold_deletions();
    world.launcher.terminate(&caller("alice"), &ending.k8s_name).await.unwrap();
    world.everything_told().await;
    let (applied, deletions) = (world.fleet.applied(), world.fleet.deletions());
    world.fleet.edit_spec(&ending.k8s_name, |spec| spec.args = vec!["by-hand".to_owned()]);
    // The service handles events in order: when bob's instance has failed, it has handled the change. A failed instance
    // causes one deletion.
    world.fleet.fail(&other.k8s_name, FailureCode::Crashed, "");
    world.until(&other.k8s_name, InstanceState::Failed).await;
    world.everything_told().await;
    assert_eq!((world.fleet.applied(), world.fleet.deletions()), (applied, deletions + 1));
}

#[tokio::test]
async fn workshop_without_launcher_labels_is_ignored() {
    let world = World::new().await;
    let running = world.running(&caller("alice")).await;
    let stray = |name: &str| desired_workshop(&Instance { k8s_name: name.to_owned(), ..running.clone() });
    let mut theirs = stray("theirs-aaaaaaaaaa");
    theirs.metadata.labels = None;
    world.fleet.add_unrequested(&theirs);
    // The service handles events in order: when it has deleted the second Workshop, it has handled the first one.
    world.fleet.add_unrequested(&stray("ours-aaaaaaaaaa"));
    let mut both = vec![running.k8s_name.clone(), "theirs-aaaaaaaaaa".to_owned()];
    both.sort();
    eventually(async || (world.fleet.names() == both).then_some(())).await;
}

#[tokio::test]
async fn extension_does_not_recreate_deleted_workshop() {
    let world = World::new().await;
    let running = world.running(&caller("alice")).await;
    world.fleet.remove_silently(&running.k8s_name);
    let applied = world.fleet.applied();
    world.launcher.extend(&caller("alice"), &running.k8s_name, None, Bound::Maximum).await.unwrap();
    eventually(async || (world.fleet.applied() > applied).then_some(())).await;
    assert!(world.fleet.names().is_empty());
    world.fleet.relist();
    let ended = world.until(&running.k8s_name, InstanceState::Terminated).await;
    assert_eq!(ended.end_reason, Some(EndReason::Lost));
}

#[tokio::test]
async fn unreadable_workshop_is_rewritten_and_keeps_running() {
    let world = World::new().await;
    let name = world.running(&caller("alice")).await.k8s_name;
    world.everything_told().await;
    let before = world.fleet.applied();
    world.fleet.make_unreadable(&name);
    world.fleet.relist();
    eventually(async || (world.fleet.applied() > before).then_some(())).await;
    // The service handles events in order: when bob's instance runs, it has handled the events of alice's Workshop.
    world.running(&caller("bob")).await;
    let instance = world.until(&name, InstanceState::Running).await;
    assert_eq!(instance.reason, None);
}

#[tokio::test]
async fn ended_instances_are_purged_after_the_history_limit() {
    let mut world = World::new().await;
    let alice = caller("alice");
    let running = world.running(&alice).await;
    world.launcher.terminate(&alice, &running.k8s_name).await.unwrap();
    world.until(&running.k8s_name, InstanceState::Terminated).await;
    world.kill().await;
    world.clock.advance(Duration::from_secs(31 * 24 * 3600));
    world.start();
    eventually(async || world.launcher.instance(&alice, &running.k8s_name).await.err()).await;
}

#[tokio::test]
async fn old_failed_instance_is_dismissed_by_upkeep_then_purged() {
    const DAY: Duration = Duration::from_secs(24 * 3600);
    let mut world = World::new().await;
    let alice = caller("alice");
    let failed = async |world: &World| {
        let name = world.running(&alice).await.k8s_name;
        world.fleet.fail(&name, FailureCode::Crashed, "");
        world.until(&name, InstanceState::Failed).await.k8s_name
    };
    let old = failed(&world).await;
    world.clock.advance(DAY * 29);
    let recent = failed(&world).await;
    world.kill().await;
    world.clock.advance(DAY * 2);
    world.start();
    let dismissed = world.until(&old, InstanceState::Terminated).await;
    assert_eq!(dismissed.end_reason, Some(EndReason::Failed));
    world.stop().await;
    world.until(&recent, InstanceState::Failed).await;
    let of_old = ActivityFilter { subject: Some(old.clone()), ..ActivityFilter::default() };
    let page = Page { limit: 1, after: None };
    let entry = world.launcher.activities(&caller("admin"), &of_old, &page).await.unwrap().remove(0).activity;
    assert_eq!((entry.action, entry.act.actor_email), (ActivityAction::Dismissed, None));

    world.kill().await;
    world.clock.advance(DAY * 31);
    world.start();
    eventually(async || world.launcher.instance(&alice, &old).await.err()).await;
    world.until(&recent, InstanceState::Terminated).await;
}
