//! Snapshots: the files of a workshop without a volume are saved before its planned end.

use std::io::{self, Read, Seek};
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use flate2::read::GzDecoder;
use futures_util::TryStreamExt;
use launcher_domain::lifetime::Bound;
use launcher_domain::{
    Clock, EndReason, FailureCode, FieldRule, Instance, InstanceState, Snapshot, SnapshotFailure, SnapshotState,
    StartStep,
};
use launcher_fleet::SavedFilesError;
use launcher_service::{ArchiveFormat, LaunchRequest, Page, ServiceError, Snapshots, TemplateUpdate};
use launcher_snapshots::{Location, SnapshotStore};
use launcher_testkit::eventually;
use sqlx::{AnyConnection, Connection};
use tracing::Dispatch;
use tracing::subscriber::set_default;
use tracing_subscriber::fmt;
use uuid::Uuid;

use crate::volumes::body_with_storage;
use crate::{World, body, caller, database};

const PAGE: Page = Page { limit: 100, after: None };
const DAY: Duration = Duration::from_secs(24 * 3600);

impl World {
    /// Returns a world whose launcher saves snapshots for two days.
    async fn saving() -> Self {
        let mut world = Self::new().await;
        let folder = Location::Folder(world.directory.path().join("snapshots"));
        let store = SnapshotStore::open(&folder).unwrap();
        world.snapshots = Some(Snapshots { store, retention: 2 * DAY });
        world.restart().await;
        world
    }

    /// Kills the launcher, and starts another one.
    async fn restart(&mut self) {
        self.kill().await;
        self.start();
    }

    async fn ended(&self, instance: &Instance) -> Instance {
        self.launcher.terminate(&caller("alice"), &instance.k8s_name).await.unwrap();
        self.until(&instance.k8s_name, InstanceState::Terminated).await
    }

    async fn snapshots(&self, who: &str) -> Vec<Snapshot> {
        self.launcher.snapshots(&caller(who), None, &PAGE).await.unwrap()
    }

