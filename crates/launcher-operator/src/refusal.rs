//! What the API server does not take for a Workshop.

use launcher_domain::{FailureCode, FailureReason};

use crate::apply::ApplyError;
use crate::diagnose::sentence;

/// How the cluster's rules say no. Whoever lacks a right is told so in other words, and that is no Workshop's fault.
const RULES: [&str; 2] = ["admission webhook", "ValidatingAdmissionPolicy"];

/// Why a Workshop cannot have what it wants, when it is for a quota, a rule of the cluster, or what it wants itself. All
/// else passes without it.
pub(crate) fn of_workshop(error: &ApplyError) -> Option<FailureReason> {
    let ApplyError::Apply { source: kube::Error::Api(status), .. } = error else { return None };
    let message = &status.message;
    let code = match status.code {
        403 if message.contains("exceeded quota") => FailureCode::QuotaExceeded,
        403 if !RULES.iter().any(|rule| message.contains(rule)) => return None,
        400 | 403 | 422 => FailureCode::InvalidSpec,
        _ => return None,
    };
    Some(FailureReason::new(code, Some(&sentence(message))))
}
