//! Strict extractors: they refuse input that they do not understand, instead of ignoring it.

mod headers;
mod json;
mod query;

pub(crate) use headers::{
    IfMatch, LONGEST_KEY, etag, idempotency_key, is_idempotency_key, is_unchanged, last_event_id,
};
pub(crate) use json::{Json, MergePatch, OptionalJson, RequestBody};
pub(crate) use query::{
    InstanceName, JoinCode, ListQuery, MAX_LIMIT, MemberEmail, SnapshotId, TemplateId, VolumeName, list_page, path_part,
};

/// Escapes a name for a JSON pointer (RFC 6901).
pub(crate) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Returns the name in a segment of a JSON pointer.
pub(crate) fn unescaped(segment: &str) -> String {
    segment.replace("~1", "/").replace("~0", "~")
}
