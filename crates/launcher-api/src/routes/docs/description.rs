//! The description of the API, for the OpenAPI document and the page that shows it.

/// Description of the API, in Markdown.
pub(crate) const DESCRIPTION: &str = "Launches short-lived workshops from a shared catalog.\n\nBodies are JSON in snake_case. Times are RFC 3339 in UTC, \
     durations are in seconds. Each path works with and without a trailing slash. HEAD works wherever GET does. Lists are \
     arrays, newest first. If more entries exist, the header `Link` has the next page (`rel=\"next\"`). Errors are problem \
     documents (RFC 9457); see `/problems`. Every response has the request's id in `X-Request-Id`.";
