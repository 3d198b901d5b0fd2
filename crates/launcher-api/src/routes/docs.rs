//! `/openapi.json`, `/docs`, `/problems`: the reference of the API.

pub(crate) mod browse;
pub(crate) mod description;
pub(crate) mod document;
mod frame;
pub(crate) mod problems;
