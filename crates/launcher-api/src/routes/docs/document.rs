//! `GET /openapi.json`.

use axum::extract::State;
use axum::response::Response;
use http::HeaderMap;

use crate::state::AppState;

/// Read the OpenAPI document
#[utoipa::path(
    get, path = "/openapi.json", operation_id = "readOpenapi", tag = "reference",
    responses((status = 200, description = "This document.", body = Object, content_type = "application/json")),
    extensions(("x-problems" = json!([])))
)]
pub(crate) async fn read_openapi(State(state): State<AppState>, headers: HeaderMap) -> Response {
    state.openapi.response(&headers, "application/json")
}
