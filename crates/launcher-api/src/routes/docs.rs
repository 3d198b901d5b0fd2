//! `/openapi.json`, `/docs`, `/problems`: what the API says about itself.

pub(crate) mod browse;
pub(crate) mod document;
pub(crate) mod problems;
