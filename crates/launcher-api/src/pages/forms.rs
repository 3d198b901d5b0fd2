//! Extractors for forms and queries, and redirects within this site.

use axum::Form;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::response::{IntoResponse, Redirect, Response};
use http::StatusCode;
use http::request::Parts;
use launcher_domain::local_path::LocalPath;
use serde::de::DeserializeOwned;

use super::texts;
use crate::problem::{Problem, ProblemCode};

/// A form's fields. The deserialized types refuse unknown fields.
#[derive(Debug)]
pub(crate) struct Fields<T>(pub(crate) T);

impl<S, T> FromRequest<S> for Fields<T>
where
    S: Send + Sync,
    T: DeserializeOwned,
{
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let Form(fields) =
            Form::from_request(request, state).await.map_err(|rejection| unreadable(rejection.status()))?;
        Ok(Self(fields))
    }
}

/// Converts the status of an unreadable form to a problem.
fn unreadable(status: StatusCode) -> Problem {
    let (code, detail) = match status {
        StatusCode::PAYLOAD_TOO_LARGE => (ProblemCode::BodyTooLarge, texts::FORM_TOO_LARGE),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => (ProblemCode::UnsupportedMediaType, texts::FORM_OF_ANOTHER_KIND),
        StatusCode::UNPROCESSABLE_ENTITY => (ProblemCode::InvalidFields, texts::FORM_OF_ANOTHER_PAGE),
        _ => (ProblemCode::MalformedBody, texts::FORM_UNREADABLE),
    };
    Problem::new(code, detail)
}

/// A page's query.
#[derive(Debug)]
pub(crate) struct Query<T>(pub(crate) T);

impl<S, T> FromRequestParts<S> for Query<T>
where
    S: Send + Sync,
    T: DeserializeOwned,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match axum::extract::Query::from_request_parts(parts, state).await {
            Ok(axum::extract::Query(query)) => Ok(Self(query)),
            Err(_) => Err(Problem::new(ProblemCode::InvalidParameters, texts::BAD_ADDRESS)),
        }
    }
}

/// Returns the path to open next: the one that was sent if it is a path of this site, else the start page. Anything
/// else (`//evil`, `/\evil`, `javascript:`) would lead to another site.
pub(crate) fn return_to(sent: Option<&str>) -> LocalPath {
    sent.and_then(LocalPath::parse).unwrap_or_else(LocalPath::root)
}

/// Returns `303 See Other`: the browser loads the page with GET, so reloading it repeats nothing.
pub(crate) fn see_other(path: &LocalPath) -> Response {
    Redirect::to(path.as_str()).into_response()
}
