//! Functions that all processes of the launcher share: settings with clear errors, logs, a listener for health and
//! metrics, an HTTP server with limits, and a graceful stop.

pub mod follow;
pub mod health;
pub mod listener;
pub mod serve;
pub mod settings;
pub mod sockets;
pub mod stop;
pub mod telemetry;
