//! Finds the address at which the launcher reads the files of an app.

use std::net::SocketAddr;

use k8s_openapi::api::core::v1::Pod;
use launcher_workshop::WorkshopSpec;
use launcher_workshop::pod_template::SNAPSHOT;

use super::container::statuses;
use super::pod::is_ready;
use crate::build::snapshot_port;

/// Returns the address; `None` without a ready pod that has the container.
pub(crate) fn archive_address(workshop: &WorkshopSpec, pods: &[Pod]) -> Option<SocketAddr> {
    let mut live = pods.iter().filter(|pod| pod.metadata.deletion_timestamp.is_none() && is_ready(pod));
    let pod = live.find(|pod| statuses(pod).any(|status| status.name == SNAPSHOT))?;
    let ip = pod.status.as_ref()?.pod_ip.as_deref()?.parse().ok()?;
    Some(SocketAddr::new(ip, snapshot_port(workshop.port)))
}
