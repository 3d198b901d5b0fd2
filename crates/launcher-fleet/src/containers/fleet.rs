//! The adapter of [`Fleet`](crate::Fleet) for a container engine, with the archives of files and the images. Its opening
//! adopts the Workshops of an earlier launcher.

use std::collections::HashSet;
use std::sync::Arc;

use async_trait::async_trait;
use launcher_domain::{ArchiveToken, Clock};
use launcher_process::stop::Stop;
use launcher_workshop::WorkshopSpec;
use launcher_workshop::app::SIDECAR_USER;
use tokio::sync::OnceCell;
use tokio::time::timeout;

use super::build::seccomp_profile;
use super::capacity::Capacity;
use super::diagnose;
use super::engine::{Engine, EngineError, EngineKind};
use super::names::{self, Part};
use super::pulls::Pulls;
use super::settings::{ContainerOptions, ContainerSettings};
use super::supervisor::adopt_reservations;
use super::tasks::{Found, follow_events, remove_orphans};
use super::workload::{ContainerBackend, Containers, Record};
use crate::byte_stream::ByteStream;
use crate::machine::{
    DataDir, DataDirError, Gateway, Layout, MachineFleet, MachineFleetError, MachineSettings, Registry, Shared,
    replace_file,
};
use crate::port::{Archives, FleetError, ImageState, Images, MAX_READ_WAIT, ReadError, validate_volume};
use crate::source_check::SourceChecker;

/// Runs Workshops as containers of one engine. Cheap to clone. A data directory has at most one open fleet. The containers
/// keep running while no launcher runs.
#[derive(Debug, Clone)]
pub struct ContainerFleet(Arc<Registry<ContainerBackend>>);

impl ContainerFleet {
    /// Opens the fleet of a data directory and takes over its Workshops: see "Crash recovery" in ARCHITECTURE.md. The fleet
    /// does not touch the containers of another copy of the data directory.
    ///
    /// `stop` closes the connections of [`ContainerFleet::gateway`]. Call this function within a tokio runtime.
    ///
    /// # Errors
    /// [`MachineFleetError`] if another launcher uses the directory, the directory is unusable, or the engine does
    /// not answer.
    pub async fn open(
        settings: ContainerSettings,
        clock: Arc<dyn Clock>,
        stop: Stop,
    ) -> Result<Self, MachineFleetError> {
        let ContainerSettings { machine, options } = settings;
        let settings = machine.checked()?;
        let engine = Engine::connect(&options.engine_socket)?;
        let engine_info = engine.info().await?;
        let (data_dir, records) = DataDir::open(&settings.data_dir, clock, Record::forget_containers)?;
        // List the containers before this launcher creates one: the list has only containers of earlier launchers.
        let mut orphans = Found::list(&engine, &data_dir.id).await?;
        let uids: HashSet<_> = records.iter().filter_map(|(_, record)| record.workshop.metadata.uid.clone()).collect();
        engine.remove_readers(&data_dir.fleet_id).await?;
        orphans.retain_orphans(&uids);
        tracing::info!(
            engine = ?engine_info.kind,
            version = engine_info.version,
            storage_driver = engine_info.storage_driver,
            "connected to container engine"
        );
        let launcher_user = rustix::process::geteuid();
        let seccomp = seccomp_option(engine_info.kind, &data_dir.layout)?;
        let registry = Registry::new(Shared {
            source_checks: source_checks(&settings, &options),
            settings,
            data_dir,
            stop,
            fleet: Containers {
                capacity: Capacity::new(engine_info.memory_bytes, engine_info.cpus),
                sidecar_user: if launcher_user.is_root() { SIDECAR_USER } else { launcher_user.as_raw() },
                options,
                engine,
                engine_info,
                limits_disk: OnceCell::new(),
                seccomp,
                pulls: Pulls::default(),
            },
        });
        let workloads: Vec<_> =
            records.into_iter().map(|(name, record)| registry.create_workload(name, record)).collect();
        adopt_reservations(workloads.iter().map(|workload| &**workload));
        for workload in &workloads {
            tracing::info!(workshop = workload.name(), phase = ?workload.record.phase(), "restoring Workshop");
            registry.supervise(workload);
        }
        let closing = &registry.shared.data_dir.closing;
        let events = follow_events(Arc::downgrade(&registry));
        registry.tasks.spawn(closing.clone().run_until_cancelled_owned(events));
        let removal = remove_orphans(Arc::downgrade(&registry), orphans);
        registry.tasks.spawn(closing.clone().run_until_cancelled_owned(removal));
        Ok(Self(registry))
    }

    /// Returns the gateway, which serves the workshops' origins.
    #[must_use]
    pub fn gateway(&self) -> Gateway {
        Gateway::new(self.0.clone())
    }

    /// Closes the fleet: stops the supervisors, and refuses further changes. The containers keep running. Streams of
    /// [`Fleet::watch`](crate::Fleet::watch) end.
    pub async fn close(&self) {
        self.0.stop().await;
    }
}

