//! Names of environment variables.

use super::field_error::Errors;
use super::rule::FieldRule;

const MAX_NAME: usize = 128;

/// Checks the name of an environment variable.
pub(super) fn check_variable(name: &str, pointer: &str, errors: &mut Errors) {
    let identifier = !name.is_empty()
        && name.len() <= MAX_NAME
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !identifier {
        errors.add(pointer, FieldRule::VariableName);
    } else if name == "DISABLE_AUTH" || name.starts_with("SERVICE_") {
        errors.add(pointer, FieldRule::VariableReserved);
    }
}
