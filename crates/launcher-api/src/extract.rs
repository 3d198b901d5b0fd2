//! Strict extractors: they refuse input that they do not understand, instead of ignoring it.

mod conditional;
mod headers;
mod json;
mod path;
mod query;
mod unique;

pub(crate) use conditional::{IfMatch, IfMatchParameter, etag, is_unchanged};
pub(crate) use headers::{idempotency_key, is_idempotency_key, last_event_id};
pub(crate) use json::{Json, MergePatch, OptionalJson};
pub(crate) use path::{InstanceName, SnapshotId, TemplateId, VolumeName};
pub(crate) use query::{ListQuery, PageParameters, next_page, with_link};
