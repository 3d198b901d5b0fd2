//! Error pages for unauthenticated requests, for example after signing out. These pages load no files, because
//! unauthenticated requests get no files.

use std::sync::LazyLock;

use askama::Template;
use axum::response::Response;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::header::CONTENT_SECURITY_POLICY;
use http::{HeaderValue, StatusCode};
use sha2::{Digest, Sha256};

use super::html::{PageResult, page};
use super::language::{Language, Text};
use crate::problem::Problem;

/// The style of the page. The page embeds it.
const STYLE: &str = include_str!("../../templates/unauthenticated.css");

/// Content security policy of the page: allows only the embedded style.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let hash = BASE64_STANDARD.encode(Sha256::digest(STYLE));
    format!(
        "default-src 'none'; style-src 'sha256-{hash}'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
    )
});

/// An error page for an unauthenticated request.
#[derive(Debug, Template)]
#[template(path = "unauthenticated.html")]
pub(super) struct UnauthenticatedPage {
    pub(super) t: Language,
    pub(super) title: Text,
    pub(super) text: Text,
    pub(super) next_link: Option<(String, Text)>,
}

impl UnauthenticatedPage {
    /// Renders the page, with a content security policy that allows its embedded style.
    pub(super) fn respond(&self, status: StatusCode) -> PageResult {
        let mut response: Response = page(status, self)?;
        let policy = HeaderValue::from_str(&POLICY).map_err(Problem::internal)?;
        response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
        Ok(response)
    }
}
