//! Extractors for JSON bodies. A body must be declared as JSON, fit the size limit of its route, and have no unknown
//! fields. Errors have a JSON pointer.

use std::fmt;

use axum::extract::{FromRequest, Request};
use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use http_body::Body as _;
use http_body_util::BodyExt;
use launcher_domain::{FieldError, FieldRule};
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_path_to_error::Segment;

use super::{escaped, unescaped};
use crate::admission::{BodyLimit, MAX_BODY_BYTES};
use crate::problem::{Problem, ProblemCode};

const JSON: &str = "application/json";
const MERGE_PATCH: &str = "application/merge-patch+json";

pub(crate) trait RequestBody: DeserializeOwned {
    /// JSON pointers of the values that must be objects. Without this list, serde would accept arrays there as well.
    const OBJECTS: &'static [&'static str] = &[""];
    /// JSON pointers of the values that must be objects or `null`.
    const OPTIONAL_OBJECTS: &'static [&'static str] = &[];
}

impl RequestBody for Map<String, Value> {}

/// Extracts a JSON body that must be present.
#[derive(Debug)]
pub(crate) struct Json<T>(pub(crate) T);

/// Extracts a JSON merge patch (RFC 7396) of an object. The patch of any other value would replace the whole object.
#[derive(Debug)]
pub(crate) struct MergePatch(pub(crate) Map<String, Value>);

/// Extracts a JSON body that may be absent or `null`: the default value applies then.
#[derive(Debug)]
pub(crate) struct OptionalJson<T>(pub(crate) T);

impl<S: Send + Sync, T: RequestBody> FromRequest<S> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        required(request, &[JSON]).await.map(Self)
    }
}

impl<S: Send + Sync> FromRequest<S> for MergePatch {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        required(request, &[MERGE_PATCH, JSON]).await.map(Self)
    }
}

async fn required<T: RequestBody>(request: Request, media_types: &[&str]) -> Result<T, Problem> {
    let is_declared = is_media_type(request.headers(), media_types);
    let bytes = read(request).await?;
    if is_declared == Some(true) { parse(&bytes) } else { Err(wrong_media_type()) }
}

impl<S: Send + Sync, T: RequestBody + Default> FromRequest<S> for OptionalJson<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let is_json = is_media_type(request.headers(), &[JSON]);
        let bytes = read(request).await?;
        match is_json {
            Some(false) => Err(wrong_media_type()),
            _ if bytes.is_empty() => Ok(Self(T::default())),
            Some(true) if bytes.trim_ascii() == b"null" => Ok(Self(T::default())),
            Some(true) => parse(&bytes).map(Self),
            None => Err(wrong_media_type()),
        }
    }
}

/// Returns true if the Content-Type is one of these media types; `None` without a Content-Type.
fn is_media_type(headers: &HeaderMap, media_types: &[&str]) -> Option<bool> {
    let mut lines = headers.get_all(CONTENT_TYPE).iter();
    let line = lines.next()?.to_str().unwrap_or_default();
    let essence = line.split(';').next().unwrap_or_default().trim();
    let is_listed = media_types.iter().any(|media_type| essence.eq_ignore_ascii_case(media_type));
    Some(lines.next().is_none() && is_listed)
}

fn wrong_media_type() -> Problem {
    Problem::new(ProblemCode::UnsupportedMediaType, "Send the body as JSON, with Content-Type: application/json.")
}

fn malformed(detail: impl Into<String>) -> Problem {
    Problem::new(ProblemCode::MalformedBody, detail)
}

async fn read(request: Request) -> Result<Bytes, Problem> {
    let limit = request.extensions().get::<BodyLimit>().map_or(MAX_BODY_BYTES, |limit| limit.0);
    let mut body = request.into_body();
    if body.size_hint().lower() > limit as u64 {
        return Err(too_large(limit));
    }
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| malformed("The body is incomplete, or did not arrive within 30 seconds."))?;
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > limit {
            return Err(too_large(limit));
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes.freeze())
}

