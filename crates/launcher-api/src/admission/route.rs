//! Maximum size of a request body, by route.

use axum::extract::{MatchedPath, Request};

use super::KIB;

/// For a template, as JSON or as the editor's form.
pub(crate) const MAX_BODY_BYTES: usize = 256 * KIB;
/// For the bulk form of the admin's list, with one entry for each of 500 instances.
const BULK_BYTES: usize = 64 * KIB;
/// For everything else: a key, an expiry, a return path.
const SMALL_BYTES: usize = KIB;

/// Returns the maximum size of a request's body, in bytes. It has no effect on routes that read no body.
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
