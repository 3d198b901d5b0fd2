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
        // There will be room when others have ended.
        403 if status.message.contains("exceeded quota") => FleetError::Unavailable(status.message.clone()),
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

#[cfg(test)]
mod tests {
    use kube::core::Status;

    use super::*;

    fn told(code: u16, message: &str) -> String {
        refusal(&kube::Error::Api(Status::failure(message, "Forbidden").with_code(code).boxed())).to_string()
    }

    #[test]
    fn a_quota_is_not_taken_for_a_missing_right() {
        const QUOTA: &str = "workshops is forbidden: exceeded quota: few, requested: count/workshops=1";
        assert!(told(403, QUOTA).ends_with(QUOTA), "{}", told(403, QUOTA));
        let right = "workshops is forbidden: User \"launcher\" cannot patch resource";
        assert!(told(403, right).ends_with("(is deploy/rbac.yaml applied?)"), "{}", told(403, right));
    }
}
