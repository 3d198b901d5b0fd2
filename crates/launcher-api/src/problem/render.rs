//! The only place where a problem becomes a response body.

use std::error::Error;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::HeaderValue;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use launcher_domain::FieldError;
use serde::Serialize;

use super::{Problem, ProblemCode};
use crate::pages;
use crate::request_id::RequestId;
use crate::state::AppState;

/// The media type of problem documents.
pub(crate) const PROBLEM_JSON: &str = "application/problem+json";

/// A problem as it is sent (RFC 9457).
#[derive(Debug, Serialize)]
pub(crate) struct ProblemDocument<'a> {
    #[serde(rename = "type")]
    kind: String,
    title: &'a str,
    status: u16,
    detail: &'a str,
    code: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    login_url: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<FieldDocument<'a>>,
}

#[derive(Debug, Serialize)]
struct FieldDocument<'a> {
    pointer: &'a str,
    detail: &'a str,
}

impl<'a> ProblemDocument<'a> {
    /// Creates the document of a problem. `not-found` has no request id, so that "not yours" equals "not there".
    pub(crate) fn new(problem: &'a Problem, base_path: &str, request_id: &'a str) -> Self {
        let code = problem.code;
        let field = |FieldError { pointer, detail }: &'a FieldError| FieldDocument { pointer, detail };
        Self {
            kind: format!("{base_path}/problems#{}", code.as_str()),
            title: code.title(),
            status: code.status().as_u16(),
            detail: &problem.detail,
            code: code.as_str(),
            request_id: (code != ProblemCode::NotFound).then_some(request_id),
            login_url: problem.login_url.as_deref(),
            errors: problem.errors.iter().map(field).collect(),
        }
    }
}

/// Writes the body of a problem, and logs its internal cause.
pub(crate) async fn render(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let request_id = request.extensions().get::<RequestId>().cloned().unwrap_or_default();
    let mut response = next.run(request).await;
    let Some(problem) = response.extensions_mut().remove::<Problem>() else { return response };
    if let Some(cause) = &problem.cause {
        tracing::error!(code = problem.code.as_str(), cause = %chain(&**cause), "request failed");
    }
    let document = ProblemDocument::new(&problem, &state.settings.base_path, request_id.as_str());
    let body = serde_json::to_vec(&document).unwrap_or_default();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(PROBLEM_JSON));
    // The empty body has already set its length.
    response.headers_mut().remove(CONTENT_LENGTH);
    *response.body_mut() = Body::from(body);
    response
}

/// Turns errors outside of the API into pages.
pub(crate) async fn render_page_errors(State(state): State<AppState>, request: Request, next: Next) -> Response {
    if state.settings.is_api(request.uri().path()) {
        return next.run(request).await;
    }
    pages::as_pages(State(state), request, next).await
}

/// Formats an error with its chain of causes, down to the first.
fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
