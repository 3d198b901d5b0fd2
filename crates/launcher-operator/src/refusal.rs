//! Classifies refused applies: caused by the Workshop or not.

use k8s_openapi::api::core::v1::Pod;
use kube::Resource;
use launcher_domain::{FailureCode, FailureReason};

use crate::apply::ApplyError;
use crate::diagnose::sentence;

/// Texts in the message of a refusal by an admission rule. A 403 for a missing permission of the operator has none of
/// them.
const RULES: [&str; 2] = ["admission webhook", "ValidatingAdmissionPolicy"];
/// Texts in the message of a 403 for which the Workshop is not the cause: missing permissions of the operator, and a
/// namespace that is being deleted. Every other 403 for a pod has a rule as its cause, such as Pod Security or a
/// LimitRange.
const NO_RULES: [&str; 3] = ["cannot create resource", "cannot set blockOwnerDeletion", "it is being terminated"];

/// Returns the failure if the Workshop causes the refusal: it exceeds a quota, violates an admission rule, or is
/// invalid. All other refusals are temporary, or the operator causes them.
pub(crate) fn of_workshop(error: &ApplyError) -> Option<FailureReason> {
    let ApplyError::Apply { kind, source: kube::Error::Api(status), .. } = error else { return None };
    let message = &status.message;
    let code = match status.code {
        403 if message.contains("exceeded quota") => FailureCode::QuotaExceeded,
        403 if !is_by_rule(kind, message) => return None,
        400 | 403 | 422 => FailureCode::InvalidSpec,
        _ => return None,
    };
    Some(FailureReason::new(code, Some(sentence(message).into())))
}

/// True if this refusal leaves the Workshop without a pod. It then also fails if it has been ready.
pub(crate) fn is_about_pod(error: &ApplyError) -> bool {
    matches!(error, ApplyError::Apply { kind, .. } if *kind == Pod::kind(&()))
}

fn is_by_rule(kind: &str, message: &str) -> bool {
    let has_one_of = |texts: &[&str]| texts.iter().any(|text| message.contains(text));
    has_one_of(&RULES) || (kind == Pod::kind(&()) && !has_one_of(&NO_RULES))
}
