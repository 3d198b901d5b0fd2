//! Rewrites heads: request heads for the app, and response heads for the client.

mod embedding;
pub(crate) mod request;
pub(crate) mod response;
