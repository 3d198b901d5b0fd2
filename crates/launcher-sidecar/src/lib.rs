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
//! - [`archive`], [`isolation`], [`network_rules`] and [`privileges`]: the other modes of the program
//! - `sidecar`: one owner and one app
//! - `connection`: the requests of one client connection
//! - `exchange`, `websocket`: one request and its response; one WebSocket after its upgrade
//! - `frame`: the frame page, which the sidecar serves itself
//! - `rewrite`, `downstream`: new heads; the client's side of a connection
//! - `auth`, `error_response`: access control; error responses of the sidecar
//! - [`notice`], [`texts`]: pages without an app; texts of all pages, in several languages
//! - `refusal`: reasons not to forward a request
//! - `http1`, `transport`, `metrics`, `resolv_conf`: parsing without I/O; sockets and buffers; counters; name servers
//! - [`memory`]: the limits

pub mod archive;
mod auth;
mod connection;
mod downstream;
mod error_response;
mod exchange;
pub mod frame;
mod http1;
pub mod isolation;
pub mod memory;
mod metrics;
pub mod network_rules;
pub mod notice;
pub mod privileges;
mod refusal;
mod resolv_conf;
mod rewrite;
pub mod serve;
pub mod settings;
mod sidecar;
pub mod telemetry;
pub mod texts;
mod transport;
mod websocket;

pub use auth::policy::Policy;
pub use auth::secret_file;
pub use metrics::Activity;
pub use sidecar::Sidecar;
