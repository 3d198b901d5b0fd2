//! Client of the container engine: Docker Engine, or Podman's compatible API.
#![cfg_attr(not(feature = "test-containers"), expect(unreachable_pub, reason = "tests with an engine use this module"))]

mod client;
mod container;
mod directory;
mod error;
mod image;
mod info;
mod list;
#[cfg(test)]
mod tests;
mod volume;

pub use client::Engine;
use client::{LONG, SHORT};
pub use container::ContainerState;
pub(crate) use directory::Selection;
pub use error::EngineError;
use error::if_exists;
pub use image::PullProgress;
pub use info::{EngineInfo, EngineKind, ProcessLimits};
pub use list::FoundContainer;
pub(crate) use list::FoundVolume;
