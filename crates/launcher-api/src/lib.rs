//! HTTP: the API and the pages of the workshop launcher. It translates and decides nothing: who may do what is decided
//! below.
//!
//! [`router`] is everything that is served to people and programs, behind one list of middleware (`middleware.rs`).
//! Under the base path errors are problem documents, elsewhere they are pages.

mod admission;
mod body;
mod extract;
mod guard;
mod identity;
mod metrics;
mod middleware;
mod openapi;
mod pages;
mod problem;
mod request_id;
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
pub use routes::{router, routes};
pub use settings::ApiSettings;
