//! Read-only fields of a template in a request. A client may send them back as it has read them.

use launcher_domain::{FieldError, FieldRule};
use serde_json::{Map, Value};

use crate::problem::Problem;

/// Fields of a template that only the service sets.
pub(super) const READ_ONLY: [&str; 5] = ["template_id", "version", "created_by", "created_at", "updated_at"];

/// Removes the read-only fields from a body. `current` is the template as the API sends it.
///
/// # Errors
/// 422 if a read-only field differs from the current value.
pub(super) fn remove(body: &mut Map<String, Value>, current: &Value) -> Result<(), Problem> {
    let mut errors = Vec::new();
    for field in READ_ONLY {
        if body.remove(field).is_some_and(|sent| sent != current[field]) {
            errors.push(FieldError::new(format!("/{field}"), FieldRule::ReadOnly));
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(Problem::invalid_fields(errors)) }
}
