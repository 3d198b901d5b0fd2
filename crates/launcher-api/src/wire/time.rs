//! Times in responses.

use jiff::Timestamp;

/// Formats a time for responses: RFC 3339, UTC, milliseconds.
pub(crate) fn rfc3339(at: Timestamp) -> String {
    format!("{at:.3}")
}
