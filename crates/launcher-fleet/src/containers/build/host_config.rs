//! Limits, security options and mounts of the containers. The mounts are the engine's volumes with kept files, course
//! material and temporary files, and directories of this machine.

use std::collections::HashMap;
use std::path::Path;

use bollard::models::{
    HealthConfig, HostConfig, HostConfigLogConfig, Mount, MountType, MountVolumeOptions, ResourcesUlimits,
    RestartPolicy, RestartPolicyNameEnum,
};
use launcher_domain::FailureReason;
use launcher_workshop::app::{SIDECAR_REQUESTS, parse_quantity};
use launcher_workshop::{WorkshopResources, WorkshopSpec, WorkshopStorage};

use super::input::BuildSettings;
use crate::containers::capacity::Request;
use crate::containers::names;

/// Maximum number of processes and threads.
const PROCESSES: i64 = 2048;
/// Maximum number of open files of a process, unless the machine permits fewer.
const OPEN_FILES: u64 = 65536;
/// Maximum number of processes of a user on the whole machine, unless the machine permits fewer: the kernel's maximum.
/// The kernel counts this limit for all `restricted` apps together, because they have the same user. [`PROCESSES`] limits
/// each workshop. This limit is set only because Podman's default may be higher than the machine permits, and the start
/// would then fail.
const USER_PROCESSES: u64 = 4_194_304;
/// Size of `/dev/shm`, in bytes: the default of the engines. The memory in it counts against the memory limit.
const SHARED_MEMORY: i64 = 64 * 1024 * 1024;
/// Maximum size of the log. The engine deletes older lines.
const LOG_SIZE: &str = "10m";
/// Maximum disk space of the container's files, if the engine can limit it.
const DISK: &str = "10G";
/// Period in which the kernel counts CPU time, in microseconds.
const CPU_PERIOD: i64 = 100_000;
/// Least CPU time of a period that the kernel accepts, in microseconds.
const LEAST_CPU_QUOTA: i64 = 1000;
/// Range of the relative CPU weight that the kernel accepts. A container with one CPU has 1024.
const CPU_SHARES: (i64, i64) = (2, 262_144);

/// Returns what an app and its sidecar request together. The launcher reserves it on the server.
pub(crate) fn requested(app: &WorkshopResources) -> Result<Request, FailureReason> {
    let (mut memory, mut cpu) = (0, 0);
    for [cpu_request, memory_request] in [[&*app.cpu_request, &app.memory_request], SIDECAR_REQUESTS] {
        memory += parse_quantity("memoryRequest", memory_request)?.milli().div_ceil(1000);
        cpu += parse_quantity("cpuRequest", cpu_request)?.milli();
    }
    let whole = |amount: u128| u64::try_from(amount).unwrap_or(u64::MAX);
    Ok(Request { memory: whole(memory), cpu_millis: whole(cpu) })
}

/// Returns the host configuration of a container with this CPU request, CPU limit and memory limit. It has no capabilities,
/// and its processes cannot gain privileges.
///
/// The CPU limit is a quota and not `NanoCpus`, because Docker Engine refuses more `NanoCpus` than the machine's CPUs.
/// A template for a larger machine then still runs.
pub(super) fn host_config(
    [cpu_request, cpu_limit, memory_limit]: [&str; 3],
    settings: &BuildSettings<'_>,
) -> Result<HostConfig, FailureReason> {
    let cpu_request = parse_quantity("cpuRequest", cpu_request)?.milli();
    let cpu_limit = parse_quantity("cpuLimit", cpu_limit)?.milli();
    // The engines read 0 as "no limit". They refuse 1 byte as too small.
    let memory = saturating(parse_quantity("memoryLimit", memory_limit)?.milli() / 1000).max(1);
    Ok(HostConfig {
        memory: Some(memory),
        // Sum of memory and swap: the same value means no swap.
        memory_swap: Some(memory),
        cpu_period: Some(CPU_PERIOD),
        cpu_quota: Some(saturating(cpu_limit.saturating_mul(100)).max(LEAST_CPU_QUOTA)),
        cpu_shares: Some(saturating(cpu_request * 1024 / 1000).clamp(CPU_SHARES.0, CPU_SHARES.1)),
        pids_limit: Some(PROCESSES),
        ulimits: Some(vec![
            ulimit("nofile", OPEN_FILES.min(settings.process_limits.open_files)),
            ulimit("nproc", USER_PROCESSES.min(settings.process_limits.processes)),
        ]),
        shm_size: Some(SHARED_MEMORY),
        storage_opt: settings.limits_disk.then(|| HashMap::from([("size".to_owned(), DISK.to_owned())])),
        log_config: Some(HostConfigLogConfig {
            typ: Some("json-file".to_owned()),
            config: Some([("max-size", LOG_SIZE), ("max-file", "1")].map(|(k, v)| (k.to_owned(), v.to_owned())).into()),
        }),
        cap_drop: Some(vec!["ALL".to_owned()]),
        security_opt: Some(vec!["no-new-privileges".to_owned(), settings.seccomp.to_owned()]),
        privileged: Some(false),
        restart_policy: Some(RestartPolicy { name: Some(RestartPolicyNameEnum::NO), maximum_retry_count: None }),
        ..HostConfig::default()
    })
}

