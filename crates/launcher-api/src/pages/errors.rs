//! Errors as pages: words, and a way on.

use askama::Template;
use axum::response::Response;
use http::StatusCode;

use super::html::{empty_shell, page, shell};
use super::view::Shell;
use super::{assets, texts};
use crate::identity::Identity;
use crate::problem::{Problem, ProblemCode};
use crate::state::AppState;

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

/// The page of a problem. Its status and its headers are the caller's business, as far as they are the problem's own.
pub(crate) fn error_page(
    state: &AppState,
    identity: Option<&Identity>,
    problem: &Problem,
    request_id: &str,
) -> Response {
    let status = problem.code.status();
    let (title, text) = texts::error(problem.code, &problem.detail);
    let error = ErrorPage {
        shell: identity.map_or_else(|| empty_shell(state), |identity| shell(state, &identity.caller, "")),
        title: title.to_owned(),
        text,
        request_id: status.is_server_error().then(|| request_id.to_owned()),
        sign_in: problem.login_url.clone().filter(|_| problem.code == ProblemCode::AuthenticationRequired),
    };
    page(status, &error).unwrap_or_else(|_| plain(status))
}

/// What is left when not even the error's page can be rendered.
fn plain(status: StatusCode) -> Response {
    let mut response = Response::new(axum::body::Body::from(status.to_string()));
    *response.status_mut() = status;
    response
}
