//! Start of each app type, for all fleets: command, arguments, environment, files and probes. Pure.
//!
//! This module is not in `launcher-domain`, because the rules of the domain do not depend on the options of Jupyter or
//! RStudio. Both users of this module, the operator and the local fleet, already depend on this crate.
//!
//! An [`AppSpec`] is the part of a Workshop that describes the app. The operator runs the app's image and calls
//! [`AppSpec::container_command`]. The local fleet runs programs of its machine, and calls [`AppSpec::process_command`]
//! and [`AppSpec::process_files`]. The environment of the app, [`AppSpec::environment`], is the same for both.
//! `AppType::default_port` is the default port of an app type.

mod container;
mod jupyter;
mod machine;
mod probe;
mod process;
mod rstudio;
mod spec;

pub use container::ContainerCommand;
pub use jupyter::accepts_token;
pub use machine::Machine;
pub use probe::{HttpProbe, LIVENESS, READINESS, SIDECAR_PORT, TELEMETRY_PORT};
pub use process::{ProcessCommand, Program};
pub use spec::{AppSpec, is_reserved_variable};
