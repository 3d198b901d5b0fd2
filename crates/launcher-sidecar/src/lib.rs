//! The owner-checking reverse proxy in front of one workshop.
//!
//! One connection is one task that reads a request's head, judges it ([`Policy`]), writes a new head for the app, and
//! then moves bytes both ways. Nothing of a request reaches the app before it is judged; nothing is forwarded as it
//! stood: heads and chunked bodies are read strictly and written anew, so that the app's parser cannot see another
//! request than this one did. A connection that waits holds no buffer.

mod alarm;
mod body;
mod buffers;
mod bulk;
mod chunked;
mod connection;
mod cookies;
mod exchange;
mod frames;
mod framing;
mod head;
pub mod isolation;
mod judge;
pub mod memory;
mod metrics;
mod origin;
mod pages;
mod places;
mod policy;
mod relay;
mod response;
mod rewrite;
pub mod secret_file;
pub mod serve;
pub mod settings;
mod sidecar;
mod socket;
mod target;
pub mod telemetry;
mod tunnel;
mod upstream;

pub use metrics::Activity;
pub use policy::Policy;
pub use sidecar::Sidecar;