    /// Returns the names of the objects in the store.
    fn objects(&self) -> Vec<String> {
        let folder = self.directory.path().join("snapshots");
        let mut names: Vec<_> =
            folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Reads the only file of a snapshot. Returns its name and its text.
    async fn saved_file(&self, snapshot_id: Uuid) -> (String, String) {
        let (_, stream) =
            self.launcher.download_snapshot(&caller("alice"), snapshot_id, ArchiveFormat::TarGz).await.unwrap();
        let archive: Vec<u8> = stream.try_collect::<Vec<_>>().await.unwrap().concat();
        let mut archive = tar::Archive::new(GzDecoder::new(&*archive));
        let mut entry = archive.entries().unwrap().next().unwrap().unwrap();
        let mut text = String::new();
        entry.read_to_string(&mut text).unwrap();
        (entry.path().unwrap().display().to_string(), text)
    }
}

/// Returns the row of a complete snapshot of this instance.
fn snapshot(snapshot_id: Uuid, instance: &Instance, world: &World) -> Snapshot {
    Snapshot {
        snapshot_id,
        owner_email: instance.owner_email.clone(),
        template_id: instance.template_id,
        template_name: "Jupyter".to_owned(),
        k8s_name: instance.k8s_name.clone(),
        bytes: 1,
        created_at: world.clock.now(),
        kept_until: world.clock.now(),
    }
}

fn outcome(instance: &Instance) -> Option<(SnapshotState, Option<SnapshotFailure>)> {
    instance.snapshot.as_ref().map(|snapshot| (snapshot.state, snapshot.failure))
}

const SAVED: Option<(SnapshotState, Option<SnapshotFailure>)> = Some((SnapshotState::Saved, None));

fn failed(failure: SnapshotFailure) -> Option<(SnapshotState, Option<SnapshotFailure>)> {
    Some((SnapshotState::Failed, Some(failure)))
}

#[tokio::test]
async fn end_by_the_owner_saves_the_files_first() {
    let world = World::saving().await;
    let instance = world.running(&caller("alice")).await;
    assert_eq!(outcome(&instance), Some((SnapshotState::Planned, None)));
    let spec = world.fleet.workshop(&instance.k8s_name).unwrap().spec.snapshot.unwrap();
    assert!(spec.grace_seconds >= 60 && spec.token_sha256.len() == 64);

    let ended = world.ended(&instance).await;
    assert_eq!((outcome(&ended), ended.end_reason), (SAVED, Some(EndReason::Owner)));
    let snapshots = world.snapshots("alice").await;
    assert_eq!(snapshots.len(), 1);
    let snapshot = &snapshots[0];
    assert_eq!((&*snapshot.k8s_name, snapshot.snapshot_id), (&*instance.k8s_name, instance.instance_id));
    assert_eq!(snapshot.template_name, instance.settings.name);
    let file = world.saved_file(snapshot.snapshot_id).await;
    assert_eq!(file, (format!("notes/{}.txt", instance.k8s_name), "saved".to_owned()));
    let size = world.directory.path().join(format!("snapshots/{}.tar.gz", instance.instance_id)).metadata().unwrap();
    assert_eq!(size.len(), snapshot.bytes);
    assert!(world.fleet.workshop(&instance.k8s_name).is_none());
}

#[tokio::test]
async fn expiry_saves_the_files_first() {
    let world = World::saving().await;
    let instance = world.running(&caller("alice")).await;
    world.clock.advance(Duration::from_secs(u64::from(instance.settings.lifetime_seconds)));
    let ended = world.until(&instance.k8s_name, InstanceState::Terminated).await;
    assert_eq!((outcome(&ended), ended.end_reason), (SAVED, Some(EndReason::Expired)));
    assert_eq!(world.snapshots("alice").await.len(), 1);
}

#[tokio::test]
async fn workshop_stays_until_its_files_are_saved_at_most_a_minute() {
    let world = World::saving().await;
    let instance = world.running(&caller("alice")).await;
    world.fleet.delay_archives(true);
    world.launcher.terminate(&caller("alice"), &instance.k8s_name).await.unwrap();
    let row = world.until(&instance.k8s_name, InstanceState::Terminating).await;
    assert_eq!(outcome(&row), Some((SnapshotState::Pending, None)));
    eventually(async || (world.fleet.app_reads() > 0).then_some(())).await;
    world.everything_told().await;
    assert!(world.fleet.workshop(&instance.k8s_name).is_some(), "the files are not saved yet");

    world.clock.advance(Duration::from_secs(61));
    let ended = world.until(&instance.k8s_name, InstanceState::Terminated).await;
    assert_eq!(outcome(&ended), failed(SnapshotFailure::TimeLimit));
    assert!(world.snapshots("alice").await.is_empty() && world.objects().is_empty());
}

#[tokio::test]
async fn slow_snapshot_is_not_begun_again_by_the_same_launcher() {
    let world = World::saving().await;
    let (slow, other) = (world.running(&caller("alice")).await, world.running(&caller("alice")).await);
    world.fleet.hang_app_reads(true);
    world.launcher.terminate(&caller("alice"), &slow.k8s_name).await.unwrap();
    eventually(async || (world.fleet.app_reads() == 1).then_some(())).await;
    // After 20 seconds, another replica would begin.
    world.clock.advance(Duration::from_secs(30));
    world.fleet.hang_app_reads(false);
    // The end of another workshop shows that the loop has looked at both.
    world.ended(&other).await;
    assert_eq!(world.fleet.app_reads(), 2);
}

#[tokio::test]
async fn person_with_many_ends_does_not_delay_the_first_one_of_others() {
    let mut world = World::saving().await;
    let mut instances = Vec::new();
    for who in ["alice", "alice", "alice", "carol", "carol", "bob"] {
        instances.push(world.running(&caller(who)).await);
    }
    world.stop().await;
    for instance in &instances {
        world.launcher.terminate(&caller("admin"), &instance.k8s_name).await.unwrap();
        world.clock.advance(Duration::from_secs(1));
    }
    world.fleet.hang_app_reads(true);
    world.start();
    eventually(async || (world.fleet.app_reads() == 4).then_some(())).await;
    let mut begun = Vec::new();
    for instance in &instances {
        let row = world.launcher.instance(&caller("admin"), &instance.k8s_name).await.unwrap().instance;
        begun.push(row.snapshot.unwrap().begun_at.is_some());
    }
    assert_eq!(begun, [true, true, false, true, false, true], "the first one of each, then the second one of Alice");
}

#[tokio::test]
async fn files_that_an_earlier_attempt_saved_are_not_read_again_and_not_reported_as_lost() {
    let world = World::saving().await;
    for is_too_late in [false, true] {
        let instance = world.running(&caller("alice")).await;
        world.fleet.hang_app_reads(is_too_late);
        let row = snapshot(instance.instance_id, &instance, &world);
        if !is_too_late {
            world.store.save_snapshot(&row).await.unwrap();
        }
        world.launcher.terminate(&caller("alice"), &instance.k8s_name).await.unwrap();
        if is_too_late {
            // This attempt has found no saved files, and never ends.
            eventually(async || (world.fleet.app_reads() == 1).then_some(())).await;
            world.store.save_snapshot(&row).await.unwrap();
            world.clock.advance(Duration::from_secs(61));
        }
        let ended = world.until(&instance.k8s_name, InstanceState::Terminated).await;
        assert_eq!(outcome(&ended), SAVED);
        assert_eq!(world.fleet.app_reads(), usize::from(is_too_late));
    }
}

#[tokio::test]
async fn archive_without_a_row_in_the_database_is_deleted() {
    let world = World::saving().await;
    let instance = world.running(&caller("alice")).await;
    let mut connection = AnyConnection::connect(&database(&world.directory)).await.unwrap();
    let refuse = "CREATE TRIGGER refuse BEFORE INSERT ON snapshots BEGIN SELECT RAISE(ABORT, 'refused'); END";
    sqlx::query(refuse).execute(&mut connection).await.unwrap();
    world.launcher.terminate(&caller("alice"), &instance.k8s_name).await.unwrap();
    eventually(async || (world.fleet.app_reads() == 1).then_some(())).await;
    // The second attempt begins after the first one has failed.
    world.fleet.hang_app_reads(true);
    eventually(async || (world.fleet.app_reads() == 2).then_some(())).await;
    assert_eq!(world.objects(), [""; 0]);
}

#[tokio::test]
async fn person_downloads_one_snapshot_at_a_time() {
    let world = World::saving().await;
    let instance = world.running(&caller("alice")).await;
    world.ended(&instance).await;
    let (alice, id) = (caller("alice"), instance.instance_id);
    let first = world.launcher.download_snapshot(&alice, id, ArchiveFormat::TarGz).await.unwrap();
    assert!(matches!(
        world.launcher.download_snapshot(&alice, id, ArchiveFormat::TarGz).await,
        Err(ServiceError::TooManyDownloads)
    ));
    assert!(world.launcher.download_snapshot(&caller("admin"), id, ArchiveFormat::TarGz).await.is_ok());
    drop(first);
    assert!(world.launcher.download_snapshot(&alice, id, ArchiveFormat::TarGz).await.is_ok());
    let logged = world.launcher.downloads_by_others(&alice).await.unwrap();
    let logged: Vec<_> =
        logged.into_iter().map(|entry| (entry.activity.act.actor_email, entry.activity.subject)).collect();
    assert_eq!(logged, [(Some(caller("admin").email().clone()), instance.k8s_name)], "only downloads by others");
}

#[tokio::test]
async fn killed_launcher_saves_the_files_after_its_start() {
    let mut world = World::saving().await;
    let instance = world.running(&caller("alice")).await;
    world.fleet.delay_archives(true);
    world.launcher.terminate(&caller("alice"), &instance.k8s_name).await.unwrap();
    let begun = async || {
        let row = world.launcher.instance(&caller("alice"), &instance.k8s_name).await.unwrap().instance;
        row.snapshot.unwrap().begun_at
    };
    eventually(begun).await;
    world.kill().await;
    // The launcher was not running for a day: this time does not count.
    world.clock.advance(DAY);
    world.fleet.delay_archives(false);
    world.restart().await;
    let ended = world.until(&instance.k8s_name, InstanceState::Terminated).await;
    assert_eq!(outcome(&ended), SAVED);
    assert_eq!(world.saved_file(instance.instance_id).await.1, "saved");
}

#[tokio::test]
async fn change_that_was_not_applied_before_the_end_does_not_remove_the_workshop() {
    let mut world = World::saving().await;
    let instance = world.running(&caller("alice")).await;
    world.stop().await;
    let expiry = instance.expires_at.unwrap();
    world.clock.advance(Duration::from_secs(60));
    world.launcher.extend(&caller("alice"), &instance.k8s_name, None, Bound::Maximum).await.unwrap();
    world.launcher.terminate(&caller("alice"), &instance.k8s_name).await.unwrap();
    world.start();
    let ended = world.until(&instance.k8s_name, InstanceState::Terminated).await;
    assert_eq!(outcome(&ended), SAVED);
    assert!(ended.expires_at.unwrap() >= expiry);
}

#[tokio::test]
async fn files_are_not_saved_with_a_volume_or_if_the_fleet_cannot_read_them() {
    let world = World::saving().await;
    let template = world.launcher.create_template(&caller("admin"), &body_with_storage()).await.unwrap();
    let kept = world.run(&template, "alice").await;
    assert_eq!(kept.snapshot, None);
    world.fleet.remove_archives();
    let instance = world.running(&caller("bob")).await;
    assert_eq!(instance.snapshot, None);
    assert_eq!(world.fleet.workshop(&instance.k8s_name).unwrap().spec.snapshot, None);
}

#[tokio::test]
async fn failure_and_loss_of_a_workshop_save_nothing() {
    let world = World::saving().await;
    let crashed = world.running(&caller("alice")).await;
    world.fleet.fail(&crashed.k8s_name, FailureCode::Crashed, "");
    let crashed = world.until(&crashed.k8s_name, InstanceState::Failed).await;
    assert_eq!(crashed.snapshot, None);
    let lost = world.running(&caller("alice")).await;
    world.fleet.remove_workshop(&lost.k8s_name);
    let lost = world.until(&lost.k8s_name, InstanceState::Terminated).await;
    assert_eq!((outcome(&lost), lost.end_reason), (failed(SnapshotFailure::WorkshopGone), Some(EndReason::Lost)));
    let never_ready = world.launch(&caller("alice")).await;
    let never_ready = world.ended(&never_ready).await;
    assert_eq!(never_ready.snapshot, None);
    assert!(world.snapshots("alice").await.is_empty());
}

#[tokio::test]
async fn only_the_owner_and_admins_see_and_delete_a_snapshot() {
    let world = World::saving().await;
    let instance = world.running(&caller("alice")).await;
    world.ended(&instance).await;
    let id = instance.instance_id;
    assert!(world.snapshots("bob").await.is_empty());
    assert_eq!(world.snapshots("admin").await.len(), 1);
    let bob = caller("bob");
    assert!(matches!(
        world.launcher.download_snapshot(&bob, id, ArchiveFormat::TarGz).await,
        Err(ServiceError::NotFound)
    ));
    assert!(matches!(world.launcher.delete_snapshot(&bob, id).await, Err(ServiceError::NotFound)));
    assert_eq!(world.objects().len(), 1);

    world.launcher.delete_snapshot(&caller("alice"), id).await.unwrap();
    assert!(world.snapshots("alice").await.is_empty());
    eventually(async || world.objects().is_empty().then_some(())).await;
    assert!(matches!(world.launcher.delete_snapshot(&caller("alice"), id).await, Err(ServiceError::NotFound)));
}

#[tokio::test]
async fn retention_deletes_old_snapshots_and_nothing_else() {
    let mut world = World::saving().await;
    let old = world.running(&caller("alice")).await;
    world.ended(&old).await;
    world.clock.advance(DAY + Duration::from_secs(1));
    let new = world.running(&caller("alice")).await;
    world.ended(&new).await;
    let snapshots = world.snapshots("alice").await;
    let deleted_after = snapshots[1].deleted_after(world.launcher.snapshot_retention().unwrap());
    assert!(deleted_after > world.clock.now());

    world.clock.advance(DAY);
    world.restart().await;
    eventually(async || (world.objects() == [format!("{}.tar.gz", new.instance_id)]).then_some(())).await;
    let left = world.snapshots("alice").await;
    assert_eq!(left.iter().map(|snapshot| snapshot.snapshot_id).collect::<Vec<_>>(), [new.instance_id]);
    assert!(deleted_after <= world.clock.now());
}

#[tokio::test]
async fn shorter_retention_deletes_no_snapshot_before_the_announced_time() {
    let mut world = World::saving().await;
    let instance = world.running(&caller("alice")).await;
    world.ended(&instance).await;
    let announced = async |world: &World| {
        let retention = world.launcher.snapshot_retention().unwrap();
        world.snapshots("alice").await.first().map(|snapshot| snapshot.deleted_after(retention))
    };
    let saved_at = world.snapshots("alice").await[0].created_at;
    for (days, until) in [(2, 2), (5, 5), (1, 5)] {
        world.snapshots.as_mut().unwrap().retention = days * DAY;
        world.kill().await;
        world.upkeep_round().await;
        assert_eq!(announced(&world).await, Some(saved_at + until * DAY), "{days} days");
    }
    let second = Duration::from_secs(1);
    world.clock.advance((saved_at + 5 * DAY - second).duration_since(world.clock.now()).unsigned_abs());
    world.kill().await;
    world.upkeep_round().await;
    assert_eq!(world.objects().len(), 1);

    world.clock.advance(2 * second);
    world.kill().await;
    world.upkeep_round().await;
    assert_eq!((world.objects().len(), announced(&world).await), (0, None));
}

#[tokio::test]
async fn launcher_without_an_object_store_ends_workshops_and_deletes_no_snapshots() {
    let mut world = World::saving().await;
    let saved = world.running(&caller("alice")).await;
    world.ended(&saved).await;
    let instance = world.running(&caller("alice")).await;
    world.snapshots = None;
    world.clock.advance(10 * DAY);
    world.restart().await;
    let ended = world.until(&instance.k8s_name, InstanceState::Terminated).await;
    assert_eq!(outcome(&ended), failed(SnapshotFailure::StoreUnavailable));
    assert_eq!(world.objects().len(), 1);
    let read = world.launcher.download_snapshot(&caller("alice"), saved.instance_id, ArchiveFormat::TarGz).await;
    assert!(matches!(read, Err(ServiceError::SnapshotsUnavailable(None))));
}

#[tokio::test]
async fn person_with_too_many_snapshots_is_told_and_loses_none() {
    let world = World::saving().await;
    let instance = world.running(&caller("alice")).await;
    for number in 0..20 {
        world.store.save_snapshot(&snapshot(Uuid::from_u128(number), &instance, &world)).await.unwrap();
    }
    let ended = world.ended(&instance).await;
    assert_eq!(outcome(&ended), failed(SnapshotFailure::LimitReached));
    assert_eq!(world.snapshots("alice").await.len(), 20);
}

/// Counts the lines with this text in the log of this thread while the future runs.
async fn logged(text: &str, run: impl Future<Output = ()>) -> usize {
    // With only one dispatcher, a thread without a subscriber disables a log statement for all threads.
    static OTHER: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(fmt().with_writer(io::sink).finish()));
    LazyLock::force(&OTHER);
    let mut log = tempfile::tempfile().unwrap();
    let guard = set_default(fmt().with_writer(Mutex::new(log.try_clone().unwrap())).finish());
    run.await;
    drop(guard);
    let mut written = String::new();
    log.rewind().unwrap();
    log.read_to_string(&mut written).unwrap();
    written.lines().filter(|line| line.contains(text)).count()
}

