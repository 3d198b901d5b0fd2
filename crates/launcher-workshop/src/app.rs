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
mod jupyter;
mod machine;
mod probe;
mod process;
mod rstudio;
mod sidecar;
mod spec;
mod valid_spec;

pub use container::ContainerCommand;
pub use jupyter::accepts_token;
pub use machine::Machine;
pub use probe::{HttpProbe, LIVENESS, READINESS, SIDECAR_PORT, TELEMETRY_PORT};
pub use process::{ProcessCommand, Program};
pub use sidecar::{BASELINE_CAPABILITIES, SIDECAR_LIMITS, SIDECAR_REQUESTS, SIDECAR_USER, SidecarSpec};
pub use spec::{AppSpec, is_reserved_variable};
pub use valid_spec::{ValidSpec, invalid, parse_quantity};
