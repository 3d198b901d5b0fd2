//! Readers of headers that only a few operations use.

use http::{HeaderMap, HeaderName};

use crate::problem::Problem;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const LONGEST_KEY: usize = 255;

/// Returns the Idempotency-Key, if present.
///
/// # Errors
/// 422 if the header is not one line of 1–255 visible ASCII characters.
pub(crate) fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let mut lines = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(line) = lines.next() else { return Ok(None) };
    match line.to_str() {
        Ok(key) if is_idempotency_key(key) && lines.next().is_none() => Ok(Some(key.to_owned())),
        _ => {
            Err(Problem::invalid_parameter("Idempotency-Key", "must be one line of 1 to 255 visible ASCII characters"))
        }
    }
}

/// Returns true if the text is a valid idempotency key, which every database can store. The header and the launch form
/// use the same rule.
pub(crate) fn is_idempotency_key(text: &str) -> bool {
    (1..=LONGEST_KEY).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Returns the id of the last event that the client received. A malformed id counts as absent, so the stream restarts
/// with all live instances.
pub(crate) fn last_event_id(headers: &HeaderMap) -> Option<i64> {
    headers.get(LAST_EVENT_ID)?.to_str().ok()?.trim().parse().ok()
}