#[tokio::test]
async fn person_with_too_many_snapshots_is_logged_once_an_hour() {
    let world = World::saving().await;
    for (who, first) in [("alice", 0), ("bob", 20)] {
        let instance = world.running(&caller(who)).await;
        for number in first..first + 20 {
            world.store.save_snapshot(&snapshot(Uuid::from_u128(number), &instance, &world)).await.unwrap();
        }
    }
    let ends = async |who: &str| {
        for _ in 0..3 {
            let instance = world.running(&caller(who)).await;
            world.launcher.terminate(&caller(who), &instance.k8s_name).await.unwrap();
            let ended = world.until(&instance.k8s_name, InstanceState::Terminated).await;
            assert_eq!(outcome(&ended), failed(SnapshotFailure::LimitReached));
        }
    };
    let failure = SnapshotFailure::LimitReached.as_str();
    assert_eq!(logged(failure, ends("alice")).await, 1);
    assert_eq!(logged(failure, ends("alice")).await, 0);
    assert_eq!(logged(failure, ends("bob")).await, 1);
    world.clock.advance(Duration::from_secs(3600));
    assert_eq!(logged(failure, ends("alice")).await, 1);
}

fn with_files_of(instance: &Instance) -> LaunchRequest {
    LaunchRequest { snapshot: Some(instance.instance_id), ..LaunchRequest::default() }
}