/// Removes the SELinux label of a container that mounts directories of this machine: SELinux would refuse access to them. The
/// app's container keeps its label.
pub(super) fn without_label(config: HostConfig) -> HostConfig {
    let security = config.security_opt.into_iter().flatten().chain(["label=disable".to_owned()]).collect();
    HostConfig { security_opt: Some(security), ..config }
}

fn ulimit(name: &str, most: u64) -> ResourcesUlimits {
    let most = Some(saturating(most.into()));
    ResourcesUlimits { name: Some(name.to_owned()), soft: most, hard: most }
}

fn saturating(amount: u128) -> i64 {
    i64::try_from(amount).unwrap_or(i64::MAX)
}

/// Disables the health check of an image: the sidecar checks the app, and the health check would use the app's CPU time.
pub(super) fn no_health_check() -> HealthConfig {
    HealthConfig { test: Some(vec!["NONE".to_owned()]), ..HealthConfig::default() }
}

/// A volume with the material of one source.
pub(crate) struct MaterialVolume {
    pub(crate) name: String,
    /// Path at which the app and the container that places the material mount the volume.
    pub(crate) path: String,
}

impl MaterialVolume {
    pub(super) fn mount(self) -> Mount {
        volume(Some(self.name), &self.path)
    }
}

/// Returns the volumes of a Workshop without storage, one for each source of its material. They end with the Workshop.
pub(crate) fn material_volumes(spec: &WorkshopSpec, fleet_id: &str, name: &str) -> Vec<MaterialVolume> {
    let material = spec.material.iter().filter(|_| spec.storage.is_none());
    let volumes = material.flat_map(|material| {
        material.sources.iter().enumerate().map(move |(place, source)| MaterialVolume {
            name: names::material_volume(fleet_id, name, place),
            path: format!("{}/{}", material.directory, source.target),
        })
    });
    volumes.collect()
}

/// Mounts the volume with the owner's files. The engine copies the image's files at this path into an empty volume.
/// Podman mounts it with `nosuid` and `nodev`. Docker Engine refuses these options. There, the app lacks the privileges to
/// use set-user-ID programs and device files.
pub(super) fn kept(fleet_id: &str, storage: &WorkshopStorage) -> Mount {
    volume(Some(names::volume(fleet_id, &storage.volume)), &storage.path)
}

/// Mounts a volume. The engine removes a volume without a name with the container.
pub(super) fn volume(name: Option<String>, path: &str) -> Mount {
    Mount { typ: Some(MountType::VOLUME), source: name, target: Some(path.to_owned()), ..Mount::default() }
}

/// Keeps the files of the image out of the volume.
pub(super) fn without_copy(mount: Mount) -> Mount {
    let options = MountVolumeOptions { no_copy: Some(true), ..MountVolumeOptions::default() };
    Mount { volume_options: Some(options), ..mount }
}

pub(super) fn bind(source: &Path, target: &str, read_only: bool) -> Mount {
    Mount {
        typ: Some(MountType::BIND),
        source: Some(source.display().to_string()),
        target: Some(target.to_owned()),
        read_only: Some(read_only),
        ..Mount::default()
    }
}
