//! Converts the API server's errors into [`FleetError`].

use launcher_domain::messages::innermost;

use crate::port::FleetError;

/// Returns the HTTP status code of the API server's response, or `None` if there was no response.
pub(super) fn status_code(error: &kube::Error) -> Option<u16> {
    match error {
        kube::Error::Api(status) => Some(status.code),
        _ => None,
    }
}

/// Converts an error. Only a spec that the API server rejects as invalid becomes a permanent refusal: every other error
/// is temporary.
pub(super) fn to_fleet_error(error: kube::Error) -> FleetError {
    let status = match error {
        kube::Error::Api(status) => status,
        error => return FleetError::Unavailable(format!("the API server cannot be reached: {}", innermost(&error))),
    };
    match status.code {
        400 | 422 => FleetError::Refused(status.message),
        // Exceeded quota is temporary: the end of another Workshop frees room in the quota.
        403 if status.message.contains("exceeded quota") => FleetError::Unavailable(status.message),
        403 => FleetError::Unavailable(format!("{} (is deploy/rbac.yaml applied?)", status.message)),
        // 404 here means that a CRD is missing: callers handle a missing object before this function.
        404 => FleetError::Unavailable(format!("{} (is crds/workshops.yaml applied?)", status.message)),
        _ => FleetError::Unavailable(format!("the API server answered {}: {}", status.code, status.message)),
    }
}

/// Converts the error of a request that could not be built, or of a response that could not be parsed.
pub(super) fn unavailable(error: &dyn std::error::Error) -> FleetError {
    FleetError::Unavailable(error.to_string())
}

#[cfg(test)]
mod tests {
    use kube::core::Status;

    use super::*;

    fn message_of(code: u16, message: &str) -> String {
        to_fleet_error(kube::Error::Api(Status::failure(message, "Forbidden").with_code(code).boxed())).to_string()
    }

    #[test]
    fn only_an_invalid_object_is_refused_for_ever() {
        for code in [400, 401, 403, 404, 409, 410, 422, 429, 500, 503, 504] {
            let error = to_fleet_error(kube::Error::Api(Status::failure("no", "Unknown").with_code(code).boxed()));
            assert_eq!(matches!(error, FleetError::Refused(_)), [400, 422].contains(&code), "{code}: {error}");
        }
    }

    #[test]
    fn exceeded_quota_is_not_reported_as_missing_permission() {
        const QUOTA: &str = "workshops is forbidden: exceeded quota: few, requested: count/workshops=1";
        assert!(message_of(403, QUOTA).ends_with(QUOTA), "{}", message_of(403, QUOTA));
        let right = "workshops is forbidden: User \"launcher\" cannot patch resource";
        assert!(message_of(403, right).ends_with("(is deploy/rbac.yaml applied?)"), "{}", message_of(403, right));
    }
}
