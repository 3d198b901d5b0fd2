//! The port [`Fleet`]: whatever turns Workshops into running workloads; and its adapters.

mod local;
mod port;

pub use local::{Gateway, LocalFleet, LocalFleetError, LocalSettings};
pub use port::{Deletion, Fleet, FleetError, FleetEvent};
