//! The most bytes that a body may have, by route.

use axum::extract::{MatchedPath, Request};

use super::KIB;

/// A template, as JSON or as the editor's form.
pub(crate) const MAX_BODY_BYTES: usize = 256 * KIB;
/// The form of an admin's list, with a line for each of 500 instances.
const BULK_BYTES: usize = 64 * KIB;
/// Everything else: a key, an expiry, a path to return to.
const SMALL_BYTES: usize = KIB;

/// The most bytes that a request's body may have. Where no route reads a body it does not matter.
pub(super) fn body_limit(request: &Request, base_path: &str) -> usize {
    let path = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    let resource = path.strip_prefix(base_path).unwrap_or(path).trim_end_matches('/');
    match resource {
        "/templates" | "/templates/{template_id}" | "/admin/templates" | "/admin/templates/{template_id}" => {
            MAX_BODY_BYTES
        }
        "/admin/instances/bulk" => BULK_BYTES,
        _ => SMALL_BYTES,
    }
}
