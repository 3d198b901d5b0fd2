//! Strict extractors: they refuse input that they do not understand, instead of ignoring it.

mod headers;
mod json;
mod query;

pub(crate) use crate::extract::headers::{IfMatch, etag, is_unchanged};
pub(crate) use crate::extract::query::{
    InstanceName, JoinCode, MemberEmail, SnapshotId, TemplateId, VolumeName, path_part,
};
pub(crate) use headers::{LONGEST_KEY, idempotency_key, is_idempotency_key, last_event_id};
pub(crate) use json::{Json, MergePatch, OptionalJson, RequestBody};
pub(crate) use query::{ListQuery, MAX_LIMIT, list_page};
