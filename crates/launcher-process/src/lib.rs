//! Shared by all processes of the launcher: settings with clear errors, telemetry, a health and metrics listener, an
//! HTTP server with limits, and a graceful stop.

pub mod files;
pub mod follow;
pub mod health;
pub mod listen;
pub mod serve;
pub mod settings;
pub mod stop;
pub mod telemetry;
