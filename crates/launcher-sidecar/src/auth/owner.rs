//! Checks that a request comes from the workshop's owner.

use launcher_domain::identity::IdentityError;

use crate::auth::rules::Rules;
use crate::refusal::Reason;

/// Checks that the request's headers carry the owner's identity, and the proxy secret if the policy requires one.
pub(crate) fn check(rules: &Rules, headers: &[httparse::Header<'_>]) -> Result<(), Reason> {
    let lines = headers.iter().map(|header| (header.name.as_bytes(), header.value));
    let policy = &rules.policy;
    let error = match policy.trusted_header.read_verified(policy.proxy_secret.as_ref(), lines) {
        Ok(identity) if policy.owner.as_ref() == Some(&identity) => return Ok(()),
        Ok(_) => None,
        Err(error) => Some(error),
    };
    let reports_as_unproven = error == Some(IdentityError::Unproven) && rules.count_unproven();
    if !policy.require_authentication {
        rules.report_mismatch(error);
        return Ok(());
    }
    if reports_as_unproven {
        tracing::warn!(
            "refusing request: X-Auth-Request-Proof is missing or wrong. Either the request bypassed the auth proxy, \
             or the auth proxy sends a secret that SERVICE_PROXY_SECRET_FILE does not contain"
        );
    }
    tracing::debug!(reason = error.map(tracing::field::display), "refusing request without the owner's identity");
    Err(match error {
        Some(IdentityError::Missing) => Reason::NoIdentity,
        _ => Reason::NotTheOwner,
    })
}
