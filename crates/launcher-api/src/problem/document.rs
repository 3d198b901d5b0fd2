//! The document of a problem (RFC 9457).

use launcher_domain::FieldError;
use serde::Serialize;

use super::catalog::ProblemCode;
use super::response::Problem;

/// The media type of problem documents.
pub(crate) const PROBLEM_JSON: &str = "application/problem+json";

/// A problem as the service sends it (RFC 9457).
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
    detail: String,
}

impl<'a> ProblemDocument<'a> {
    /// Creates the document of a problem. A `not-found` document has no request id: the answer for another user's
    /// instance must be the same as for a missing one.
    pub(crate) fn new(problem: &'a Problem, base_path: &str, request_id: &'a str) -> Self {
        let code = problem.code;
        let field = |error: &'a FieldError| FieldDocument { pointer: &error.pointer, detail: error.detail() };
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
