//! Client of the container engine: Docker Engine, or Podman's compatible API.
#![cfg_attr(not(feature = "test-containers"), expect(unreachable_pub, reason = "tests with an engine use this module"))]

mod archive;
mod client;
mod container;
mod directory;
mod disk_limit;
mod error;
mod events;
mod http;
mod image;
mod info;
mod list;
mod log;
mod pull_progress;
mod read_directory;
mod read_volume;
mod start_app;
#[cfg(test)]
mod tests;
mod volume;

pub use client::Engine;
use client::{LONG, SHORT};
pub use container::ContainerState;
pub use error::EngineError;
#[cfg(feature = "test-containers")]
pub use events::ContainerEvent;
pub use info::{EngineInfo, EngineKind, ProcessLimits};
pub use list::FoundContainer;
pub(crate) use list::FoundVolume;
pub use pull_progress::PullProgress;
