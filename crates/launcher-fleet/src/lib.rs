//! The port [`Fleet`]: whatever turns Workshops into running workloads; and its adapters.

mod local;
mod port;

pub use local::*;
pub use port::{Deletion, Fleet, FleetError, FleetEvent};
