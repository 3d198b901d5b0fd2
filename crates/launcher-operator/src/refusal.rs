//! Classifies refused applies: caused by the Workshop or not.

use launcher_domain::{FailureCode, FailureReason};

use crate::apply::ApplyError;
use crate::diagnose::sentence;

/// Texts in the message of a refusal by an admission rule. A 403 for a missing permission of the operator has neither
/// text.
const RULES: [&str; 2] = ["admission webhook", "ValidatingAdmissionPolicy"];

/// Returns the failure if the Workshop causes the refusal: it exceeds a quota, violates an admission rule, or is
/// invalid. All other refusals are temporary, or the operator causes them.
pub(crate) fn of_workshop(error: &ApplyError) -> Option<FailureReason> {
    let ApplyError::Apply { source: kube::Error::Api(status), .. } = error else { return None };
    let message = &status.message;
    let code = match status.code {
        403 if message.contains("exceeded quota") => FailureCode::QuotaExceeded,
        403 if !RULES.iter().any(|rule| message.contains(rule)) => return None,
        400 | 403 | 422 => FailureCode::InvalidSpec,
        _ => return None,
    };
    Some(FailureReason::new(code, Some(sentence(message).into())))
}
