//! The sidecar's directories and files, with the addresses for its network rules.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use launcher_domain::Crash;
use tokio::task::spawn_blocking;

use crate::containers::build::ADDRESSES_FILE;
use crate::containers::workload::Workload;
use crate::machine::{make_private, replace_file};

const EXPIRY_FILE: &str = "expires-at";
/// Name of the file with the last crash of the app.
const LAST_CRASH_FILE: &str = "last-crash";

/// Creates the directories that the engine mounts into the sidecar, and writes the addresses for its network rules. The
/// parent of the directories is accessible only to the launcher, so no other user can open the sockets.
pub(super) async fn prepare_directories(workload: &Arc<Workload>) -> io::Result<()> {
    let workload = Arc::clone(workload);
    blocking(move || {
        let (context, name) = (workload.context(), workload.stored_record().name());
        let (run_dir, config_dir) = (context.run_dir(name), context.config_dir(name));
        make_private(&run_dir)?;
        make_readable(&config_dir)?;
        if rustix::process::geteuid().is_root() {
            chown(&run_dir, Some(context.sidecar_user), None)?;
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
pub(super) struct FrameStatus {
    expiry: Option<Timestamp>,
    last_crash: Option<Crash>,
}

impl FrameStatus {
    /// Returns the current values of a Workshop.
    pub(super) fn of(workload: &Workload) -> Self {
        let record = workload.stored_record().get();
        Self { expiry: record.expiry(), last_crash: record.status().report.last_crash }
    }
}

/// Writes the values for the sidecar's frame page. An unknown value gives an empty file.
pub(super) async fn write_frame_status(workload: &Arc<Workload>, status: &FrameStatus) -> io::Result<()> {
    let expiry = status.expiry.map(|expiry| expiry.to_string()).unwrap_or_default();
    let crash = status.last_crash.as_ref().map(Crash::to_text);
    let workload = Arc::clone(workload);
    blocking(move || {
        let folder = workload.context().config_dir(workload.stored_record().name());
        write_readable(&folder.join(EXPIRY_FILE), expiry.as_bytes())?;
        write_readable(&folder.join(LAST_CRASH_FILE), crash.unwrap_or_default().as_bytes())
    })
    .await
}

/// Writes a file that the users of containers can read. Only the launcher has access to the directories above it.
pub(super) fn write_readable(path: &Path, content: &[u8]) -> io::Result<()> {
    replace_file(path, content)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o644))
}

pub(super) async fn blocking(work: impl FnOnce() -> io::Result<()> + Send + 'static) -> io::Result<()> {
    spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::other(error)))
}

/// File with the name servers of this machine.
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
