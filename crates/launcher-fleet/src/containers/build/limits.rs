//! Limits and security options of the containers.

use std::collections::HashMap;

use bollard::models::{
    HealthConfig, HostConfig, HostConfigLogConfig, ResourcesUlimits, RestartPolicy, RestartPolicyNameEnum,
};
use launcher_domain::FailureReason;
use launcher_domain::quantity::Quantity;
use launcher_workshop::app::{SIDECAR_REQUESTS, parse_quantity};

use super::input::BuildSettings;

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

/// CPU and memory of a container.
pub(super) struct Amounts {
    cpu_request: Quantity,
    cpu_limit: Quantity,
    memory_limit: Quantity,
}

impl Amounts {
    /// Parses the amounts: CPU request, CPU limit and memory limit.
    pub(super) fn parse([cpu_request, cpu_limit, memory_limit]: [&str; 3]) -> Result<Self, FailureReason> {
        Ok(Self {
            cpu_request: parse_quantity("cpuRequest", cpu_request)?,
            cpu_limit: parse_quantity("cpuLimit", cpu_limit)?,
            memory_limit: parse_quantity("memoryLimit", memory_limit)?,
        })
    }
}

/// Returns the memory in bytes and the CPU in thousandths that an app and its sidecar request. The launcher reserves them
/// on the server.
pub(super) fn requested(app: [&str; 2]) -> Result<(u64, u64), FailureReason> {
    let (mut memory, mut cpu) = (0, 0);
    for [cpu_request, memory_request] in [app, SIDECAR_REQUESTS] {
        memory += parse_quantity("memoryRequest", memory_request)?.milli().div_ceil(1000);
        cpu += parse_quantity("cpuRequest", cpu_request)?.milli();
    }
    let whole = |amount: u128| u64::try_from(amount).unwrap_or(u64::MAX);
    Ok((whole(memory), whole(cpu)))
}

/// Returns the host configuration with the limits of a container. It has no capabilities, and its processes cannot gain
/// privileges.
///
/// The CPU limit is a quota and not `NanoCpus`, because Docker Engine refuses more `NanoCpus` than the machine's CPUs.
/// A template for a larger machine then still runs.
pub(super) fn host_config(amounts: &Amounts, settings: &BuildSettings<'_>) -> HostConfig {
    // The engines read 0 as "no limit". They refuse 1 byte as too small.
    let memory = saturating(amounts.memory_limit.milli() / 1000).max(1);
    HostConfig {
        memory: Some(memory),
        // Sum of memory and swap: the same value means no swap.
        memory_swap: Some(memory),
        cpu_period: Some(CPU_PERIOD),
        cpu_quota: Some(saturating(amounts.cpu_limit.milli().saturating_mul(100)).max(LEAST_CPU_QUOTA)),
        cpu_shares: Some(saturating(amounts.cpu_request.milli() * 1024 / 1000).clamp(CPU_SHARES.0, CPU_SHARES.1)),
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
    }
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
