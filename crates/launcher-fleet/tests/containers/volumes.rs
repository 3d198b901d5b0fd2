//! Volumes with the files of owners: they outlive the workshop.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

use axum::http::Method;
use bollard::models::VolumeCreateRequest;
use bollard::query_parameters::{ListContainersOptions, ListVolumesOptions, RemoveVolumeOptions};
use launcher_fleet::engine::{EngineError, Part};
use launcher_fleet::{ContainerFleet, Fleet, FleetError};
use launcher_workshop::{Phase, Workshop};

use super::support::faulty_engine::{Fault, FaultyEngine};
use super::support::fleet::{
    LAST_LINE, VOLUME, clean_up, container, crash, data_dir_id, files, open, output, quick, script, settings, storage,
    until_empty, wait_for, with_options, without_internet,
};
use super::support::{IMAGE, TestFleet, docker, until};

/// A directory that the image does not have, and one that it has with a file. Both are root's.
const NEW: &str = "/work";
const IN_IMAGE: &str = "/www";

/// A Workshop that appends a line to a file of its volume, writes the number of lines to its log, and serves HTTP.
fn counts_starts(name: &str, path: &str) -> Workshop {
    let text = format!(
        "cd {path} && echo start >> starts && echo \"start $(/bin/busybox wc -l < starts)\"; /bin/busybox stat -c \
         'mode %a owner %u' .; echo {LAST_LINE}; exec /bin/busybox httpd -f -p 127.0.0.1:$PORT -h ."
    );
    let mut workshop = script(name, &text);
    workshop.spec.storage = Some(storage(path));
    workshop
}

/// Returns the name of the app's container.
async fn app(data_dir: &Path) -> String {
    container(data_dir, Part::App).await
}

/// Runs a Workshop until it is ready, and returns the last lines of its log.
async fn run(fleet: &ContainerFleet, data_dir: &Path, workshop: &Workshop) -> String {
    fleet.apply(workshop).await.unwrap();
    wait_for(fleet, workshop.metadata.name.as_deref().unwrap(), Phase::Running).await;
    output(&app(data_dir).await).await
}

/// Deletes a Workshop, and waits until its containers are gone.
async fn end(fleet: &ContainerFleet, name: &str) {
    fleet.delete(name, None).await.unwrap();
    until_empty(fleet).await;
}

/// Deletes Workshop and volume, and closes the fleet.
async fn clean_up_all(fleet: ContainerFleet, name: &str) {
    end(&fleet, name).await;
    fleet.delete_volume(VOLUME).await.unwrap();
    clean_up(fleet, []).await;
}

/// Returns the names of the engine's volumes that belong to the fleet.
async fn volumes(fleet: &ContainerFleet) -> Vec<String> {
    let label = format!("workshoplauncher.dev/fleet={}", fleet.identity().await.unwrap());
    let filters = Some(HashMap::from([("label".to_owned(), vec![label])]));
    let found = docker().list_volumes(Some(ListVolumesOptions { filters })).await.unwrap();
    found.volumes.unwrap_or_default().into_iter().map(|volume| volume.name).collect()
}

/// Returns the engine's name of the volume of the tests.
async fn engine_name(fleet: &ContainerFleet) -> String {
    let identity = fleet.identity().await.unwrap();
    format!("wl-{}-{VOLUME}", &identity[identity.len() - 8..])
}

#[tokio::test]
async fn restricted_app_writes_into_its_volume_and_the_next_workshop_has_the_files() {
    for path in [NEW, IN_IMAGE] {
        let home = tempfile::tempdir().unwrap();
        let fleet = open(without_internet(home.path())).await;

        let first = run(&fleet, home.path(), &counts_starts("lab-a", path)).await;
        end(&fleet, "lab-a").await;
        assert_eq!(volumes(&fleet).await, [engine_name(&fleet).await]);
        let second = run(&fleet, home.path(), &counts_starts("lab-b", path)).await;

        assert_eq!(first, "start 1\nmode 755 owner 1000", "{path}");
        assert_eq!(second, "start 2\nmode 755 owner 1000", "{path}");
        clean_up_all(fleet, "lab-b").await;
    }
}

#[tokio::test]
async fn volume_begins_with_the_files_of_the_image_and_keeps_the_mode_that_its_user_sets() {
    let home = tempfile::tempdir().unwrap();
    let fleet = open(without_internet(home.path())).await;
    let text = "cd /www && /bin/busybox cat index.html; /bin/busybox chmod 750 . && echo that is all && \
        exec /bin/busybox httpd -f -p 127.0.0.1:$PORT -h /www";
    let mut workshop = script("lab-a", text);
    workshop.spec.storage = Some(storage(IN_IMAGE));
    assert_eq!(run(&fleet, home.path(), &workshop).await, "quick");
    end(&fleet, "lab-a").await;

    let next = run(&fleet, home.path(), &counts_starts("lab-b", IN_IMAGE)).await;

    assert_eq!(next, "start 1\nmode 750 owner 1000");
    clean_up_all(fleet, "lab-b").await;
}