#[tokio::test]
async fn owner_launches_with_saved_files() {
    let world = World::saving().await;
    let alice = caller("alice");
    let earlier = world.running(&alice).await;
    world.ended(&earlier).await;
    let launched = world.launcher.launch(&alice, earlier.template_id, &with_files_of(&earlier)).await.unwrap();
    let instance = launched.listed.instance;
    assert_eq!(instance.restores, Some(earlier.instance_id));
    let restore = world.workshop(&instance.k8s_name).await.spec.restore.unwrap();
    assert_eq!(restore.snapshot, earlier.instance_id.to_string());
    assert_eq!(restore.directory, None, "the working directory, where the earlier workshop had them");
    assert_eq!(world.snapshots("alice").await.len(), 1, "the snapshot stays");

    let snapshots = world.snapshots.as_ref().unwrap();
    let files = snapshots.saved_files().open(&restore.snapshot).await.unwrap();
    let tar: Vec<u8> = files.try_collect::<Vec<_>>().await.unwrap().concat();
    let mut archive = tar::Archive::new(&*tar);
    let entry = archive.entries().unwrap().next().unwrap().unwrap();
    assert_eq!(entry.path().unwrap().display().to_string(), format!("notes/{}.txt", earlier.k8s_name));
    let missing = snapshots.saved_files().open(&Uuid::from_u128(404).to_string()).await.err().unwrap();
    assert!(matches!(missing, SavedFilesError::Missing), "{missing}");
}

