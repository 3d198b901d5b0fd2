//! From the API server's errors to the fleet's.

use crate::port::FleetError;

/// The status code that the API server has answered; `None` when it has not answered.
pub(super) fn code(error: &kube::Error) -> Option<u16> {
    match error {
        kube::Error::Api(status) => Some(status.code),
        _ => None,
    }
}

/// What an error means for the fleet: a spec that the API server finds invalid will never be accepted, everything else may
/// pass.
pub(super) fn refusal(error: &kube::Error) -> FleetError {
    let kube::Error::Api(status) = error else {
        return FleetError::Unavailable(format!("the API server cannot be reached: {}", innermost(error)));
    };
    match status.code {
        400 | 422 => FleetError::Refused(status.message.clone()),
        403 => FleetError::Unavailable(format!("{} (is deploy/rbac.yaml applied?)", status.message)),
        // The resource itself is unknown: one that is missing is never an error where it comes from.
        404 => FleetError::Unavailable(format!("{} (is crds/workshops.yaml applied?)", status.message)),
        _ => FleetError::Unavailable(format!("the API server answered {}: {}", status.code, status.message)),
    }
}

/// What is at the bottom of an error: the layers above only say that there is one.
fn innermost(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), innermost)
}
