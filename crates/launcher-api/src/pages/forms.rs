//! Extractors for forms and queries, and redirects within this site.

use axum::Form;
use axum::extract::{FromRequest, FromRequestParts, Multipart, RawForm, Request};
use axum::response::{IntoResponse, Redirect, Response};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use launcher_domain::local_path::LocalPath;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::pages::Language;
use crate::problem::{Problem, ProblemCode};

/// Extracts the fields of a form. The types of the fields refuse unknown fields.
#[derive(Debug)]
pub(crate) struct Fields<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Fields<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let t = Language::of(request.headers());
        let form = Form::from_request(request, state).await;
        form.map(|Form(fields)| Self(fields)).map_err(|rejection| unreadable(t, rejection.status()))
    }
}

/// Maximum number of fields of a form with a list: several for each of 1,000 members. Each field costs memory beside its bytes.
const MAX_FIELDS: usize = 8000;

/// Extracts the fields of a form that may have a file: a browser sends it as `multipart/form-data`.
#[derive(Debug, Default)]
pub(crate) struct Upload {
    fields: Vec<(String, String)>,
    /// Content of the file; empty if the reader chose none.
    pub(crate) file: Bytes,
}

impl Upload {
    /// Returns the value of a field; empty if the form has no such field.
    pub(crate) fn field(&self, name: &str) -> &str {
        self.all(name).next().unwrap_or_default()
    }

    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.fields.iter().filter(move |(field, _)| field == name).map(|(_, value)| value.as_str())
    }
}

impl<S: Send + Sync> FromRequest<S> for Upload {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let t = Language::of(request.headers());
        let kind = request.headers().get(CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
        if !kind.starts_with(b"multipart/form-data") {
            let RawForm(body) =
                RawForm::from_request(request, state).await.map_err(|rejection| unreadable(t, rejection.status()))?;
            let fields: Vec<_> = form_urlencoded::parse(&body).into_owned().take(MAX_FIELDS + 1).collect();
            if fields.len() > MAX_FIELDS {
                return Err(unreadable(t, StatusCode::PAYLOAD_TOO_LARGE));
            }
            return Ok(Self { fields, file: Bytes::new() });
        }
        let parts = Multipart::from_request(request, state).await;
        let mut parts = parts.map_err(|rejection| unreadable(t, rejection.status()))?;
        let mut upload = Self::default();
        while let Some(part) = parts.next_field().await.map_err(|error| unreadable(t, error.status()))? {
            let (name, is_file) = (part.name().unwrap_or_default().to_owned(), part.file_name().is_some());
            let value = part.bytes().await.map_err(|error| unreadable(t, error.status()))?;
            if is_file {
                upload.file = value;
            } else {
                upload.fields.push((name, String::from_utf8_lossy(&value).into_owned()));
            }
            if upload.fields.len() > MAX_FIELDS {
                return Err(unreadable(t, StatusCode::PAYLOAD_TOO_LARGE));
            }
        }
        Ok(upload)
    }
}

fn unreadable(t: Language, status: StatusCode) -> Problem {
    let (code, detail) = match status {
        StatusCode::PAYLOAD_TOO_LARGE => (ProblemCode::BodyTooLarge, t.text("form-too-large")),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => (ProblemCode::UnsupportedMediaType, t.text("form-of-another-kind")),
        StatusCode::UNPROCESSABLE_ENTITY => (ProblemCode::InvalidFields, t.text("form-of-another-page")),
        _ => (ProblemCode::MalformedBody, t.text("form-unreadable")),
    };
    Problem::new(code, detail)
}

#[derive(Debug)]
pub(crate) struct Query<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let t = Language::of(&parts.headers);
        let query = axum::extract::Query::from_request_parts(parts, state).await;
        query
            .map(|query| Self(query.0))
            .map_err(|_| Problem::new(ProblemCode::InvalidParameters, t.text("bad-address")))
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct AfterQuery {
    /// The last row of the previous page. An unreadable value selects the first page.
    #[serde(default)]
    pub(crate) after: String,
}

/// The form of a button without other values, and the query of its confirmation page.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReturnForm {
    return_to: Option<String>,
}

impl ReturnForm {
    pub(crate) fn path(&self) -> LocalPath {
        return_to(self.return_to.as_deref())
    }
}

/// Returns the path to open next: the sent path if it is a path of this site, else the start page. Any other text
/// (`//evil`, `/\evil`, `javascript:`) could lead to another site.
pub(crate) fn return_to(sent: Option<&str>) -> LocalPath {
    sent.and_then(LocalPath::parse).unwrap_or_else(LocalPath::root)
}

/// Redirects with `303 See Other`. The browser loads the next page with GET, so a reload does not repeat the action.
/// `url` is a path of this site or the URL of a workshop. Never pass a URL from a request.
pub(crate) fn redirect(url: &str) -> Response {
    Redirect::to(url).into_response()
}
