//! The type of response bodies.

use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Bytes;

/// Error of a response body that ends before it is complete.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
/// A response body. It hides the concrete type, so that all handlers return the same type.
pub type Body = UnsyncBoxBody<Bytes, BoxError>;
