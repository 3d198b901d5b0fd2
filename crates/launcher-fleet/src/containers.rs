//! The container fleet: runs Workshops as containers of a Docker Engine or of Podman, on one machine.
//!
//! A workshop has two containers, as on Kubernetes. The sidecar's container owns the network namespace, and the app's
//! container joins it. Nothing listens on a port of the machine: the gateway reaches the sidecar through a Unix socket
//! in a directory that only the launcher and this sidecar can open. Before the app starts, rules in the network namespace
//! forbid connections to private addresses and to this machine, and connections from outside.
//!
//! Only the launcher starts containers, so the engine never starts an app without its rules.

mod build;
mod capacity;
mod connector;
mod diagnose;
mod doctor;
mod engine;
mod fleet;
mod names;
mod pulls;
mod settings;
mod supervisor;
mod tasks;
mod workload;

pub use doctor::{ContainerExamination, ExaminedEngine};
pub use fleet::ContainerFleet;
pub use settings::{ContainerOptions, ContainerSettings};

/// For the tests with a container engine: its client, and the built containers.
#[cfg(feature = "test-containers")]
pub mod tested {
    pub use super::build::{BuildSettings, app, seccomp_profile, sidecar};
    pub use super::engine::{
        ContainerState, Engine, EngineError, EngineInfo, EngineKind, FoundContainer, ProcessLimits, PullProgress,
    };
    pub use super::names::Part;
}
