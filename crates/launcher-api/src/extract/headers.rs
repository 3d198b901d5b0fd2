//! Headers that a few operations understand.

use http::{HeaderMap, HeaderName};

use crate::problem::Problem;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const LONGEST_KEY: usize = 255;

/// The Idempotency-Key, if there is one.
///
/// # Errors
/// 422 when it is not one line of 1–255 visible ASCII characters.
pub(crate) fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let mut lines = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(line) = lines.next() else { return Ok(None) };
    match line.to_str() {
        Ok(key) if is_idempotency_key(key) && lines.next().is_none() => Ok(Some(key.to_owned())),
        _ => Err(Problem::invalid_parameter("Idempotency-Key", "one line of 1 to 255 visible ASCII characters")),
    }
}

/// Whether a text can be the key of a launch, whoever sent it: each database stores such a one.
pub(crate) fn is_idempotency_key(text: &str) -> bool {
    (1..=LONGEST_KEY).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// The id of the last event that a client has seen. One that we never gave counts as none: everything is sent anew.
pub(crate) fn last_event_id(headers: &HeaderMap) -> Option<i64> {
    headers.get(LAST_EVENT_ID)?.to_str().ok()?.trim().parse().ok()
}
