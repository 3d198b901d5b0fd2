//! Builds the containers of a Workshop. Pure: the same Workshop and settings always give the same containers.
#![cfg_attr(not(feature = "test-containers"), expect(unreachable_pub, reason = "tests with an engine use this module"))]

mod app;
mod host_config;
mod input;
mod seccomp;
mod sidecar;
#[cfg(test)]
mod tests;

pub use app::app;
pub(crate) use app::{material, material_paths};
pub(crate) use host_config::{MaterialVolume, material_volumes};
pub use input::BuildSettings;
use launcher_domain::FailureReason;
use launcher_workshop::Workshop;
pub use seccomp::profile as seccomp_profile;
pub(crate) use sidecar::ADDRESSES_FILE;
pub use sidecar::sidecar;

/// Returns the memory in bytes and the CPU in millicores that the app and the sidecar of a Workshop request together.
///
/// # Errors
/// A failure with the code `InvalidSpec`. Its message names the field.
pub(crate) fn requests(workshop: &Workshop) -> Result<(u64, u64), FailureReason> {
    let resources = &workshop.spec.resources;
    host_config::requested([&resources.cpu_request, &resources.memory_request])
}
