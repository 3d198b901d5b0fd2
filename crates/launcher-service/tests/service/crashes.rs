//! Crashes of apps that the fleet starts again in place.

use launcher_domain::{FailureCode, Instance, InstanceState, Report};
use launcher_testkit::eventually;

use crate::{World, caller};

impl World {
    /// Waits until the row has a crash with this code.
    async fn row_after_crash(&self, name: &str, code: FailureCode) -> Instance {
        let admin = caller("admin");
        eventually(async || {
            let row = self.launcher.instance(&admin, name).await.unwrap().instance;
            row.report.last_crash.as_ref().is_some_and(|crash| crash.code == code).then_some(row)
        })
        .await
    }
}

#[tokio::test]
async fn crash_is_stored_and_workshop_keeps_running() {
    let world = World::new().await;
    let before = world.running(&caller("alice")).await;
    let name = &before.k8s_name;

    world.fleet.crash(name, FailureCode::OutOfMemory, true);

    let crashed = world.row_after_crash(name, FailureCode::OutOfMemory).await;
    assert!(crashed.report.last_crash.as_ref().unwrap().files_lost);
    // The acknowledgement of the extended lifetime (`applied_version`) arrives at any time.
    let expected = Instance {
        report: Report { last_crash: crashed.report.last_crash.clone(), ..before.report.clone() },
        revision: crashed.revision,
        applied_version: crashed.applied_version,
        ..before.clone()
    };
    assert_eq!(crashed, expected);

    world.fleet.recover(name);
    world.fleet.crash(name, FailureCode::Crashed, false);
    let again = world.row_after_crash(name, FailureCode::Crashed).await;
    assert_eq!((again.state, again.expires_at), (InstanceState::Running, before.expires_at));
    assert_eq!(again.revision, crashed.revision + 1, "the report of the ready app changed nothing");
}

#[tokio::test]
async fn crash_during_outage_of_the_launcher_is_stored_at_its_next_start() {
    let mut world = World::new().await;
    let name = world.running(&caller("alice")).await.k8s_name;
    world.kill().await;
    world.fleet.crash(&name, FailureCode::Crashed, false);
    world.start();
    let row = world.row_after_crash(&name, FailureCode::Crashed).await;
    assert_eq!(row.state, InstanceState::Running);
}
