//! Errors for whoever is nobody, as somebody is who has just signed out: a page that loads nothing, since nothing is
//! served to nobody.

use std::sync::LazyLock;

use askama::Template;
use axum::response::Response;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::header::CONTENT_SECURITY_POLICY;
use http::{HeaderValue, StatusCode};
use sha2::{Digest, Sha256};

use super::html::{PageResult, page};
use super::texts;
use crate::problem::Problem;

/// All the style that the page has, in itself.
const STYLE: &str = include_str!("../../templates/nobody.css");

/// That style and no other, and nothing else.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let hash = BASE64_STANDARD.encode(Sha256::digest(STYLE));
    format!(
        "default-src 'none'; style-src 'sha256-{hash}'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
    )
});

/// An error for nobody.
#[derive(Debug, Template)]
#[template(path = "nobody.html")]
pub(super) struct NobodyPage {
    pub(super) title: String,
    pub(super) text: String,
    pub(super) way_on: Option<(String, &'static str)>,
}

impl NobodyPage {
    /// The page, with the policy that lets its style through.
    pub(super) fn respond(&self, status: StatusCode) -> PageResult {
        let mut response: Response = page(status, self)?;
        let policy = HeaderValue::from_str(&POLICY).map_err(Problem::internal)?;
        response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
        Ok(response)
    }
}
