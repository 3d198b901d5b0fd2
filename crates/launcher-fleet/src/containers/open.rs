//! Opens a container fleet, and adopts the Workshops of an earlier launcher.

use std::collections::HashSet;
use std::sync::Arc;

use launcher_domain::Clock;
use launcher_process::stop::Stop;
use tokio::sync::OnceCell;

use super::build::seccomp_profile;
use super::capacity::Capacity;
use super::context::Context;
use super::engine::{Engine, EngineKind};
use super::events::follow_events;
use super::fleet::ContainerFleet;
use super::orphans::{Found, remove_orphans};
use super::pulls::Pulls;
use super::settings::{ContainerFleetError, ContainerSettings};
use super::supervisor::adopt_reservations;
use super::workload::{Record, Workload};
use crate::machine::{DataDir, DataDirError, Layout, Registry, Supervised, replace_file};

/// User ID of the sidecars if the launcher runs as root. The stock images have no user with this ID.
const SIDECAR_USER: u32 = 65532;

impl ContainerFleet {
    /// Opens the fleet of a data directory and takes over its Workshops:
    ///
    /// - Containers that still run keep running.
    /// - Workshops whose containers have both ended, for example because of a reboot, start again with their files.
    /// - The fleet ends expired Workshops and continues deletions.
    /// - The fleet removes its containers that belong to no Workshop. It does not touch the containers of another copy
    ///   of the data directory.
    ///
    /// `stop` closes the connections of [`ContainerFleet::gateway`]. Call this function within a tokio runtime.
    ///
    /// # Errors
    /// [`ContainerFleetError`] if another launcher uses the directory, the directory is unusable, or the engine does
    /// not answer.
    pub async fn open(
        settings: ContainerSettings,
        clock: Arc<dyn Clock>,
        stop: Stop,
    ) -> Result<Self, ContainerFleetError> {
        let settings = settings.checked()?;
        let engine = Engine::connect(&settings.engine_socket)?;
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
        let registry = Registry::<Workload>::new(Context {
            capacity: Capacity::new(engine_info.memory_bytes, engine_info.cpus),
            sidecar_user: if launcher_user.is_root() { SIDECAR_USER } else { launcher_user.as_raw() },
            settings,
            data_dir,
            engine,
            engine_info,
            limits_disk: OnceCell::new(),
            seccomp,
            pulls: Pulls::default(),
            stop,
        });
        let workloads: Vec<_> =
            records.into_iter().map(|(name, record)| registry.create_workload(name, record)).collect();
        adopt_reservations(workloads.iter().map(|workload| &**workload));
        for workload in &workloads {
            tracing::info!(workshop = workload.name(), phase = ?workload.record().phase(), "restoring Workshop");
            registry.supervise(workload);
        }
        registry.tasks.spawn(follow_events(Arc::downgrade(&registry)));
        registry.tasks.spawn(remove_orphans(Arc::downgrade(&registry), orphans));
        Ok(Self(registry))
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
