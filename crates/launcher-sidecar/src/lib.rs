//! The owner-checking reverse proxy in front of one workshop.
//!
//! Each connection is one task. It reads a request's head, checks it against the [`Policy`], writes a new head for the
//! app, and then relays bytes both ways. No byte of a request reaches the app before this check. Heads and chunked
//! bodies are parsed strictly and serialized again, so the app's parser sees the same request as this proxy. An idle
//! connection holds no buffer.

mod authorization;
mod body;
mod buffers;
mod bulk;
mod chunked;
mod connection;
mod cookies;
mod deadline_timer;
mod error_response;
mod exchange;
mod frames;
mod framing;
mod head;
pub mod isolation;
pub mod memory;
mod metrics;
mod origin;
mod policy;
mod relay;
mod response;
mod rewrite;
pub mod secret_file;
pub mod serve;
pub mod settings;
mod sidecar;
mod slots;
mod socket;
mod target;
pub mod telemetry;
mod tunnel;
mod upstream;

pub use metrics::Activity;
pub use policy::Policy;
pub use sidecar::Sidecar;