/// Returns the checker of course material. Without the internet, workshops reach no server, so there is nothing to check.
fn source_checks(settings: &MachineSettings, options: &ContainerOptions) -> Option<SourceChecker> {
    let checker = || SourceChecker::of_public_servers(settings.material.clone(), settings.data_dir.clone(), &[]);
    options.container_internet.then(checker).flatten()
}

impl MachineFleet for ContainerFleet {
    type Backend = ContainerBackend;

    fn registry(&self) -> &Arc<Registry<ContainerBackend>> {
        &self.0
    }

    async fn remove_volume(&self, name: &str) -> Result<(), FleetError> {
        let Shared { data_dir, fleet: Containers { engine, .. }, .. } = &*self.0.shared;
        let removed = engine.remove_volume(&names::volume(&data_dir.fleet_id, name), &data_dir.fleet_id).await;
        removed.map_err(|error| FleetError::Unavailable(error.to_string()))
    }

    fn images(&self) -> Option<&dyn Images> {
        Some(self)
    }
}

#[async_trait]
impl Archives for ContainerFleet {
    async fn read(&self, volume: &str) -> Result<ByteStream, ReadError> {
        validate_volume(volume)?;
        let Shared { data_dir, fleet: Containers { engine, options, .. }, .. } = &*self.0.shared;
        let name = names::volume(&data_dir.fleet_id, volume);
        let read = engine.read_volume(&name, &data_dir.fleet_id, &options.sidecar_image).await;
        read.map_err(|error| FleetError::Unavailable(error.to_string()).into())
    }

    fn can_restore(&self, _: &WorkshopSpec) -> bool {
        self.0.shared.settings.saved_files.is_some()
    }

    /// Reads the container of the app. No other program is involved, so no token is needed.
    async fn read_app(&self, workshop: &str, _: &ArchiveToken) -> Result<ByteStream, ReadError> {
        let workload = self.0.readable(workshop)?;
        let snapshot = workload.record.workshop().spec.snapshot;
        let directory = snapshot.and_then(|snapshot| snapshot.directory);
        let (engine, container) = (workload.engine(), workload.container(Part::App));
        let archive = timeout(MAX_READ_WAIT, engine.read_directory(&container, directory.as_deref())).await;
        let archive =
            archive.map_err(|_| FleetError::Unavailable("the container engine does not answer".to_owned()))?;
        archive.map_err(|error| to_fleet_error(&error).into())
    }
}

fn to_fleet_error(error: &EngineError) -> FleetError {
    match error {
        EngineError::BadParameter(problem) => FleetError::Refused(problem.clone()),
        EngineError::NotFound(_) => FleetError::Refused(error.to_string()),
        _ => FleetError::Unavailable(error.to_string()),
    }
}

#[async_trait]
impl Images for ContainerFleet {
    async fn state(&self, image: &str) -> Result<ImageState, FleetError> {
        let Containers { engine, pulls, .. } = &self.0.shared.fleet;
        if let Some(percent) = pulls.percent(image) {
            return Ok(ImageState::Pulling { percent });
        }
        match engine.has_image(image).await {
            Ok(true) => Ok(ImageState::Ready),
            Ok(false) => {
                let failure = pulls.failure(image);
                Ok(failure.map_or(ImageState::Missing, |reason| ImageState::Failed(Box::new(reason))))
            }
            // No pull can succeed: the text is not an image reference.
            Err(error @ EngineError::BadParameter(_)) => {
                Ok(ImageState::Failed(Box::new(diagnose::pull_failed(image, &error))))
            }
            Err(error) => Err(FleetError::Unavailable(error.to_string())),
        }
    }

    async fn begin_pull(&self, image: &str) -> Result<ImageState, FleetError> {
        let fleet = &self.0.shared.fleet;
        let state = self.state(image).await?;
        if state == ImageState::Ready {
            return Ok(state);
        }
        let closing = &self.0.shared.data_dir.closing;
        if closing.is_cancelled() {
            return Err(FleetError::Unavailable("the fleet is stopping".to_owned()));
        }
        if let Some(pull) = fleet.pulls.ahead(&fleet.engine, image) {
            self.0.tasks.spawn(closing.clone().run_until_cancelled_owned(pull));
        }
        Ok(ImageState::Pulling { percent: fleet.pulls.percent(image).unwrap_or_default() })
    }
}

/// Returns the seccomp profile as a security option of the engine. Docker Engine takes the profile itself, and Podman the
/// path of a file.
fn seccomp_option(kind: EngineKind, layout: &Layout) -> Result<String, DataDirError> {
    let profile = seccomp_profile();
    match kind {
        EngineKind::Docker => Ok(format!("seccomp={profile}")),
        EngineKind::Podman => {
            let path = layout.seccomp();
            DataDirError::at(&path, replace_file(&path, profile.as_bytes()))?;
            Ok(format!("seccomp={}", path.display()))
        }
    }
}
