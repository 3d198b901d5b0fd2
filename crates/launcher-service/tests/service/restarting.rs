//! Restarts of outdated instances.

use launcher_domain::instance::RestartError;
use launcher_domain::{ActivityAction, Instance, InstanceState};
use launcher_service::{ActivityFilter, Page, ServiceError};
use launcher_testkit::eventually;

use crate::{World, caller};

impl World {
    /// Makes a running instance outdated.
    async fn make_outdated(&self, name: &str) -> Instance {
        self.fleet.outdate(name);
        self.row(name, |row| row.outdated).await
    }

    /// Waits until the row fulfils the condition.
    async fn row(&self, name: &str, is_met: impl Fn(&Instance) -> bool) -> Instance {
        let admin = caller("admin");
        eventually(async || {
            let row = self.launcher.instance(&admin, name).await.unwrap().instance;
            is_met(&row).then_some(row)
        })
        .await
    }

    async fn restarts_in_log(&self) -> usize {
        let page = Page { limit: 100, after: None };
        let entries = self.launcher.activities(&caller("admin"), &ActivityFilter::default(), &page).await.unwrap();
        entries.iter().filter(|entry| entry.activity.action == ActivityAction::Restarted).count()
    }
}

#[tokio::test]
async fn restart_updates_workshop_and_keeps_expiry() {
    let world = World::new().await;
    let running = world.running(&caller("alice")).await;
    let outdated = world.make_outdated(&running.k8s_name).await;
    let restarted = world.launcher.restart(&caller("admin"), &running.k8s_name).await.unwrap().instance;
    assert_eq!((restarted.state, restarted.outdated), (InstanceState::Running, false));
    assert_eq!((restarted.expires_at, restarted.started_at), (outdated.expires_at, outdated.started_at));
    let told = eventually(async || world.fleet.workshop(&running.k8s_name)?.spec.restarted_at).await;
    assert_eq!(Some(told), restarted.restarted_at);
    assert_eq!(world.restarts_in_log().await, 1);
}

#[tokio::test]
async fn repeated_restart_is_refused_also_after_late_report() {
    let world = World::new().await;
    let (admin, name) = (caller("admin"), world.running(&caller("alice")).await.k8s_name);
    world.make_outdated(&name).await;
    let restarted = world.launcher.restart(&admin, &name).await.unwrap().instance;
    eventually(async || world.fleet.workshop(&name)?.spec.restarted_at).await;
    // The list contains the status of the former pod.
    world.fleet.relist();
    world.fleet.edit_spec(&name, |_| {});
    let twice = world.launcher.restart(&admin, &name).await.unwrap_err();
    assert!(matches!(twice, ServiceError::Restart(RestartError::NotOutdated)), "{twice}");

    world.fleet.finish_restart(&name);
    world.everything_told().await;
    let row = world.launcher.instance(&admin, &name).await.unwrap().instance;
    assert_eq!((row.outdated, row.restarted_at), (false, restarted.restarted_at));

    // After another upgrade of the fleet, the successor is outdated, too.
    world.make_outdated(&name).await;
    let again = world.launcher.restart(&admin, &name).await.unwrap().instance;
    assert!(again.restarted_at > restarted.restarted_at);
    assert_eq!(world.restarts_in_log().await, 2);
}

#[tokio::test]
async fn restart_survives_kill_of_the_launcher_and_happens_once() {
    let mut world = World::new().await;
    let name = world.running(&caller("alice")).await.k8s_name;
    world.make_outdated(&name).await;
    world.kill().await;
    let restarted = world.launcher.restart(&caller("admin"), &name).await.unwrap().instance;
    assert_eq!(world.fleet.workshop(&name).unwrap().spec.restarted_at, None, "no loop runs");
    world.start();
    eventually(async || world.fleet.workshop(&name)?.spec.restarted_at).await;
    world.kill().await;
    world.start();
    world.everything_told().await;
    assert_eq!(world.fleet.workshop(&name).unwrap().spec.restarted_at, restarted.restarted_at);
}
