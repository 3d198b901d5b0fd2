//! The sidecar's directories and files, with the addresses for its network rules.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;

use jiff::Timestamp;
use launcher_domain::Crash;
use launcher_domain::sync::lock;
use launcher_workshop::app::{EXPIRY_FILE, LAST_CRASH_FILE};
use tokio::task::spawn_blocking;

use crate::containers::build::ADDRESSES_FILE;
use crate::containers::workload::Workload;
use crate::machine::{make_private, replace_file};

/// Creates the directories that the engine mounts into the sidecar, and writes the addresses for its network rules. The
/// parent of the directories is accessible only to the launcher, so no other user can open the sockets.
pub(super) async fn prepare_directories(workload: &Workload) -> io::Result<()> {
    let (run_dir, config_dir) = (workload.run_dir(), workload.data_dir().layout.sidecar_files(workload.name()));
    let sidecar_user = workload.fleet().sidecar_user;
    blocking(move || {
        make_private(&run_dir)?;
        make_readable(&config_dir)?;
        if rustix::process::geteuid().is_root() {
            chown(&run_dir, Some(sidecar_user), None)?;
        }
        write_readable(&config_dir.join(ADDRESSES_FILE), addresses()?.as_bytes())
    })
    .await
}

/// Creates a directory that the users of containers can read. Only the launcher has access to the directories above it.
pub(super) fn make_readable(directory: &Path) -> io::Result<()> {
    make_private(directory)?;
    fs::set_permissions(directory, fs::Permissions::from_mode(0o755))
}

/// Values that the sidecar's frame page shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::containers) struct FrameStatus {
    expiry: Option<Timestamp>,
    last_crash: Option<Crash>,
}

/// Writes the values for the sidecar's frame page if they have changed. An unknown value gives an empty file. Without the directory,
/// no sidecar has been prepared yet.
pub(super) async fn update_frame_status(workload: &Workload) {
    let record = workload.record.get();
    let status = FrameStatus { expiry: record.expiry(), last_crash: record.status().report.last_crash };
    if lock(&workload.backend.frame).as_ref() == Some(&status) {
        return;
    }
    let expiry = status.expiry.map(|expiry| expiry.to_string()).unwrap_or_default();
    let crash = status.last_crash.as_ref().map(Crash::to_text);
    let folder = workload.data_dir().layout.sidecar_files(workload.name());
    let written = blocking(move || {
        write_readable(&folder.join(EXPIRY_FILE), expiry.as_bytes())?;
        write_readable(&folder.join(LAST_CRASH_FILE), crash.unwrap_or_default().as_bytes())
    });
    match written.await {
        Ok(()) => *lock(&workload.backend.frame) = Some(status),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => {
            let workshop = workload.name();
            tracing::debug!(workshop, %error, "writing values of the frame page failed, retrying");
        }
    }
}

/// Writes a file that the users of containers can read. Only the launcher has access to the directories above it.
pub(super) fn write_readable(path: &Path, content: &[u8]) -> io::Result<()> {
    replace_file(path, content)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o644))
}

pub(super) async fn blocking(work: impl FnOnce() -> io::Result<()> + Send + 'static) -> io::Result<()> {
    spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::other(error)))
}

const RESOLV_CONF: &str = "/etc/resolv.conf";

/// Returns the content of the file with the addresses that the network rules name: all addresses of this machine, also its
/// public ones, which the rules refuse, and its name servers, which the rules allow on port 53.
///
/// # Errors
/// The addresses of this machine cannot be listed. The app must not start without the rules.
fn addresses() -> io::Result<String> {
    let hosts = host_addresses()?.into_iter().map(|address| format!("host-address {address}\n"));
    let servers = name_servers().into_iter().map(|address| format!("name-server {address}\n"));
    Ok(hosts.chain(servers).collect())
}

/// Returns the IPv4 addresses of this machine, without the loopback addresses. Workshops have no IPv6.
fn host_addresses() -> io::Result<BTreeSet<Ipv4Addr>> {
    let addresses = if_addrs::get_if_addrs()?.into_iter().filter_map(|interface| match interface.ip() {
        IpAddr::V4(address) if !address.is_loopback() => Some(address),
        _ => None,
    });
    Ok(addresses.collect())
}

/// Returns the name servers of this machine without those on loopback addresses, which a workshop cannot reach: in place
/// of these, the engine gives workshops other name servers.
fn name_servers() -> Vec<Ipv4Addr> {
    let text = fs::read_to_string(RESOLV_CONF).unwrap_or_default();
    let servers = text.lines().filter_map(|line| line.trim().strip_prefix("nameserver")?.trim().parse().ok());
    servers.filter(|server: &Ipv4Addr| !server.is_loopback()).collect()
}