#[tokio::test]
async fn volume_of_a_baseline_app_belongs_to_the_user_of_its_image() {
    TestFleet::new().await;
    // The image `quick` has the user 65532; the other one has none, so its apps start as root.
    let images =
        [(quick("lab").spec.image, NEW, "65532"), (IMAGE.to_owned(), NEW, "0"), (IMAGE.to_owned(), "/volume", "0")];
    for (image, path, owner) in images {
        let home = tempfile::tempdir().unwrap();
        let fleet = open(without_internet(home.path())).await;
        let mut workshop = counts_starts("lab-a", path);
        workshop.spec.image = image;
        "baseline".clone_into(&mut workshop.spec.security_profile);

        let log = run(&fleet, home.path(), &workshop).await;

        assert_eq!(log, format!("start 1\nmode 755 owner {owner}"), "{path}");
        clean_up_all(fleet, "lab-a").await;
    }
}

#[tokio::test]
async fn volume_stays_mounted_after_a_crash_a_restart_of_both_containers_and_a_move_of_the_data_directory() {
    let home = tempfile::tempdir().unwrap();
    let engine = FaultyEngine::new(|_, _| None);
    let fleet = open(with_options(settings(home.path()), |options| options.engine_socket = engine.socket())).await;
    run(&fleet, home.path(), &counts_starts("lab-a", NEW)).await;
    let container = app(home.path()).await;
    let fleet_id = fleet.identity().await.unwrap();
    let other = TestFleet::new().await;

    crash(&fleet, "lab-a", &container).await;
    other.logged(&container, "start 2").await;
    engine.kill_all(home.path()).await;
    other.logged(&container, "start 3").await;
    wait_for(&fleet, "lab-a", Phase::Running).await;
    end(&fleet, "lab-a").await;
    fleet.close().await;
    drop(fleet);
    let copy = tempfile::tempdir().unwrap();
    let copied = Command::new("cp").arg("-a").arg(home.path().join("fleet")).arg(copy.path()).status().unwrap();
    assert!(copied.success());
    let fleet = open(without_internet(copy.path())).await;
    let last = run(&fleet, copy.path(), &counts_starts("lab-b", NEW)).await;

    assert!(last.starts_with("start 4"), "{last}");
    assert_ne!(data_dir_id(copy.path()), data_dir_id(home.path()), "the copy has containers of its own");
    assert_eq!(fleet.identity().await.unwrap(), fleet_id);
    clean_up_all(fleet, "lab-b").await;
}

#[tokio::test]
async fn volume_is_deleted_only_after_the_end_of_its_workshop() {
    let home = tempfile::tempdir().unwrap();
    let fleet = open(without_internet(home.path())).await;
    fleet.delete_volume(VOLUME).await.unwrap();
    run(&fleet, home.path(), &counts_starts("lab-a", NEW)).await;

    let in_use = fleet.delete_volume(VOLUME).await;
    assert!(matches!(in_use, Err(FleetError::Unavailable(_))), "{in_use:?}");
    end(&fleet, "lab-a").await;
    fleet.delete_volume(VOLUME).await.unwrap();
    fleet.delete_volume(VOLUME).await.unwrap();

    assert_eq!(volumes(&fleet).await, [""; 0]);
    let next = run(&fleet, home.path(), &counts_starts("lab-b", NEW)).await;
    assert!(next.starts_with("start 1"), "{next}");
    clean_up_all(fleet, "lab-b").await;
}

/// The name could belong to another program, or to another fleet.
#[tokio::test]
async fn foreign_volume_with_the_name_is_neither_mounted_nor_deleted() {
    let home = tempfile::tempdir().unwrap();
    let fleet = open(without_internet(home.path())).await;
    let name = engine_name(&fleet).await;
    let labels = HashMap::from([("workshoplauncher.dev/fleet".to_owned(), "of-another-fleet".to_owned())]);
    let foreign = VolumeCreateRequest { name: Some(name.clone()), labels: Some(labels), ..Default::default() };
    docker().create_volume(foreign).await.unwrap();

    fleet.apply(&counts_starts("lab-a", NEW)).await.unwrap();

    let failed = wait_for(&fleet, "lab-a", Phase::Failed).await;
    assert!(failed.message.as_ref().is_some_and(|message| message.contains(&name)), "{failed:?}");
    end(&fleet, "lab-a").await;
    let refused = fleet.delete_volume(VOLUME).await;
    assert!(matches!(refused, Err(FleetError::Unavailable(_))), "{refused:?}");
    docker().inspect_volume(&name).await.unwrap();
    docker().remove_volume(&name, None::<RemoveVolumeOptions>).await.unwrap();
    fleet.close().await;
}