#[tokio::test]
async fn damaged_archive_is_no_complete_one() {
    let world = World::saving().await;
    let earlier = world.running(&caller("alice")).await;
    world.ended(&earlier).await;
    let path = world.directory.path().join(format!("snapshots/{}.tar.gz", earlier.instance_id));
    let whole = std::fs::read(&path).unwrap();
    let mut wrong = whole.clone();
    let checksum = wrong.len() - 8;
    wrong[checksum] ^= 1;
    for damaged in [whole[..whole.len() - 9].to_vec(), wrong] {
        std::fs::write(&path, damaged).unwrap();
        let saved = world.snapshots.as_ref().unwrap().saved_files();
        let files = saved.open(&earlier.instance_id.to_string()).await.unwrap();
        assert!(files.try_collect::<Vec<_>>().await.is_err());
        let (alice, zip) = (caller("alice"), ArchiveFormat::Zip);
        let (_, zip) = world.launcher.download_snapshot(&alice, earlier.instance_id, zip).await.unwrap();
        assert!(zip.try_collect::<Vec<_>>().await.is_err());
    }
}

#[tokio::test]
async fn only_the_owner_launches_with_saved_files_and_only_their_template() {
    let world = World::saving().await;
    let earlier = world.running(&caller("alice")).await;
    world.ended(&earlier).await;
    let launch = async |who: &str, template, snapshot| {
        let request = LaunchRequest { snapshot: Some(snapshot), ..LaunchRequest::default() };
        world.launcher.launch(&caller(who), template, &request).await.unwrap_err()
    };
    for (who, snapshot) in
        [("bob", earlier.instance_id), ("admin", earlier.instance_id), ("alice", Uuid::from_u128(404))]
    {
        let refused = launch(who, earlier.template_id, snapshot).await;
        assert!(matches!(refused, ServiceError::NotFound), "{who}: {refused}");
    }
    let invalid = |error: ServiceError| match error {
        ServiceError::Invalid(errors) => (errors[0].pointer.clone(), errors[0].rule.clone()),
        other => panic!("{other}"),
    };
    let other = world.template().await.template_id;
    let of_other = ("/snapshot".to_owned(), FieldRule::SnapshotOfOtherTemplate);
    assert_eq!(invalid(launch("alice", other, earlier.instance_id).await), of_other);
    let update = async |body| {
        let update = TemplateUpdate { body, expected_version: None };
        world.launcher.update_template(&caller("admin"), earlier.template_id, update).await.unwrap();
    };
    update(body_with_storage()).await;
    let with_volume = ("/snapshot".to_owned(), FieldRule::SnapshotWithVolume);
    assert_eq!(invalid(launch("alice", earlier.template_id, earlier.instance_id).await), with_volume);
    update(body("Jupyter")).await;
    world.fleet.remove_restore();
    let without_directory = ("/snapshot".to_owned(), FieldRule::SnapshotWithoutDirectory);
    assert_eq!(invalid(launch("alice", earlier.template_id, earlier.instance_id).await), without_directory);
}

