//! Test support: container fleets, and Workshops of the test server's images.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bollard::query_parameters::KillContainerOptions;
use futures_util::{StreamExt, TryStreamExt};
use launcher_domain::Clock;
use launcher_domain::clock::SystemClock;
use launcher_fleet::engine::{FoundContainer, Part};
use launcher_fleet::{
    ByteStream, ContainerFleet, ContainerOptions, ContainerSettings, Fleet, FleetEvent, MachineSettings,
};
use launcher_process::settings::from_arguments;
use launcher_process::stop::Stop;
use launcher_testkit::fleet_contract::contract_workshop;
use launcher_testkit::machine_settings;
use launcher_workshop::{Phase, Workshop, WorkshopStatus, WorkshopStorage};
use serde_json::Value;

use super::{docker, engine, poll, socket, until};

/// Images of the test server: the sidecar, and an app that serves HTTP.
const SIDECAR_IMAGE: &str = "localhost/workshop-launcher/sidecar:test";
pub(crate) const APP_IMAGE: &str = "localhost/workshop-launcher/quick:test";
/// Name of the volume of the tests.
pub(crate) const VOLUME: &str = "work-abcdefghij";

pub(crate) fn settings(data_dir: &Path) -> ContainerSettings {
    ContainerSettings {
        machine: MachineSettings { stop_grace: Duration::ZERO, ..machine_settings(data_dir) },
        options: ContainerOptions {
            engine_socket: socket(),
            sidecar_image: SIDECAR_IMAGE.to_owned(),
            ..from_arguments(&[]).unwrap()
        },
    }
}

pub(crate) fn without_internet(data_dir: &Path) -> ContainerSettings {
    with_options(settings(data_dir), |options| options.container_internet = false)
}

pub(crate) fn with_options(
    mut settings: ContainerSettings,
    change: impl FnOnce(&mut ContainerOptions),
) -> ContainerSettings {
    change(&mut settings.options);
    settings
}

pub(crate) async fn open(settings: ContainerSettings) -> ContainerFleet {
    open_at(settings, Arc::new(SystemClock)).await
}

pub(crate) async fn open_at(settings: ContainerSettings, clock: Arc<dyn Clock>) -> ContainerFleet {
    ContainerFleet::open(settings, clock, Stop::new()).await.unwrap()
}

/// A Workshop whose app serves HTTP.
pub(crate) fn quick(name: &str) -> Workshop {
    let mut workshop = contract_workshop(name);
    APP_IMAGE.clone_into(&mut workshop.spec.image);
    workshop
}

/// A Workshop whose app is a shell script.
pub(crate) fn script(name: &str, text: &str) -> Workshop {
    let mut workshop = quick(name);
    workshop.spec.command = ["/bin/busybox", "sh", "-c", text].map(str::to_owned).into();
    workshop
}

/// Last line that a script writes before its app serves HTTP.
pub(crate) const LAST_LINE: &str = "that is all";

/// Waits until the log of a container ends with [`LAST_LINE`], and returns the lines before it. The phase may be `Running`
/// before the engine has stored the whole output. The script must write errors to its output, too: the engine does not keep
/// the order of two outputs.
pub(crate) async fn output(container: &str) -> String {
    let engine = engine();
    poll(async || {
        let log = engine.log_tail(container).await.unwrap().unwrap_or_default();
        log.strip_suffix(LAST_LINE).map(|lines| lines.trim_end().to_owned())
    })
    .await
}

/// Waits until the Workshop is in this phase, and returns its status.
pub(crate) async fn wait_for(fleet: &ContainerFleet, name: &str, phase: Phase) -> WorkshopStatus {
    poll(async || {
        let status = fleet.get(name).await.unwrap().unwrap().status.unwrap_or_default();
        let is_reached = status.phase == phase;
        assert!(is_reached || !status.phase.is_final(), "{name} has ended: {status:?}");
        is_reached.then_some(status)
    })
    .await
}

/// Kills the app of a running Workshop, and waits until the fleet reports the crash and the app runs again.
pub(crate) async fn crash(fleet: &ContainerFleet, name: &str, app: &str) -> WorkshopStatus {
    let before = wait_for(fleet, name, Phase::Running).await.report.last_crash;
    docker().kill_container(app, None::<KillContainerOptions>).await.unwrap();
    poll(async || {
        let status = wait_for(fleet, name, Phase::Running).await;
        (status.report.last_crash != before).then_some(status)
    })
    .await
}

/// Deletes the Workshops, waits until they and their containers are gone, and closes the fleet.
pub(crate) async fn clean_up<const COUNT: usize>(fleet: ContainerFleet, names: [&str; COUNT]) {
    for name in names {
        fleet.delete(name, None).await.unwrap();
    }
    until_empty(&fleet).await;
    fleet.close().await;
}

/// Waits until the fleet has no Workshop.
pub(crate) async fn until_empty(fleet: &ContainerFleet) {
    let is_empty = |event| matches!(event, Some(FleetEvent::Relisted(workshops)) if workshops.is_empty());
    until(async || is_empty(fleet.watch().next().await)).await;
}

/// [`VOLUME`], mounted at this path.
pub(crate) fn storage(path: &str) -> WorkshopStorage {
    WorkshopStorage { volume: VOLUME.to_owned(), size: "1Gi".to_owned(), path: path.to_owned() }
}

/// Returns the containers of the fleet with this data directory.
pub(crate) async fn containers(data_dir: &Path) -> Vec<FoundContainer> {
    engine().list(&data_dir_id(data_dir)).await.unwrap()
}

/// Returns the name of the only container of this part.
pub(crate) async fn container(data_dir: &Path, part: Part) -> String {
    containers(data_dir).await.into_iter().find(|container| container.part == part).unwrap().name
}

/// Returns the paths and contents of the files in an archive.
pub(crate) async fn files(stream: ByteStream) -> BTreeMap<String, String> {
    let tar = stream.try_collect::<Vec<_>>().await.unwrap().concat();
    let mut files = BTreeMap::new();
    for entry in tar::Archive::new(&*tar).entries().unwrap() {
        let mut entry = entry.unwrap();
        if entry.header().entry_type().is_file() {
            let path = entry.path().unwrap().to_str().unwrap().trim_start_matches("./").to_owned();
            let mut text = String::new();
            entry.read_to_string(&mut text).unwrap();
            files.insert(path, text);
        }
    }
    files
}

/// Returns the value of the label that the fleet's containers have.
pub(crate) fn data_dir_id(data_dir: &Path) -> String {
    let identity: Value = serde_json::from_slice(&fs::read(data_dir.join("fleet/place.json")).unwrap()).unwrap();
    identity["id"].as_str().unwrap().to_owned()
}