#[tokio::test]
async fn workshop_without_storage_leaves_no_volume() {
    let home = tempfile::tempdir().unwrap();
    let fleet = open(without_internet(home.path())).await;
    fleet.apply(&quick("lab-a")).await.unwrap();
    wait_for(&fleet, "lab-a", Phase::Running).await;
    let mounts = docker().inspect_container(&app(home.path()).await, None).await.unwrap().mounts;
    assert_eq!(mounts.unwrap_or_default(), []);

    end(&fleet, "lab-a").await;

    assert_eq!(volumes(&fleet).await, [""; 0]);
    fleet.close().await;
}

/// A launcher that is killed at this moment leaves the same volume.
#[tokio::test]
async fn volume_that_its_user_did_not_get_is_writable_in_the_next_workshop() {
    let home = tempfile::tempdir().unwrap();
    let engine = FaultyEngine::new(|method, path| {
        (method == Method::PUT && path.ends_with("/archive")).then_some(Fault::InternalError)
    });
    let with_faults = with_options(without_internet(home.path()), |options| options.engine_socket = engine.socket());
    let fleet = open(with_faults).await;
    fleet.apply(&counts_starts("lab-a", IN_IMAGE)).await.unwrap();
    engine.until_failed().await;
    wait_for(&fleet, "lab-a", Phase::Failed).await;
    end(&fleet, "lab-a").await;
    fleet.close().await;
    drop(fleet);

    let fleet = open(without_internet(home.path())).await;

    let next = run(&fleet, home.path(), &counts_starts("lab-b", IN_IMAGE)).await;
    assert!(next.starts_with("start 1"), "{next}");
    clean_up_all(fleet, "lab-b").await;
}

#[tokio::test]
async fn removal_of_a_missing_volume_leaves_a_volume_with_a_longer_name() {
    let fleet = TestFleet::new().await;
    let (name, longer) = (fleet.name("work"), fleet.name("work-2"));
    fleet.engine.create_volume(&longer, &fleet.id, fleet.labels("lab", "none", Part::App)).await.unwrap();
    fleet.engine.create_volume(&longer, &fleet.id, fleet.labels("lab", "none", Part::App)).await.unwrap();

    fleet.engine.remove_volume(&name, &fleet.id).await.unwrap();

    docker().inspect_volume(&longer).await.unwrap();
    let of_another = fleet.engine.remove_volume(&longer, "of-another-fleet").await;
    assert!(matches!(of_another, Err(EngineError::Conflict(_))), "{of_another:?}");
    fleet.engine.remove_volume(&longer, &fleet.id).await.unwrap();
    assert!(docker().inspect_volume(&longer).await.is_err());
}

/// Returns the paths and contents of the files in a volume.
async fn read(fleet: &ContainerFleet) -> Vec<(String, String)> {
    files(fleet.archives().unwrap().read(VOLUME).await.unwrap()).await.into_iter().collect()
}

/// Returns the names of the containers that read volumes.
async fn readers() -> Vec<String> {
    let filters = Some(HashMap::from([("label".to_owned(), vec!["workshoplauncher.dev/reads-volume-of".to_owned()])]));
    let options = ListContainersOptions { all: true, filters, ..ListContainersOptions::default() };
    let found = docker().list_containers(Some(options)).await.unwrap();
    found.into_iter().filter_map(|container| container.id).collect()
}

#[tokio::test]
async fn files_are_read_while_the_workshop_runs_and_after_its_end() {
    let home = tempfile::tempdir().unwrap();
    let fleet = open(without_internet(home.path())).await;
    assert_eq!(read(&fleet).await, [], "a volume that no Workshop has used");
    run(&fleet, home.path(), &counts_starts("lab-a", NEW)).await;
    let files = [("starts".to_owned(), "start\n".to_owned())];
    assert_eq!(read(&fleet).await, files);
    end(&fleet, "lab-a").await;
    assert_eq!(read(&fleet).await, files);
    drop(fleet.archives().unwrap().read(VOLUME).await.unwrap());
    until(async || readers().await.is_empty()).await;
    fleet.delete_volume(VOLUME).await.unwrap();
    assert_eq!(read(&fleet).await, []);
    clean_up(fleet, []).await;
}
