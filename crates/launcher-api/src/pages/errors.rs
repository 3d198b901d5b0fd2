//! Errors as pages: words, and a way on.

use askama::Template;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use serde::Deserialize;

use super::html::{empty_shell, page, shell};
use super::view::Shell;
use super::{assets, texts};
use crate::identity::Identity;
use crate::state::AppState;

/// More than a problem document ever has, in bytes.
const MAX_DOCUMENT: usize = 256 * 1024;

#[derive(Debug, Template)]
#[template(path = "error.html")]
struct ErrorPage {
    shell: Shell,
    title: String,
    text: String,
    /// What to quote to whoever runs the service: of its own faults only.
    request_id: Option<String>,
    /// Where to sign in.
    sign_in: Option<String>,
}

/// What a page says of a problem document.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Document {
    code: String,
    detail: String,
    request_id: Option<String>,
    login_url: Option<String>,
}

/// Turns the problem documents of the routes below it into pages. Statuses and other headers stay as they are.
pub(crate) async fn as_pages(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    let is_error = response.status().is_client_error() || response.status().is_server_error();
    if !is_error || has_page(&response) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let document = read(body).await;
    let identity = parts.extensions.get::<Identity>();
    let page = render(&state, identity, parts.status, document);
    let (page_parts, body) = page.into_parts();
    parts.headers.remove(CONTENT_LENGTH);
    parts.headers.extend(page_parts.headers);
    Response::from_parts(parts, body)
}

fn render(state: &AppState, identity: Option<&Identity>, status: StatusCode, document: Document) -> Response {
    let (title, text) = texts::error(&document.code, document.detail);
    let error = ErrorPage {
        shell: identity.map_or_else(|| empty_shell(state), |identity| shell(state, &identity.caller, "")),
        title,
        text,
        request_id: document.request_id.filter(|_| status.is_server_error()),
        sign_in: document.login_url,
    };
    page(status, &error).unwrap_or_else(|_| status.to_string().into_response())
}

fn has_page(response: &Response) -> bool {
    response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"))
}

async fn read(body: Body) -> Document {
    let bytes = to_bytes(body, MAX_DOCUMENT).await.unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}
