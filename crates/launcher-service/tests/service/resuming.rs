//! Resumes by one replica, while another replica still acts on the row from before the resume.

use launcher_domain::{Act, Clock, Instance, InstanceState};
use launcher_service::Launcher;
use launcher_testkit::{Delay, eventually};
use launcher_workshop::ResourceExt;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::{World, caller, launcher};

impl World {
    /// Starts another replica, which finishes the suspension and resumes the instance. Stops it when the instance runs.
    async fn resumed_by_another_replica(&self, name: &str) -> Instance {
        let (other, stop, loops) = self.replica();
        self.until(name, InstanceState::Suspended).await;
        other.resume(&caller("alice"), name).await.unwrap();
        self.workshop(name).await;
        self.everything_told().await;
        self.fleet.ready(name);
        let resumed = self.until(name, InstanceState::Running).await;
        stop.cancel();
        loops.await.unwrap();
        resumed
    }

    fn replica(&self) -> (Launcher, CancellationToken, JoinHandle<()>) {
        let other = launcher(&self.store, &self.fleet, &self.clock, self.limits, None);
        let (loops, stop) = (other.clone(), CancellationToken::new());
        let token = stop.clone();
        (other, stop, tokio::spawn(async move { loops.run(token).await }))
    }

    /// Ends the delay, and asserts that the resumed instance keeps its Workshop.
    async fn survives(&self, resumed: &Instance, delay: &Delay) {
        let name = &resumed.k8s_name;
        let spec = self.fleet.workshop(name).unwrap().spec;
        // The only replica restores the spec after the delayed call and its consequences.
        self.fleet.edit_spec(name, |spec| spec.args = vec!["by-hand".to_owned()]);
        delay.end();
        eventually(async || {
            let found = self.fleet.workshop(name);
            assert_eq!(found.as_ref().and_then(ResourceExt::uid), resumed.workshop_uid, "the Workshop stays");
            (found?.spec == spec).then_some(())
        })
        .await;
        let row = self.store.observe_instance(name).await.unwrap().unwrap();
        assert_eq!((row.state, row.end_reason), (InstanceState::Running, None));
        assert_eq!(row.workshop_uid, resumed.workshop_uid);
    }
}

#[tokio::test]
async fn late_deletion_of_the_former_workshop_does_not_end_the_resumed_instance() {
    let world = World::new().await;
    let template = world.kept_template().await;
    let row = world.run(&template, "alice").await;
    world.everything_told().await;
    let deletion = world.fleet.delay_deletion();
    world.launcher.suspend(&caller("alice"), &row.k8s_name).await.unwrap();
    deletion.begun().await;

    let resumed = world.resumed_by_another_replica(&row.k8s_name).await;
    assert_ne!(resumed.workshop_uid, row.workshop_uid);
    world.survives(&resumed, &deletion).await;
}

#[tokio::test]
async fn resync_that_began_before_the_resume_does_not_end_the_resumed_instance() {
    let world = World::new().await;
    let template = world.kept_template().await;
    let row = world.run(&template, "alice").await;
    world.everything_told().await;
    world.fleet.hold_deletions();
    world.launcher.suspend(&caller("alice"), &row.k8s_name).await.unwrap();
    world.everything_told().await;
    world.fleet.remove_silently(&row.k8s_name);
    let read = world.fleet.delay_read();
    world.fleet.relist();
    read.begun().await;

    let resumed = world.resumed_by_another_replica(&row.k8s_name).await;
    world.survives(&resumed, &read).await;
}

#[tokio::test]
async fn uid_that_is_read_after_the_resume_is_not_deleted() {
    let mut world = World::new().await;
    let template = world.kept_template().await;
    let row = world.run(&template, "alice").await;
    world.everything_told().await;
    world.stop().await;
    world.forget_uid(&row.k8s_name).await;
    let read = world.fleet.delay_read();
    world.launcher.suspend(&caller("alice"), &row.k8s_name).await.unwrap();
    world.start();
    read.begun().await;

    let resumed = world.resumed_by_another_replica(&row.k8s_name).await;
    world.survives(&resumed, &read).await;
}

#[tokio::test]
async fn suspended_instance_without_a_uid_causes_no_deletion() {
    let mut world = World::new().await;
    let template = world.kept_template().await;
    let row = world.run(&template, "alice").await;
    world.everything_told().await;
    world.stop().await;
    world.forget_uid(&row.k8s_name).await;
    world.fleet.remove_silently(&row.k8s_name);
    world.launcher.suspend(&caller("alice"), &row.k8s_name).await.unwrap();
    let suspending = world.store.observe_instance(&row.k8s_name).await.unwrap().unwrap();
    let now = world.clock.now();
    let suspended = suspending.workshop_gone(now).unwrap();
    let act = Act { actor_email: None, at: now };
    world.store.change_instance(&suspending, &suspended, &act).await.unwrap().unwrap();

    let deletions = world.fleet.deletions();
    world.start();
    world.everything_told().await;
    assert_eq!(world.fleet.deletions(), deletions, "a resume may have created a Workshop");
}
