//! HTTP: the API and the pages of the workshop launcher. It only translates: the crates below it decide on access.
//!
//! [`router`] serves the API and the pages through one list of middleware (`middleware.rs`). Errors under the base path
//! are problem documents, all others are pages.

mod admission;
mod body;
mod compression;
mod extract;
mod guard;
mod identity;
mod metrics;
mod middleware;
mod openapi;
mod pages;
mod permission;
mod problem;
mod request_id;
mod router;
mod routes;
mod settings;
mod state;
mod streams;
mod trace;
mod wire;

pub use admission::BUFFERED_BYTES;
pub use metrics::Metrics;
pub use openapi::openapi;
pub use problem::reference as problem_reference;
pub use router::{router, routes};
pub use settings::ApiSettings;
