//! Effects of a permanent refusal of a Workshop by the fleet.

use launcher_domain::lifetime::Bound;
use launcher_domain::{EndReason, FailureCode, InstanceState};
use launcher_testkit::{Fault, eventually};

use crate::{World, caller, measured};

impl World {
    /// Returns the number of dispatch failures from the metrics.
    fn dispatch_failures(&self) -> u32 {
        let text = measured(&self.launcher);
        let count = text.lines().find_map(|line| line.strip_prefix("launcher_dispatch_failures_total "));
        count.unwrap().parse().unwrap()
    }
}

#[tokio::test]
async fn start_of_refused_workshop_fails_with_invalid_spec() {
    let world = World::new().await;
    world.fleet.inject_faults([Fault::Refused]);
    let name = world.launch(&caller("alice")).await.k8s_name;
    let failed = world.until(&name, InstanceState::Failed).await;
    assert_eq!(failed.reason.unwrap().code, FailureCode::InvalidSpec);
}

#[tokio::test]
async fn refused_change_of_workshop_is_retried_and_keeps_it_running() {
    let world = World::new().await;
    let alice = caller("alice");
    let running = world.running(&alice).await;
    world.everything_told().await;
    world.fleet.inject_faults((0..4000).map(|_| Fault::Refused));
    let (applied, failures) = (world.fleet.applied(), world.dispatch_failures());
    let extended = world.launcher.extend(&alice, &running.k8s_name, None, Bound::Maximum).await.unwrap().instance;
    // After three more applies, dispatch has handled at least two refusals. They must not change the row.
    eventually(async || (world.fleet.applied() >= applied + 3).then_some(())).await;
    assert_eq!(world.until(&running.k8s_name, InstanceState::Running).await.expires_at, extended.expires_at);
    assert!(world.dispatch_failures() >= failures + 2, "each refusal is counted");
    world.fleet.clear_faults();
    eventually(async || {
        (world.fleet.workshop(&running.k8s_name)?.spec.expires_at == extended.expires_at).then_some(())
    })
    .await;
}

#[tokio::test]
async fn running_instance_with_unrecorded_apply_survives_refused_apply() {
    let world = World::new().await;
    world.fleet.inject_faults([Fault::ErrorAfterSuccess].into_iter().chain((0..4000).map(|_| Fault::Unavailable)));
    let name = world.launch(&caller("alice")).await.k8s_name;
    world.workshop(&name).await;
    world.fleet.ready(&name);
    world.until(&name, InstanceState::Running).await;
    world.fleet.clear_faults();
    world.fleet.inject_faults((0..4000).map(|_| Fault::Refused));
    let (applied, failures) = (world.fleet.applied(), world.dispatch_failures());
    eventually(async || (world.fleet.applied() >= applied + 2).then_some(())).await;
    world.until(&name, InstanceState::Running).await;
    assert!(world.dispatch_failures() > failures, "a refusal is counted");
    world.fleet.clear_faults();
    world.everything_told().await;
    assert_eq!((world.fleet.names(), world.fleet.created()), (vec![name], 1));
}

#[tokio::test]
async fn instance_expires_after_refused_extension() {
    let world = World::new().await;
    let alice = caller("alice");
    let running = world.running(&alice).await;
    world.everything_told().await;
    world.fleet.inject_faults((0..2).map(|_| Fault::Refused));
    world.launcher.extend(&alice, &running.k8s_name, None, Bound::Maximum).await.unwrap();
    eventually(async || world.fleet.is_fault_free().then_some(())).await;
    world.fleet.expire(&running.k8s_name);
    let ended = world.until(&running.k8s_name, InstanceState::Terminated).await;
    assert_eq!(ended.end_reason, Some(EndReason::Expired));
}
