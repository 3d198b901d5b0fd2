//! Pod template of a template: a partial Kubernetes PodTemplateSpec, as JSON. `launcher-workshop` knows its fields.

use serde_json::Value;

use super::field::JsonObject;

/// A partial Kubernetes PodTemplateSpec.
pub type PodTemplateObject = JsonObject;

/// Maximum size as JSON, in bytes.
const MAX_BYTES: usize = 32 * 1024;

/// Removes all `null` values, which mean the same as absent fields to Kubernetes. Returns `None` for an empty object.
pub(super) fn without_nulls(mut object: PodTemplateObject) -> Option<PodTemplateObject> {
    clean(&mut object);
    (!object.is_empty()).then_some(object)
}

/// True if the JSON text of a pod template has at most 32 KiB, and no text contains NUL, which PostgreSQL refuses.
#[must_use]
pub fn is_storable_pod_template(object: &PodTemplateObject) -> bool {
    let has_nul = object.iter().any(|(name, value)| name.contains('\0') || has_nul(value));
    !has_nul && serde_json::to_string(object).is_ok_and(|json| json.len() <= MAX_BYTES)
}

fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(has_nul),
        Value::Object(object) => object.iter().any(|(name, value)| name.contains('\0') || has_nul(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn clean(object: &mut PodTemplateObject) {
    object.retain(|_, value| !value.is_null());
    object.values_mut().for_each(clean_value);
}

fn clean_value(value: &mut Value) {
    match value {
        Value::Object(object) => clean(object),
        Value::Array(items) => {
            items.retain(|item| !item.is_null());
            items.iter_mut().for_each(clean_value);
        }
        _ => {}
    }
}
