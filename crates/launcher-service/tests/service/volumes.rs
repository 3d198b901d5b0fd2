//! Volumes: kept files that outlive the workshops.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::Timestamp;
use launcher_domain::{Clock, EndReason, FailureCode, Instance, InstanceState, JsonObject, Template};
use launcher_service::{LaunchRequest, Limits, ListedVolume, Page, ServiceError};
use launcher_testkit::{Fault, eventually};
use serde_json::json;
use sqlx::{AnyConnection, AssertSqlSafe, Connection, Row};

use crate::{World, body, caller, database, measured, with};

const PAGE: Page = Page { limit: 100, after: None };
const DAY: Duration = Duration::from_secs(24 * 3600);

pub(crate) fn body_with_storage() -> JsonObject {
    with(body("Notebook"), &json!({ "storage": { "kind": "kept", "path": "/work" } }))
}

impl World {
    async fn template_with_storage(&self) -> Template {
        self.launcher.create_template(&caller("admin"), &body_with_storage()).await.unwrap()
    }

    pub(crate) async fn run(&self, template: &Template, who: &str) -> Instance {
        let request = LaunchRequest::default();
        let launched = self.launcher.launch(&caller(who), template.template_id, &request).await.unwrap();
        let name = launched.listed.instance.k8s_name;
        self.workshop(&name).await;
        self.fleet.ready(&name);
        self.until(&name, InstanceState::Running).await
    }

    /// Copies a volume that no instance uses `count` times, each for another user.
    async fn copy_volume(&self, name: &str, count: u32) {
        let copy = format!(
            "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {count})
            INSERT INTO volumes (volume_id, name, owner_email, template_id, template_name, size, created_at,
                    last_used_at, kept_until)
                SELECT substr(volume_id, 1, 24) || (100000000000 + n),
                    substr(name, 1, 11) || replace(replace(1000 + n, '0', 'a'), '1', 'b'),
                    'copy' || n || '@example.org', template_id, template_name, size, created_at, last_used_at, kept_until
                FROM volumes, numbers WHERE name = '{name}' RETURNING name"
        );
        let mut connection = AnyConnection::connect(&database(&self.directory)).await.unwrap();
        for row in sqlx::query(AssertSqlSafe(copy)).fetch_all(&mut connection).await.unwrap() {
            self.fleet.add_volume(row.get(0));
        }
        connection.close().await.unwrap();
    }

    pub(crate) async fn end(&self, instance: &Instance) {
        self.launcher.terminate(&caller("admin"), &instance.k8s_name).await.unwrap();
        self.until(&instance.k8s_name, InstanceState::Terminated).await;
    }

    pub(crate) async fn volumes(&self, who: &str) -> Vec<ListedVolume> {
        self.launcher.volumes(&caller(who), None, &PAGE).await.unwrap()
    }
}

#[tokio::test]
async fn later_launch_of_the_same_user_gets_the_same_volume() {
    let world = World::new().await;
    let template = world.template_with_storage().await;
    let first = world.run(&template, "alice").await;
    let storage = world.fleet.workshop(&first.k8s_name).unwrap().spec.storage.unwrap();
    assert_eq!((Some(&storage.volume), &*storage.size, &*storage.path), (first.volume.as_ref(), "1Gi", "/work"));
    world.end(&first).await;
    assert_eq!(
        world.fleet.volumes(),
        std::slice::from_ref(&storage.volume),
        "the end of the workshop keeps the volume"
    );

    let again = world.run(&template, "alice").await;
    assert_eq!(again.volume, first.volume);
    let of_bob = world.run(&template, "bob").await;
    assert_ne!(of_bob.volume, first.volume);
}

#[tokio::test]
async fn files_that_only_outlive_a_crash_have_no_volume() {
    let world = World::new().await;
    let mut body = body_with_storage();
    body["storage"]["kind"] = json!("workshop");
    let template = world.launcher.create_template(&caller("admin"), &body).await.unwrap();
    let (first, second) = (world.run(&template, "alice").await, world.run(&template, "alice").await);
    for instance in [first, second] {
        let spec = world.fleet.workshop(&instance.k8s_name).unwrap().spec;
        assert_eq!((spec.crash_safe_directory.as_deref(), spec.storage, instance.volume), (Some("/work"), None, None));
    }
    assert!(world.volumes("alice").await.is_empty() && world.fleet.volumes().is_empty());
}

