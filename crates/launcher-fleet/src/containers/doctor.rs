//! For `launcher doctor`: examines the engine and a data directory without changing them.

use super::engine::{Engine, EngineInfo, EngineKind};
use super::settings::{ContainerFleetError, ContainerSettings};
use crate::machine::{Layout, stored_identity};

/// The examined container fleet.
#[derive(Debug)]
pub struct ContainerExamination {
    settings: ContainerSettings,
    layout: Layout,
    engine: Engine,
}

/// Facts about a container engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExaminedEngine {
    /// Name and version, for example `Docker Engine 28.2.2`.
    pub name: String,
    /// Memory of the engine's machine, in bytes.
    pub memory_bytes: u64,
    /// Number of CPUs of the engine's machine.
    pub cpus: u64,
    /// Name of the storage driver, for example `overlay2`.
    pub storage_driver: String,
    /// True if the storage driver can limit the disk space of a container.
    pub limits_disk: bool,
}

impl ContainerExamination {
    /// Examines the fleet that [`ContainerFleet::open`](super::ContainerFleet::open) would open with these settings.
    ///
    /// # Errors
    /// [`ContainerFleetError`] if `ContainerFleet::open` would refuse a setting.
    pub fn new(settings: ContainerSettings) -> Result<Self, ContainerFleetError> {
        let settings = settings.checked()?;
        let (layout, engine) = (Layout::new(&settings.data_dir), Engine::connect(&settings.engine_socket)?);
        Ok(Self { settings, layout, engine })
    }

    /// The fleet's identity; `None` if no launcher has used the data directory yet.
    ///
    /// # Errors
    /// [`ContainerFleetError::DataDir`] if the identity file cannot be read.
    pub fn identity(&self) -> Result<Option<String>, ContainerFleetError> {
        Ok(stored_identity(&self.layout)?)
    }

    /// Asks the engine for its version and its size.
    ///
    /// # Errors
    /// [`ContainerFleetError::Engine`] if the engine does not answer.
    pub async fn engine(&self) -> Result<ExaminedEngine, ContainerFleetError> {
        let EngineInfo { kind, version, memory_bytes, cpus, storage_driver, limits_disk, .. } =
            self.engine.info().await?;
        let name = match kind {
            EngineKind::Docker => format!("Docker Engine {version}"),
            EngineKind::Podman => format!("Podman {version}"),
        };
        Ok(ExaminedEngine { name, memory_bytes, cpus, storage_driver, limits_disk })
    }

    /// True if the engine has the sidecar's image.
    ///
    /// # Errors
    /// [`ContainerFleetError::Engine`] if the engine does not answer, or the name of the image is invalid.
    pub async fn has_sidecar_image(&self) -> Result<bool, ContainerFleetError> {
        Ok(self.engine.has_image(&self.settings.sidecar_image).await?)
    }
}
