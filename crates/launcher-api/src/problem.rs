//! Errors as data (RFC 9457). Handlers return a [`Problem`]. A middleware renders it as a problem document under the
//! base path, and as a page elsewhere.

mod catalog;
mod document;
mod from_service;
mod reference;
mod response;

pub(crate) use catalog::ProblemCode;
pub(crate) use document::{PROBLEM_JSON, ProblemDocument};
pub use reference::reference;
pub(crate) use response::Problem;
