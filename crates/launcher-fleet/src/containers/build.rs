//! Builds the containers of a Workshop. Pure: the same Workshop and settings always give the same containers.
#![cfg_attr(not(feature = "test-containers"), expect(unreachable_pub, reason = "tests with an engine use this module"))]

mod app;
mod input;
mod limits;
mod material;
mod seccomp;
mod sidecar;
#[cfg(test)]
mod tests;
mod volumes;

pub use app::app;
pub use input::BuildSettings;
use launcher_domain::FailureReason;
use launcher_workshop::Workshop;
pub(crate) use material::{material, material_paths};
pub use seccomp::profile as seccomp_profile;
pub(crate) use sidecar::ADDRESSES_FILE;
pub use sidecar::sidecar;
pub(crate) use volumes::{MaterialVolume, material_volumes};

/// Returns the memory in bytes and the CPU in millicores that the app and the sidecar of a Workshop request together.
///
/// # Errors
/// A failure with the code `InvalidSpec`. Its message names the field.
pub(crate) fn requests(workshop: &Workshop) -> Result<(u64, u64), FailureReason> {
    let resources = &workshop.spec.resources;
    limits::requested([&resources.cpu_request, &resources.memory_request])
}