#[tokio::test]
async fn second_workshop_with_the_same_volume_is_refused_until_the_first_is_gone() {
    let world = World::new().await;
    let template = world.template_with_storage().await;
    let first = world.run(&template, "alice").await;
    let launch = async || {
        let outcome = world.launcher.launch(&caller("alice"), template.template_id, &LaunchRequest::default()).await;
        outcome.map(|launched| launched.listed.instance.volume)
    };
    let in_use =
        |error: &ServiceError| matches!(error, ServiceError::VolumeInUse(user) if user.k8s_name == first.k8s_name);
    assert!(launch().await.is_err_and(|error| in_use(&error)));

    world.fleet.hold_deletions();
    world.launcher.terminate(&caller("alice"), &first.k8s_name).await.unwrap();
    world.until(&first.k8s_name, InstanceState::Terminating).await;
    assert!(launch().await.is_err_and(|error| in_use(&error)), "a terminating workshop still writes its files");
    let refused = world.launcher.delete_volume(&caller("alice"), first.volume.as_ref().unwrap()).await;
    assert!(refused.is_err_and(|error| in_use(&error)));

    world.fleet.remove_workshop(&first.k8s_name);
    world.until(&first.k8s_name, InstanceState::Terminated).await;
    assert_eq!(launch().await.unwrap(), first.volume);
}

#[tokio::test]
async fn failed_and_expired_workshops_keep_their_volume() {
    let world = World::new().await;
    let template = world.template_with_storage().await;
    let mut volume = None;
    for fails in [true, false] {
        let instance = world.run(&template, "alice").await;
        if fails {
            world.fleet.fail(&instance.k8s_name, FailureCode::OutOfMemory, "");
            world.until(&instance.k8s_name, InstanceState::Failed).await;
        } else {
            world.fleet.expire(&instance.k8s_name);
            let ended = world.until(&instance.k8s_name, InstanceState::Terminated).await;
            assert_eq!(ended.end_reason, Some(EndReason::Expired));
        }
        assert_eq!(*volume.get_or_insert(instance.volume.clone()), instance.volume);
    }
    assert_eq!(world.run(&template, "alice").await.volume, volume.unwrap());
}

#[tokio::test]
async fn deleted_volume_is_removed_from_the_fleet_also_after_errors_and_a_kill() {
    let mut world = World::new().await;
    let template = world.template_with_storage().await;
    let instance = world.run(&template, "alice").await;
    let volume = instance.volume.clone().unwrap();
    world.end(&instance).await;
    let not_found = |outcome: Result<(), ServiceError>| matches!(outcome, Err(ServiceError::NotFound));
    assert!(not_found(world.launcher.delete_volume(&caller("bob"), &volume).await));
    assert!(not_found(world.launcher.delete_volume(&caller("alice"), "../fleet").await));

    let other = world.run(&template, "carol").await;
    world.end(&other).await;
    world.fleet.inject_faults([Fault::Unavailable]);
    world.launcher.delete_volume(&caller("alice"), &volume).await.unwrap();
    assert!(not_found(world.launcher.delete_volume(&caller("alice"), &volume).await));
    assert_eq!(world.volumes("alice").await, []);
    eventually(async || world.fleet.is_fault_free().then_some(())).await;
    world.launcher.delete_volume(&caller("carol"), &other.volume.unwrap()).await.unwrap();
    world.kill().await;
    world.start();
    eventually(async || world.fleet.volumes().is_empty().then_some(())).await;
    assert_ne!(world.run(&template, "alice").await.volume, Some(volume));
}

#[tokio::test]
async fn only_volumes_unused_for_the_retention_are_deleted() {
    let limits = Limits { volume_retention: Some(10 * DAY), ..Limits::default() };
    let mut world = World::with(limits).await;
    let template = world.template_with_storage().await;
    let in_use = world.run(&template, "bob").await;
    let unused = world.run(&template, "alice").await;
    world.end(&unused).await;
    world.clock.advance(5 * DAY);
    let recent = world.run(&template, "carol").await;
    world.end(&recent).await;
    let announced = world.volumes("alice").await[0].volume.deleted_after(10 * DAY).unwrap();

    world.kill().await;
    let left = announced.duration_since(world.clock.now()).unsigned_abs();
    world.clock.advance(left + Duration::from_secs(1));
    world.start();
    eventually(async || (world.fleet.volumes().len() == 2).then_some(())).await;
    // A graceful stop completes the round.
    world.stop().await;
    assert_eq!(world.volumes("alice").await, []);
    let kept: Vec<_> = world.volumes("admin").await.into_iter().map(|listed| Some(listed.volume.name)).collect();
    assert_eq!(kept, [recent.volume, in_use.volume]);
}

impl World {
    /// Starts the loops, and stops them after one round of upkeep. The launcher must be new: [`World::kill`].
    pub(crate) async fn upkeep_round(&mut self) {
        self.start();
        // A round begins with these counts, and a graceful stop completes it.
        let has_begun = async || measured(&self.launcher).contains("launcher_instances{").then_some(());
        eventually(has_begun).await;
        self.stop().await;
    }

