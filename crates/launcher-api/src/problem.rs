//! Errors as data (RFC 9457). Handlers return a [`Problem`]. A middleware renders it as a problem document under the
//! base path, and as a page elsewhere.

mod catalog;
mod from_service;
mod reference;
mod render;

use std::error::Error;
use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use launcher_domain::FieldError;

pub(crate) use catalog::ProblemCode;
pub use reference::reference;
pub(crate) use render::{PROBLEM_JSON, ProblemDocument, render, render_page_errors};

/// An error for the client.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    /// Determines the status and the title.
    pub(crate) code: ProblemCode,
    /// One sentence: the error in this request, and how to correct it.
    pub(crate) detail: String,
    /// Each wrong field with its JSON pointer, for 422.
    pub(crate) errors: Vec<FieldError>,
    /// Login URL, for 401.
    pub(crate) login_url: Option<String>,
    /// Retry delay in seconds, for 429 and 503.
    retry_after: Option<u32>,
    /// Internal cause. It goes to the log, never to a client.
    cause: Option<Arc<dyn Error + Send + Sync>>,
}

impl Problem {
    /// Creates a problem of a kind.
    pub(crate) fn new(code: ProblemCode, detail: impl Into<String>) -> Self {
        let retry_after = code.retry_after();
        Self { code, detail: detail.into(), errors: Vec::new(), login_url: None, retry_after, cause: None }
    }

    /// The resource does not exist, or the caller may not see it. The text is always the same, so that the two cases
    /// cannot be distinguished.
    pub(crate) fn not_found() -> Self {
        Self::new(ProblemCode::NotFound, "There is nothing at this address that you may see.")
    }

    /// Wrong fields of a body; `errors` is not empty.
    pub(crate) fn invalid_fields(errors: Vec<FieldError>) -> Self {
        Self { errors, ..Self::new(ProblemCode::InvalidFields, "Correct the fields that errors lists.") }
    }

    /// A wrong query parameter or header.
    pub(crate) fn invalid_parameter(name: &str, detail: impl Into<String>) -> Self {
        let error = FieldError { pointer: format!("/{name}"), detail: detail.into() };
        let problem = Self::new(ProblemCode::InvalidParameters, "Correct the parameters that errors lists.");
        Self { errors: vec![error], ..problem }
    }

    /// An internal error. The cause is only logged.
    pub(crate) fn internal(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        let detail = "The service has made a mistake. Quote the request_id when you report it.";
        Self::new(ProblemCode::Internal, detail).because(cause)
    }

    /// Adds the internal cause.
    pub(crate) fn because(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.cause = Some(Arc::from(cause.into()));
        self
    }

    /// Sets the retry delay, in seconds.
    pub(crate) fn retry_in(mut self, seconds: u32) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// Adds the login URL.
    pub(crate) fn login_at(mut self, url: String) -> Self {
        self.login_url = Some(url);
        self
    }
}

impl IntoResponse for Problem {
    /// Sets status and headers, and attaches the problem as an extension; [`render()`] writes the body.
    fn into_response(self) -> Response {
        let mut response = self.code.status().into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.code.status() == StatusCode::UNAUTHORIZED {
            // No browser answers this scheme with a login dialog.
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Cookie realm=\"workshops\""));
        }
        response.extensions_mut().insert(self);
        response
    }
}
