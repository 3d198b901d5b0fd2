//! Extractors for identifiers in paths. A malformed identifier gets the same 404 as an identifier that does not exist.

use axum::extract::{FromRequestParts, Path};
use http::request::Parts;
use launcher_domain::names::{is_k8s_name, is_volume_name};
use uuid::Uuid;

use crate::problem::Problem;

/// Extracts the instance name `{k8s_name}` from a path.
#[derive(Debug)]
pub(crate) struct InstanceName(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for InstanceName {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let name = Path::<String>::from_request_parts(parts, state).await.map(|Path(name)| name);
        name.ok().filter(|name| is_k8s_name(name)).map(Self).ok_or_else(Problem::not_found)
    }
}

/// Extracts the volume name `{volume}` from a path.
#[derive(Debug)]
pub(crate) struct VolumeName(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for VolumeName {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let name = Path::<String>::from_request_parts(parts, state).await.map(|Path(name)| name);
        name.ok().filter(|name| is_volume_name(name)).map(Self).ok_or_else(Problem::not_found)
    }
}

/// Extracts the template's id `{template_id}` from a path.
#[derive(Debug)]
pub(crate) struct TemplateId(pub(crate) Uuid);

impl<S: Send + Sync> FromRequestParts<S> for TemplateId {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        uuid(parts, state).await.map(Self)
    }
}

/// Extracts the snapshot's id `{snapshot_id}` from a path.
#[derive(Debug)]
pub(crate) struct SnapshotId(pub(crate) Uuid);

impl<S: Send + Sync> FromRequestParts<S> for SnapshotId {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        uuid(parts, state).await.map(Self)
    }
}

/// Extracts the only identifier of a path, a UUID.
async fn uuid<S: Send + Sync>(parts: &mut Parts, state: &S) -> Result<Uuid, Problem> {
    let text = Path::<String>::from_request_parts(parts, state).await.map(|Path(text)| text);
    text.ok().and_then(|text| hyphenated(&text)).ok_or_else(Problem::not_found)
}

/// Parses a UUID in its hyphenated form (RFC 9562, section 4), in upper or lower case.
pub(crate) fn hyphenated(text: &str) -> Option<Uuid> {
    Uuid::try_parse(text).ok().filter(|_| text.len() == uuid::fmt::Hyphenated::LENGTH)
}
