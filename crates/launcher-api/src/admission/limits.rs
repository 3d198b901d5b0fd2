//! Limits in bytes: for the request body of each route, and for all bodies together.

use axum::extract::{MatchedPath, Request};

const KIB: usize = 1024;

/// Memory budget for the request bodies of all requests together.
pub(super) const REQUEST_BYTES: usize = 8 * KIB * KIB;
/// Memory budget for the large responses to all requests together.
pub(super) const RESPONSE_BYTES: usize = 24 * KIB * KIB;
/// Size in bytes from which a response counts as large. The limit on connections bounds the memory of smaller
/// responses.
pub(super) const LARGE_RESPONSE: usize = 8 * KIB;

/// Maximum memory held by request bodies and large responses.
pub const BUFFERED_BYTES: usize = REQUEST_BYTES + RESPONSE_BYTES;

/// Maximum size of a template in a request body, as JSON or as the editor's form.
pub(crate) const MAX_BODY_BYTES: usize = 256 * KIB;
/// Maximum body of the bulk form in the admins' list, with one entry for each of 500 instances.
const BULK_BYTES: usize = 64 * KIB;
/// Maximum body of the form with the addresses of a class: 500 addresses with names.
const ROSTER_BYTES: usize = 128 * KIB;
/// Maximum body of the forms of pages with a long return path: the path of a list with its filter, encoded twice.
const RETURN_BYTES: usize = 8 * KIB;
/// Maximum body of a launch: the URL of a repository with 2,048 characters, and its reference and folder with 255, as a form
/// with up to 12 bytes for each character.
const LAUNCH_BYTES: usize = 32 * KIB;
/// Maximum body of all other routes. Such a body contains at most a key, an expiry or a short return path.
const SMALL_BYTES: usize = KIB;

/// Returns the maximum size of a request's body, in bytes. Routes that read no body ignore it.
pub(super) fn body_limit(request: &Request, base_path: &str) -> usize {
    let path = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    let resource = path.strip_prefix(base_path).unwrap_or(path).trim_end_matches('/');
    match resource {
        "/templates" | "/templates/{template_id}" | "/admin/templates" | "/admin/templates/{template_id}" => {
            MAX_BODY_BYTES
        }
        "/admin/instances/bulk" => BULK_BYTES,
        "/admin/templates/{template_id}/class" => ROSTER_BYTES,
        "/templates/{template_id}/launch" | "/launch/{template_id}" => LAUNCH_BYTES,
        "/language" | "/instances/{k8s_name}/end" => RETURN_BYTES,
        _ => SMALL_BYTES,
    }
}
