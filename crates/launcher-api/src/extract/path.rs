//! Identifiers in paths. A malformed identifier gets the same 404 as one that does not exist.

use axum::extract::{FromRequestParts, Path};
use http::request::Parts;
use launcher_domain::names::is_k8s_name;
use uuid::Uuid;

use crate::problem::Problem;
use crate::state::AppState;

/// The `{k8s_name}` of a path.
#[derive(Debug)]
pub(crate) struct InstanceName(pub(crate) String);

impl FromRequestParts<AppState> for InstanceName {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        let name = Path::<String>::from_request_parts(parts, state).await.map(|Path(name)| name);
        name.ok().filter(|name| is_k8s_name(name)).map(Self).ok_or_else(Problem::not_found)
    }
}

/// The `{template_id}` of a path.
#[derive(Debug)]
pub(crate) struct TemplateId(pub(crate) Uuid);

impl FromRequestParts<AppState> for TemplateId {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        let text = Path::<String>::from_request_parts(parts, state).await.map(|Path(text)| text);
        let id = text.ok().and_then(|text| hyphenated(&text));
        id.map(Self).ok_or_else(Problem::not_found)
    }
}

/// Parses a UUID in its hyphenated form (RFC 9562, section 4), in upper or lower case.
pub(crate) fn hyphenated(text: &str) -> Option<Uuid> {
    Uuid::try_parse(text).ok().filter(|_| text.len() == uuid::fmt::Hyphenated::LENGTH)
}
