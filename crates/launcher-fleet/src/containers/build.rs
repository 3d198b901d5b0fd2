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
pub(crate) use host_config::{MaterialVolume, material_volumes, requested};
pub use input::BuildSettings;
pub use seccomp::profile as seccomp_profile;
pub(crate) use sidecar::ADDRESSES_FILE;
pub use sidecar::sidecar;
