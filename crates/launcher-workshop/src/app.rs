//! Start of each app type, for all fleets: command, arguments, environment, files and probes. Also the settings of the
//! sidecar's container. Pure.
//! The rules in `launcher-domain` do not depend on the options of Jupyter or RStudio, so this module is not there.

mod container;
mod process;
mod sidecar;
mod spec;

pub use container::ContainerCommand;
pub use process::{Machine, ProcessCommand, Program, accepts_token};
pub use sidecar::{
    BASELINE_CAPABILITIES, EXPIRY_FILE, HttpProbe, LAST_CRASH_FILE, LIVENESS, READINESS, SIDECAR_LIMITS, SIDECAR_PORT,
    SIDECAR_REQUESTS, SIDECAR_USER, SidecarSpec, TELEMETRY_PORT,
};
pub use spec::{AppSpec, ValidSpec, ensure, invalid, parse_quantity};