fn too_large(limit: usize) -> Problem {
    Problem::new(ProblemCode::BodyTooLarge, format!("The body is larger than {} KiB.", limit / 1024))
}

fn parse<T: RequestBody>(bytes: &[u8]) -> Result<T, Problem> {
    // Parse in two steps, to distinguish invalid JSON from valid JSON with the wrong fields.
    let UniqueKeys(value) = serde_json::from_slice(bytes).map_err(|error| malformed(format!("Not JSON: {error}.")))?;
    let is_other = |pointer: &str| value.pointer(pointer).is_some_and(|value| !value.is_object());
    let is_value = |pointer: &str| is_other(pointer) && value.pointer(pointer) != Some(&Value::Null);
    let misplaced = T::OBJECTS.iter().find(|pointer| is_other(pointer));
    let misplaced = misplaced.or_else(|| T::OPTIONAL_OBJECTS.iter().find(|pointer| is_value(pointer)));
    if let Some(pointer) = misplaced {
        return Err(Problem::invalid_fields(vec![FieldError::new(*pointer, FieldRule::Object)]));
    }
    typed(value).map_err(Problem::invalid_fields)
}

/// Deserializes an object. serde stops at the first error: the loop removes the wrong field, to find the errors of the others.
///
/// # Errors
/// All errors, each with its pointer.
fn typed<T: RequestBody>(mut value: Value) -> Result<T, Vec<FieldError>> {
    let mut errors: Vec<FieldError> = Vec::new();
    loop {
        let error = match serde_path_to_error::deserialize::<&Value, T>(&value) {
            Ok(body) if errors.is_empty() => return Ok(body),
            Ok(_) => return Err(errors),
            Err(error) => error,
        };
        let message = error.inner().to_string();
        let pointer = json_pointer(error.path(), &message);
        let field = unescaped(pointer.split('/').nth(1).unwrap_or_default());
        let is_reported = |error: &FieldError| error.pointer.split('/').nth(1) == pointer.split('/').nth(1);
        if !errors.iter().any(is_reported) {
            errors.push(FieldError::new(pointer, FieldRule::of_serde(&message)));
        }
        if value.as_object_mut().and_then(|object| object.remove(&field)).is_none() {
            return Err(errors);
        }
    }
}

/// Returns the location of an error as a JSON pointer. serde names a missing or unknown field only in the error's
/// message.
fn json_pointer(path: &serde_path_to_error::Path, message: &str) -> String {
    let mut segments: Vec<String> = path.iter().filter_map(segment).collect();
    let starts = ["missing field `", "unknown field `"];
    let named = starts.into_iter().find_map(|start| message.strip_prefix(start)?.split_once('`'));
    if let Some((name, _)) = named.filter(|(name, _)| segments.last().is_none_or(|last| last != name)) {
        segments.push(name.to_owned());
    }
    segments.iter().map(|segment| format!("/{}", escaped(segment))).collect()
}

fn segment(segment: &Segment) -> Option<String> {
    match segment {
        Segment::Seq { index } => Some(index.to_string()),
        Segment::Map { key } => Some(key.clone()),
        Segment::Enum { .. } | Segment::Unknown => None,
    }
}

/// A JSON value without repeated fields, at any depth. Two programs may read a repeated field differently, and an
/// attacker could use that difference.
#[derive(Debug)]
struct UniqueKeys(Value);

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor).map(Self)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    /// Converts 8.0 to the integer 8, as JSON Schema and JavaScript do, up to 2^53, where floats stop being exact.
    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if value.fract() == 0.0 && value.abs() < EXACT {
            return Ok(Value::from(value as i64));
        }
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number is out of range"))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(UniqueKeys(item)) = items.next_element()? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((name, UniqueKeys(value))) = fields.next_entry::<String, UniqueKeys>()? {
            if object.insert(name, value).is_some() {
                return Err(A::Error::custom("a field is named twice"));
            }
        }
        Ok(Value::Object(object))
    }
}
