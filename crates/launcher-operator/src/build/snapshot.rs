//! Builds the container that sends the files of the crash-safe directory to the launcher, which saves them at the end of
//! the workshop.
//!
//! The container runs as long as the app. It has no readiness probe, and the program ends only with its pod: an app is
//! reachable only while all containers of its pod are ready.

use k8s_openapi::api::core::v1::Container;
use launcher_workshop::pod_template::{CRASH_SAFE_VOLUME, SNAPSHOT};

use super::archive_program::{self, ArchiveProgram};
use super::crash_safe;
use crate::settings::OperatorSettings;
use crate::validate::Validated;

/// Ports of the program. The second one is for apps that have the first one. NetworkPolicies name both.
const PORTS: [u16; 2] = [8082, 8083];

/// Builds the container if the Workshop has a snapshot and a crash-safe directory. Without the directory, the files exist
/// only in the container of the app.
pub(super) fn container(workshop: &Validated, settings: &OperatorSettings) -> Option<Container> {
    let snapshot = workshop.spec.snapshot.as_ref()?;
    crash_safe::directory(workshop, settings)?;
    let program = ArchiveProgram {
        name: SNAPSHOT,
        volume: CRASH_SAFE_VOLUME,
        token_sha256: &snapshot.token_sha256,
        wait: 0,
        port: port(workshop.spec.port),
    };
    Some(archive_program::container(&program, settings))
}

/// Returns the port of the program in the pod of an app with this port.
pub(crate) fn port(app: u16) -> u16 {
    let [first, second] = PORTS;
    if app == first { second } else { first }
}
