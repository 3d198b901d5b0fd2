//! A problem, and its conversion to a response.

use std::error::Error;
use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use launcher_domain::{FieldError, FieldRule};

use super::catalog::ProblemCode;

/// An error that a client gets as a problem document or a page.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    /// Kind of problem. It determines the status and the title.
    pub(crate) code: ProblemCode,
    /// One sentence that describes the error in this request, and how to correct it.
    pub(crate) detail: String,
    /// Wrong fields with their JSON pointers, for status 422.
    pub(crate) errors: Vec<FieldError>,
    /// Login URL, for status 401.
    pub(crate) login_url: Option<String>,
    /// Retry delay in seconds, for status 429 and 503.
    retry_after: Option<u32>,
    /// Internal cause of the error. Only the log contains it, never a response.
    cause: Option<Arc<dyn Error + Send + Sync>>,
}

impl Problem {
    /// Creates a problem of a kind.
    pub(crate) fn new(code: ProblemCode, detail: impl Into<String>) -> Self {
        let retry_after = code.retry_after();
        Self { code, detail: detail.into(), errors: Vec::new(), login_url: None, retry_after, cause: None }
    }

    /// Creates the problem for a resource that does not exist, or that the caller may not see. Both cases have the same
    /// text, so that a caller cannot distinguish them.
    pub(crate) fn not_found() -> Self {
        Self::new(ProblemCode::NotFound, "The resource does not exist, or you may not see it.")
    }

    /// Creates the problem for a body with wrong fields. `errors` must not be empty.
    pub(crate) fn invalid_fields(errors: Vec<FieldError>) -> Self {
        Self { errors, ..Self::new(ProblemCode::InvalidFields, "Correct the fields that are listed in errors.") }
    }

    /// Creates the problem for a wrong query parameter or header.
    pub(crate) fn invalid_parameter(name: &str, detail: impl Into<String>) -> Self {
        let error = FieldError::new(format!("/{name}"), FieldRule::Parameter { message: detail.into() });
        let problem = Self::new(ProblemCode::InvalidParameters, "Correct the parameters that are listed in errors.");
        Self { errors: vec![error], ..problem }
    }

    /// Creates the problem for an internal error. Only the log contains the cause.
    pub(crate) fn internal(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        let detail = "The service had an internal error. Quote the request_id when you report it.";
        Self::new(ProblemCode::Internal, detail).because(cause)
    }

    /// Adds the internal cause.
    pub(crate) fn because(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.cause = Some(Arc::from(cause.into()));
        self
    }

    /// Returns the internal cause.
    pub(crate) fn cause(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as &(dyn Error + 'static))
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
    /// Sets status and headers, and attaches the problem as an extension; `middleware::problems` writes the body.
    fn into_response(self) -> Response {
        let mut response = self.code.status().into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.code.status() == StatusCode::UNAUTHORIZED {
            // HTTP requires this header on a 401. No browser shows a login dialog for this scheme.
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Cookie realm=\"workshops\""));
        }
        response.extensions_mut().insert(self);
        response
    }
}
