//! Version and capacity of the engine.

use std::fs;
use std::path::Path;

use rustix::process::Resource;
use serde::Deserialize;

use super::{Engine, EngineError};

/// Kind of container engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineKind {
    /// Docker Engine.
    Docker,
    /// Podman.
    Podman,
}

/// Version and capacity of the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineInfo {
    /// Kind of engine.
    pub kind: EngineKind,
    /// Version of the engine.
    pub version: String,
    /// Memory of the engine's machine.
    pub memory_bytes: u64,
    /// Number of CPUs of the engine's machine.
    pub cpus: u64,
    /// Name of the storage driver, for example `overlay2`.
    pub storage_driver: String,
    /// True if the storage driver can limit the disk space of a container.
    pub limits_disk: bool,
    /// Directory of the engine with images and containers.
    pub root_dir: String,
    /// Limits of a process on the engine's machine.
    pub process_limits: ProcessLimits,
    /// True if the engine runs without root privileges. User 0 of its containers is then the engine's user.
    pub rootless: bool,
}

/// The fields of the engine's version.
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

/// The fields of the engine's information.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Info {
    driver: String,
    docker_root_dir: String,
    mem_total: u64,
    #[serde(rename = "NCPU")]
    cpus: u64,
    security_options: Option<Vec<String>>,
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
    /// Returns version and capacity of the engine.
    ///
    /// # Errors
    /// The engine does not answer.
    pub async fn info(&self) -> Result<EngineInfo, EngineError> {
        let version: Version = self.get("/version").await?;
        let info: Info = self.get("/info").await?;
        let mounts = tokio::task::spawn_blocking(|| fs::read_to_string("/proc/self/mounts").unwrap_or_default());
        Ok(engine_info(version, info, &mounts.await.unwrap_or_default()))
    }
}

/// Combines the answers of the engine with the mounts of this machine, in the format of `/proc/self/mounts`.
fn engine_info(Version { version, components }: Version, info: Info, mounts: &str) -> EngineInfo {
    let Info { driver, docker_root_dir, mem_total, cpus, security_options } = info;
    let is_podman = components.iter().flatten().any(|component| component.name.starts_with("Podman"));
    EngineInfo {
        kind: if is_podman { EngineKind::Podman } else { EngineKind::Docker },
        version,
        memory_bytes: mem_total,
        cpus,
        limits_disk: limits_disk(&driver, &docker_root_dir, mounts),
        storage_driver: driver,
        root_dir: docker_root_dir,
        process_limits: ProcessLimits::of_launcher(),
        rootless: security_options.iter().flatten().any(|option| option.starts_with("name=rootless")),
    }
}

/// True if the storage driver accepts the option `size` of a container.
///
/// The overlay drivers need XFS with project quotas. If the engine's directory is not visible to the launcher, for
/// example because the launcher runs in a container, the result may be false although the driver has quotas.
fn limits_disk(driver: &str, root_dir: &str, mounts: &str) -> bool {
    match driver {
        "btrfs" | "zfs" => true,
        "overlay2" | "overlay" => has_project_quotas(Path::new(root_dir), mounts),
        _ => false,
    }
}

/// True if the file system of this directory is XFS with project quotas.
fn has_project_quotas(directory: &Path, mounts: &str) -> bool {
    let parsed = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(1);
        Some((unescaped(fields.next()?), fields.next()?, fields.next()?))
    });
    // The last of several mounts on the same directory is the visible one.
    let mount = parsed.filter(|(point, ..)| directory.starts_with(point)).max_by_key(|(point, ..)| point.len());
    mount.is_some_and(|(_, kind, options)| {
        kind == "xfs" && options.split(',').any(|option| matches!(option, "prjquota" | "pquota"))
    })
}

/// Replaces the escape sequences of `/proc/self/mounts` for a space and a backslash.
fn unescaped(path: &str) -> String {
    path.replace("\\040", " ").replace("\\134", "\\")
}

#[cfg(test)]
mod tests {
    use super::limits_disk;

    #[test]
    fn overlay_limits_disk_only_on_xfs_with_project_quotas() {
        let mounts = "/dev/a / ext4 rw 0 0\n\
            /dev/b /var/lib/docker xfs rw,attr2,prjquota 0 0\n\
            /dev/c /plain xfs rw,noquota 0 0\n\
            /dev/d /with\\040space xfs rw,pquota 0 0\n\
            /dev/e /var/lib/docker/tmp ext4 rw 0 0\n";
        let limits = |driver, directory| limits_disk(driver, directory, mounts);
        assert!(limits("overlay2", "/var/lib/docker"));
        assert!(limits("overlay", "/with space/containers"));
        assert!(!limits("overlay2", "/plain/docker"));
        assert!(!limits("overlay2", "/var/lib/docker/tmp"));
        assert!(!limits("overlay2", "/var/lib/dockers"));
        assert!(!limits("overlayfs", "/var/lib/docker"));
        assert!(limits("btrfs", "/anywhere"));
        assert!(!limits("vfs", "/var/lib/docker"));
    }
}
