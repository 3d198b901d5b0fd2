//! Readers of headers that only a few operations use: idempotency keys, event ids, and conditional requests (RFC 9110,
//! section 13).

use axum::extract::FromRequestParts;
use http::header::{IF_MATCH, IF_NONE_MATCH};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue};
use launcher_service::ServiceError;
use uuid::Uuid;

use crate::problem::{Problem, ProblemCode};
use crate::state::Call;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
pub(crate) const LONGEST_KEY: usize = 255;

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

/// Returns the strong ETag of a template version: the version number in quotes.
pub(crate) fn etag(version: i64) -> HeaderValue {
    // Digits and quotes are always a valid header value.
    HeaderValue::from_str(&quoted(version)).unwrap_or_else(|_| HeaderValue::from_static("\"0\""))
}

fn quoted(version: i64) -> String {
    format!("\"{version}\"")
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum IfMatch {
    /// Any version: If-Match is absent, or `*`.
    Any,
    /// The current version's tag must equal one of these tags from the header.
    Tags(Vec<String>),
}

impl IfMatch {
    /// Returns the version that If-Match requires, if any. The update itself checks the version again. Weak tags never match.
    ///
    /// # Errors
    /// 412 with this code if the resource has another version.
    pub(crate) fn required(&self, version: i64, mismatch: ProblemCode) -> Result<Option<i64>, Problem> {
        let Self::Tags(tags) = self else { return Ok(None) };
        let current = quoted(version);
        let detail = format!("The current version is {current}. Read the resource again, and repeat the change.");
        if tags.contains(&current) { Ok(Some(version)) } else { Err(Problem::new(mismatch, detail)) }
    }

    /// Returns the template version that If-Match requires, if any. The update itself checks the version again. Weak
    /// tags never match.
    ///
    /// # Errors
    /// 404 if the template does not exist, 412 if it has another version, 503 if the database is unavailable.
    pub(crate) async fn expected_version(&self, call: &Call, template_id: Uuid) -> Result<Option<i64>, Problem> {
        let Self::Tags(tags) = self else { return Ok(None) };
        let version = call.launcher.template(&call.caller, template_id).await?.version;
        if tags.contains(&quoted(version)) { Ok(Some(version)) } else { Err(ServiceError::VersionMismatch.into()) }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for IfMatch {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let any = !parts.headers.contains_key(IF_MATCH);
        let tags = tags(&parts.headers, &IF_MATCH);
        Ok(if any || tags == ["*"] { Self::Any } else { Self::Tags(tags) })
    }
}

/// Returns true if the client already has this version: If-None-Match contains its tag, weak or strong, or `*`.
pub(crate) fn is_unchanged(headers: &HeaderMap, version: i64) -> bool {
    let current = quoted(version);
    tags(headers, &IF_NONE_MATCH).iter().any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == current)
}

/// Returns the entity tags in all lines of a header. Splits also at a comma inside a tag, which is harmless: our tags
/// contain only digits.
fn tags(headers: &HeaderMap, name: &HeaderName) -> Vec<String> {
    let lines = headers.get_all(name).iter().map(|line| String::from_utf8_lossy(line.as_bytes()).into_owned());
    lines.flat_map(|line| line.split(',').map(|tag| tag.trim().to_owned()).collect::<Vec<_>>()).collect()
}
