//! For `launcher doctor`: examines the engine and a data directory.

use super::engine::{Engine, EngineError, EngineInfo, EngineKind};
use super::names;
use super::settings::{ContainerOptions, ContainerSettings};
use crate::machine::{Layout, MachineFleetError, stored_identity};

/// The examined container fleet. A call fails if [`ContainerFleet::open`](super::ContainerFleet::open) would refuse a setting, if
/// the identity file cannot be read, or if the engine does not answer.
#[derive(Debug)]
pub struct ContainerExamination {
    options: ContainerOptions,
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
    /// True if the engine can limit the disk space of a container. False if it does not have the sidecar's image yet.
    pub limits_disk: bool,
    /// True if each start or end of a workshop can interrupt the network of the others: see [`is_bridge_silent`].
    pub interrupts_network: bool,
}

impl ContainerExamination {
    /// Examines the fleet that [`ContainerFleet::open`](super::ContainerFleet::open) would open with these settings.
    pub fn new(ContainerSettings { machine, options }: ContainerSettings) -> Result<Self, MachineFleetError> {
        let layout = Layout::new(&machine.checked()?.data_dir);
        let engine = Engine::connect(&options.engine_socket)?;
        Ok(Self { options, layout, engine })
    }

    /// The fleet's identity; `None` if no launcher has used the data directory yet.
    pub fn identity(&self) -> Result<Option<String>, MachineFleetError> {
        Ok(stored_identity(&self.layout)?)
    }

    /// Asks the engine for its version and its size. To find out if the engine can limit disk space, it creates a container
    /// and removes it.
    pub async fn engine(&self) -> Result<ExaminedEngine, MachineFleetError> {
        let info = self.engine.info().await?;
        let labels = names::disk_limit_labels(&self.identity()?.unwrap_or_default());
        let limits_disk = match self.engine.limits_disk(&info, &self.options.sidecar_image, labels).await {
            Err(EngineError::NotFound(_)) => false,
            answer => answer?,
        };
        let EngineInfo { kind, version, memory_bytes, cpus, storage_driver, .. } = info;
        let name = match kind {
            EngineKind::Docker => format!("Docker Engine {version}"),
            EngineKind::Podman => format!("Podman {version}"),
        };
        let interrupts_network = kind == EngineKind::Podman && is_bridge_silent();
        Ok(ExaminedEngine { name, memory_bytes, cpus, storage_driver, limits_disk, interrupts_network })
    }

    /// True if the engine has the sidecar's image.
    pub async fn has_sidecar_image(&self) -> Result<bool, MachineFleetError> {
        Ok(self.engine.has_image(&self.options.sidecar_image).await?)
    }

    /// True if the engine has the image of the program that places course material; `None` if the settings name none.
    pub async fn has_material_image(&self) -> Result<Option<bool>, MachineFleetError> {
        let Some(image) = &self.options.material_image else { return Ok(None) };
        Ok(Some(self.engine.has_image(image).await?))
    }
}

/// True if bridges of the launcher's network namespace do not announce a new MAC address.
///
/// Podman's bridge takes the lowest MAC address of its interfaces, so starts and ends of workshops change it. Docker's bridge
/// keeps its address. Without an announcement, workshops send to the old address until their ARP entries expire, for up
/// to half a minute. Source: `arp_notify` in the kernel's `Documentation/networking/ip-sysctl.rst`.
fn is_bridge_silent() -> bool {
    std::fs::read_to_string("/proc/sys/net/ipv4/conf/all/arp_notify").is_ok_and(|value| value.trim() == "0")
}
