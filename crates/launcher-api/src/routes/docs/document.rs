//! `GET /openapi.json`.

use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::HeaderValue;
use http::header::CONTENT_TYPE;

use crate::admission::Shared;
use crate::state::AppState;

/// Read the OpenAPI document
#[utoipa::path(
    get, path = "/openapi.json", operation_id = "readOpenapi", tag = "reference",
    responses((status = 200, description = "This document.", body = Object, content_type = "application/json")),
    extensions(("x-problems" = json!([])))
)]
pub(crate) async fn read_openapi(State(state): State<AppState>) -> Response {
    let content_type = [(CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    (content_type, Extension(Shared), state.openapi.clone()).into_response()
}
