//! Version, capacity and abilities of the engine.

use std::collections::HashMap;

use bollard::models::{ContainerCreateBody, HostConfig};
use rustix::process::Resource;
use serde::Deserialize;

use super::{Engine, EngineError, LONG};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineKind {
    Docker,
    Podman,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineInfo {
    pub kind: EngineKind,
    pub version: String,
    /// Memory of the engine's machine.
    pub memory_bytes: u64,
    pub cpus: u64,
    /// Name of the storage driver, for example `overlay2`.
    pub storage_driver: String,
    /// True if Docker Engine stores images and containers with containerd. It then accepts a limit of the disk space of a
    /// container, and ignores it.
    pub containerd_image_store: bool,
    pub process_limits: ProcessLimits,
    /// True if the engine may miss that the kernel killed a process at the memory limit. With cgroup version 1 and a
    /// container that ends at once, Podman does, and the tests have seen it with Docker Engine.
    pub misses_oom_kills: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Version {
    version: String,
    components: Option<Vec<Component>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Component {
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Info {
    driver: String,
    #[serde(default)]
    driver_status: Option<Vec<Vec<String>>>,
    mem_total: u64,
    #[serde(rename = "NCPU")]
    cpus: u64,
    cgroup_version: Option<String>,
}

/// Highest limits that a process on this machine may set. The engine cannot exceed them without a capability that it may
/// lack, for example in a virtual machine or without root privileges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessLimits {
    /// Open files of a process.
    pub open_files: u64,
    /// Processes of a user on the whole machine.
    pub processes: u64,
}

impl ProcessLimits {
    /// Returns the hard limits of the launcher, which usually has the same limits as the engine.
    fn of_launcher() -> Self {
        let hard = |resource| rustix::process::getrlimit(resource).maximum.unwrap_or(u64::MAX);
        Self { open_files: hard(Resource::Nofile), processes: hard(Resource::Nproc) }
    }
}

impl Engine {
    pub async fn info(&self) -> Result<EngineInfo, EngineError> {
        let version: Version = self.get("/version").await?;
        let info: Info = self.get("/info").await?;
        Ok(engine_info(version, info))
    }
}

/// Combines the answers of the engine with the limits of this machine.
fn engine_info(Version { version, components }: Version, info: Info) -> EngineInfo {
    let Info { driver, driver_status, mem_total, cpus, cgroup_version } = info;
    let is_podman = components.iter().flatten().any(|component| component.name.starts_with("Podman"));
    EngineInfo {
        kind: if is_podman { EngineKind::Podman } else { EngineKind::Docker },
        version,
        memory_bytes: mem_total,
        cpus,
        storage_driver: driver,
        containerd_image_store: driver_status.iter().flatten().any(|entry| is_containerd(entry)),
        process_limits: ProcessLimits::of_launcher(),
        misses_oom_kills: cgroup_version.as_deref() != Some("2"),
    }
}

/// True if this entry of Docker Engine's storage status names a snapshotter of containerd.
fn is_containerd(entry: &[String]) -> bool {
    matches!(entry, [name, kind] if name == "driver-type" && kind.starts_with("io.containerd.snapshotter"))
}

/// Storage drivers of Docker Engine that can limit the disk space of a container.
const LIMITING_DRIVERS: [&str; 3] = ["btrfs", "overlay2", "zfs"];

impl Engine {
    /// True if this engine can limit the disk space of a container: Docker Engine with the storage driver `btrfs` or `zfs`,
    /// or with `overlay2` on XFS with project quotas.
    ///
    /// False for Podman: after a refused limit, Podman 4.3 keeps a part of the container, and cannot list containers.
    /// False for Docker Engine with containerd's image store, which accepts the limit and ignores it.
    ///
    /// The launcher may run in a container, and then does not see the engine's file system. So this call creates a
    /// container of this image with a limit, and removes it. The labels identify the container if the launcher is killed
    /// meanwhile.
    ///
    /// # Errors
    /// The engine gives no answer now: it is unreachable, its disk is full, it lacks the image, or it refuses the container
    /// for a reason that is not the limit.
    pub async fn limits_disk(
        &self,
        info: &EngineInfo,
        image: &str,
        labels: HashMap<String, String>,
    ) -> Result<bool, EngineError> {
        let can_limit = info.kind == EngineKind::Docker
            && !info.containerd_image_store
            && LIMITING_DRIVERS.contains(&info.storage_driver.as_str());
        if !can_limit {
            return Ok(false);
        }
        let storage_opt = Some(HashMap::from([("size".to_owned(), "1G".to_owned())]));
        let body = ContainerCreateBody {
            image: Some(image.to_owned()),
            // The container never starts, but an image without a command is refused.
            cmd: Some(vec!["none".to_owned()]),
            labels: Some(labels),
            host_config: Some(HostConfig { storage_opt, ..HostConfig::default() }),
            ..ContainerCreateBody::default()
        };
        match self.limited(LONG, self.docker.create_container(None, body)).await {
            Ok(created) => {
                self.remove(&created.id).await?;
                Ok(true)
            }
            Err(error) if is_limit_refused(&error) => {
                tracing::warn!(%error, "the container engine does not limit the disk space of workshops");
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}

/// True if the engine refuses the limit itself, for example with "--storage-opt is supported only for overlay over xfs
/// with 'pquota' mount option".
fn is_limit_refused(error: &EngineError) -> bool {
    let message = error.message().to_ascii_lowercase();
    ["storage-opt", "storage opt", "quota"].iter().any(|text| message.contains(text))
        && !matches!(error, EngineError::Unreachable { .. } | EngineError::DiskFull { .. })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn misses_oom_kills(component: &str, cgroup_version: Value) -> bool {
        let version = json!({ "Version": "1.0", "Components": [{ "Name": component }] });
        let info = json!({
            "Driver": "overlay2", "MemTotal": 1, "NCPU": 1, "CgroupVersion": cgroup_version,
        });
        engine_info(serde_json::from_value(version).unwrap(), serde_json::from_value(info).unwrap()).misses_oom_kills
    }

    #[test]
    fn only_engines_with_cgroup_version_2_report_every_out_of_memory_kill() {
        for component in ["Engine", "Podman Engine"] {
            assert!(misses_oom_kills(component, json!("1")), "{component}");
            assert!(misses_oom_kills(component, json!(null)), "{component}");
            assert!(!misses_oom_kills(component, json!("2")), "{component}");
        }
    }
}
