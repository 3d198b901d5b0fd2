//! Start of each app type, for all fleets: command, arguments, environment, files and probes. Also the settings of the
//! sidecar's container. Pure.
//!
//! This module is not in `launcher-domain`, because the rules of the domain do not depend on the options of Jupyter or
//! RStudio. The users of this module, the operator and the fleets, already depend on this crate.
//!
//! An [`AppSpec`] is the part of a Workshop that describes the app. The operator and the container fleet run the app's
//! image, and call [`AppSpec::container_command`]. The local fleet runs programs of its machine, and calls [`AppSpec::process_command`]
//! and [`AppSpec::process_files`]. The environment of the app, [`AppSpec::environment`], is the same for all.
//! `AppType::default_port` is the default port of an app type.
//!
//! The operator and the container fleet validate a spec with [`ValidSpec::parse`], and configure the sidecar's container
//! with [`SidecarSpec`].

mod container;
mod process;
mod sidecar;
mod spec;

pub use container::ContainerCommand;
pub use process::{Machine, ProcessCommand, Program, accepts_token};
pub use sidecar::{
    BASELINE_CAPABILITIES, HttpProbe, LIVENESS, READINESS, SIDECAR_LIMITS, SIDECAR_PORT, SIDECAR_REQUESTS,
    SIDECAR_USER, SidecarSpec, TELEMETRY_PORT,
};
pub use spec::{AppSpec, ValidSpec, invalid, parse_quantity};
