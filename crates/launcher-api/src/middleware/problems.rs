//! Renders problems. No other code turns a problem into a response body.

use std::error::Error;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::HeaderValue;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};

use crate::pages;
use crate::problem::{PROBLEM_JSON, Problem, ProblemDocument};
use crate::request_id::RequestId;
use crate::settings::ApiSettings;
use crate::state::AppState;

/// Writes the body of a problem, and logs its internal cause.
pub(super) async fn render(State(settings): State<Arc<ApiSettings>>, request: Request, next: Next) -> Response {
    let request_id = request.extensions().get::<RequestId>().cloned().unwrap_or_default();
    let mut response = next.run(request).await;
    let Some(problem) = response.extensions_mut().remove::<Problem>() else { return response };
    if let Some(cause) = problem.cause() {
        tracing::error!(code = problem.code.as_str(), cause = %chain(cause), "request failed, answering with an error");
    }
    let document = ProblemDocument::new(&problem, &settings.base_path, request_id.as_str());
    let body = serde_json::to_vec(&document).unwrap_or_default();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(PROBLEM_JSON));
    // Remove the length of the empty body that the problem document replaces.
    response.headers_mut().remove(CONTENT_LENGTH);
    *response.body_mut() = Body::from(body);
    response
}

/// Turns errors outside the API into pages.
pub(super) async fn render_page_errors(State(state): State<AppState>, request: Request, next: Next) -> Response {
    if state.settings.is_api(request.uri().path()) {
        return next.run(request).await;
    }
    pages::as_pages(State(state), request, next).await
}

/// Formats an error with the chain of its causes.
fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