#[tokio::test]
async fn saved_files_are_sent_by_one_call_at_a_time_while_the_workshop_waits() {
    let mut world = World::saving().await;
    let alice = caller("alice");
    let earlier = world.running(&alice).await;
    world.ended(&earlier).await;
    let launched = world.launcher.launch(&alice, earlier.template_id, &with_files_of(&earlier)).await.unwrap();
    let instance = launched.listed.instance;
    let name = instance.k8s_name.as_str();
    world.workshop(name).await;
    let calls = |world: &World| world.fleet.saved_files();
    let until = async |world: &World, number: usize| {
        eventually(async || (calls(world).len() == number).then_some(())).await;
    };

    world.fleet.starting(name, StartStep::PullingImage);
    world.fleet.wait_for_saved_files(name, 8082);
    until(&world, 1).await;
    assert_eq!(calls(&world), [(name.to_owned(), instance.snapshot.unwrap().token)]);
    // Another pod waits meanwhile. Its call follows the first one.
    world.fleet.wait_for_saved_files(name, 8083);
    let another = world.launch(&caller("bob")).await;
    world.workshop(&another.k8s_name).await;
    world.fleet.ready(&another.k8s_name);
    world.until(&another.k8s_name, InstanceState::Running).await;
    assert_eq!(calls(&world).len(), 1, "the launcher knows the second pod by now");
    world.fleet.place_saved_files();
    until(&world, 2).await;

    // The launcher is killed. The next one sends the files again.
    world.restart().await;
    until(&world, 3).await;
    world.fleet.place_saved_files();
    world.fleet.ready(name);
    world.until(name, InstanceState::Running).await;
    assert_eq!(calls(&world).len(), 3);
}
