//! What every process of the launcher needs: settings that explain themselves, telemetry, a health and metrics listener,
//! serving HTTP with limits, and a graceful stop.

pub mod files;
pub mod follow;
pub mod health;
pub mod listen;
pub mod serve;
pub mod settings;
pub mod stop;
pub mod telemetry;
