//! The sidecar: a reverse proxy in front of one app, which forwards only the requests of the workshop's owner.
//!
//! Each connection is one task. The task reads a request's head, checks the head against the [`Policy`], writes a new
//! head for the app, and then relays bytes in both directions. No byte of a request reaches the app before the check.
//! The sidecar parses heads and chunked bodies strictly and serializes them again, so that the app reads the same
//! request as the sidecar. An idle connection holds no buffer.
//!
//! The modules form layers. Each module imports only modules of later entries in this list:
//!
//! - [`serve`] and [`telemetry`]: the two listeners
//! - [`archive`], [`isolation`] and [`network_rules`]: the other modes of the program
//! - `listening`: the addresses on which the app listens
//! - `sidecar`: one owner and one app
//! - `connection`: the requests of one client connection
//! - `exchange`, `websocket`: one request and its response; one WebSocket after its upgrade
//! - `auth`: access control
//! - `frame`: the frame page, which the sidecar serves itself
//! - `downstream`: the client's side of a connection
//! - `refusal`: reasons not to forward a request, and their responses
//! - [`notice`], [`texts`]: pages without an app; texts of all pages, in several languages
//! - `http1`, `transport`, `metrics`: parsing without I/O; sockets and buffers; counters
//! - `progress`, `resolv_conf`: progress of connections; name servers
//! - [`memory`]: the limits

pub mod archive;
mod auth;
mod connection;
mod downstream;
mod exchange;
pub mod frame;
mod http1;
pub mod isolation;
mod listening;
pub mod memory;
mod metrics;
pub mod network_rules;
pub mod notice;
mod progress;
mod refusal;
mod resolv_conf;
pub mod serve;
pub mod settings;
mod sidecar;
pub mod telemetry;
pub mod texts;
mod transport;
mod websocket;

pub use auth::{Policy, follow_proxy_secret, load_proxy_secret};
pub use metrics::Activity;
pub use sidecar::Sidecar;