    /// Runs one round of upkeep of a launcher with this retention, at this time.
    async fn upkeep_with(&mut self, volume_retention: Option<Duration>, at: Timestamp) {
        self.limits.volume_retention = volume_retention;
        self.kill().await;
        self.clock.advance(at.duration_since(self.clock.now()).unsigned_abs());
        self.upkeep_round().await;
    }

    async fn announced(&self, who: &str) -> Option<Timestamp> {
        let retention = self.launcher.volume_retention()?;
        self.volumes(who).await.first()?.volume.deleted_after(retention)
    }
}

#[tokio::test]
async fn shorter_retention_deletes_no_volume_before_the_announced_time() {
    let second = Duration::from_secs(1);
    let mut world = World::with(Limits { volume_retention: Some(10 * DAY), ..Limits::default() }).await;
    let kept = world.template_with_storage().await;
    let unused = world.run(&kept, "alice").await;
    world.end(&unused).await;
    let paused = world.run(&kept, "dora").await;
    world.launcher.suspend(&caller("admin"), &paused.k8s_name).await.unwrap();
    world.until(&paused.k8s_name, InstanceState::Suspended).await;
    let now = world.clock.now();
    world.upkeep_with(Some(10 * DAY), now).await;
    let of_alice = world.announced("alice").await.unwrap();
    let of_dora = world.announced("dora").await.unwrap();
    assert_eq!(of_alice, world.volumes("alice").await[0].volume.last_used_at + 10 * DAY);

    world.upkeep_with(Some(2 * DAY), of_alice - second).await;
    assert_eq!((world.announced("alice").await, world.announced("dora").await), (Some(of_alice), Some(of_dora)));
    assert_eq!(world.fleet.volumes().len(), 2);
    assert_eq!(world.until(&paused.k8s_name, InstanceState::Suspended).await.end_reason, None);

    world.upkeep_with(Some(2 * DAY), of_alice.max(of_dora) + second).await;
    world.until(&paused.k8s_name, InstanceState::Terminated).await;
    assert!(world.fleet.volumes().is_empty());
}

#[tokio::test]
async fn longer_retention_applies_and_one_after_unlimited_counts_from_announcement() {
    let second = Duration::from_secs(1);
    let mut world = World::with(Limits { volume_retention: Some(2 * DAY), ..Limits::default() }).await;
    let template = world.template_with_storage().await;
    let unused = world.run(&template, "alice").await;
    world.end(&unused).await;
    let used = world.clock.now();

    world.upkeep_with(Some(10 * DAY), used + DAY).await;
    world.upkeep_with(Some(2 * DAY), used + 9 * DAY).await;
    assert_eq!(world.fleet.volumes().len(), 1, "the longer time was announced");
    world.upkeep_with(None, used + 300 * DAY).await;
    assert_eq!((world.fleet.volumes().len(), world.announced("alice").await), (1, None));

    world.upkeep_with(Some(2 * DAY), used + 301 * DAY).await;
    let announced = world.announced("alice").await.unwrap();
    assert!(announced >= used + 303 * DAY, "{announced}");
    world.upkeep_with(Some(2 * DAY), announced - second).await;
    assert_eq!(world.fleet.volumes().len(), 1);
    world.upkeep_with(Some(2 * DAY), announced + second).await;
    assert_eq!(world.fleet.volumes().len(), 0);
}

#[tokio::test]
async fn more_due_volumes_than_one_round_deletes_are_all_deleted_and_nothing_else() {
    let mut world = World::with(Limits { volume_retention: Some(10 * DAY), ..Limits::default() }).await;
    let template = world.template_with_storage().await;
    let in_use = world.run(&template, "bob").await;
    let unused = world.run(&template, "alice").await;
    world.end(&unused).await;
    world.copy_volume(unused.volume.as_deref().unwrap(), 119).await;
    world.clock.advance(5 * DAY);
    let recent = world.run(&template, "carol").await;
    world.end(&recent).await;
    let kept: BTreeSet<_> = [&in_use, &recent].into_iter().filter_map(|row| row.volume.clone()).collect();
    assert_eq!(world.fleet.volumes().len(), 122);

    world.clock.advance(6 * DAY);
    for left in [22, 2] {
        world.kill().await;
        world.start();
        // A stop may interrupt a long round.
        eventually(async || (world.fleet.volumes().len() == left).then_some(())).await;
        world.stop().await;
        assert!(kept.iter().all(|volume| world.fleet.volumes().contains(volume)));
    }
    assert_eq!(world.fleet.volumes().into_iter().collect::<BTreeSet<_>>(), kept);
    let listed = world.volumes("admin").await;
    assert_eq!(listed.into_iter().map(|listed| listed.volume.name).collect::<BTreeSet<_>>(), kept);
}
