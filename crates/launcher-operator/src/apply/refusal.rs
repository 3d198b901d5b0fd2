//! Errors of applying and deleting resources, and their classification: caused by the Workshop or not.

use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod};
use kube::Resource;
use launcher_domain::quantity::Quantity;
use launcher_domain::{FailureCode, FailureReason};
use launcher_workshop::MANAGED_BY_LABEL;

use crate::diagnose::sentence;
use crate::lease::NotLeading;

#[derive(Debug, thiserror::Error)]
pub(crate) enum ApplyError {
    #[error(transparent)]
    NotLeading(#[from] NotLeading),
    #[error("failed to apply the {kind} {name}: {source}")]
    Apply { kind: String, name: String, source: kube::Error },
    #[error("failed to read the {kind} {name}: {source}")]
    Read { kind: String, name: String, source: kube::Error },
    /// A claim with the name of the volume exists, and the operator did not create it.
    #[error(
        "the PersistentVolumeClaim {name} does not have the label managed-by: workshop-launcher; only volumes with it are mounted"
    )]
    ForeignClaim { name: String },
    #[error("the volume {volume} is in use by the workshop {user}")]
    VolumeInUse { volume: String, user: String },
    #[error("failed to delete the {kind} {name}: {source}")]
    Delete { kind: String, name: String, source: kube::Error },
}

impl ApplyError {
    pub(super) fn apply(kind: &str, name: &str) -> impl Fn(kube::Error) -> Self {
        move |source| Self::Apply { kind: kind.to_owned(), name: name.to_owned(), source }
    }

    pub(super) fn read(kind: &str, name: &str) -> impl Fn(kube::Error) -> Self {
        move |source| Self::Read { kind: kind.to_owned(), name: name.to_owned(), source }
    }

    pub(super) fn delete(kind: &str, name: &str) -> impl Fn(kube::Error) -> Self {
        move |source| Self::Delete { kind: kind.to_owned(), name: name.to_owned(), source }
    }
}

/// Texts in the message of a refusal by an admission rule. A 403 for a missing permission of the operator has none of
/// them.
const RULES: [&str; 2] = ["admission webhook", "ValidatingAdmissionPolicy"];
/// Texts in the message of a 403 for which the Workshop is not the cause: missing permissions of the operator, and a
/// namespace that is being deleted. Every other 403 for a pod or its claim has a rule as its cause, such as Pod Security or a
/// LimitRange.
const NO_RULES: [&str; 3] = ["cannot create resource", "cannot set blockOwnerDeletion", "it is being terminated"];

/// Returns the failure if the Workshop causes the refusal: it exceeds a quota, violates an admission rule, names a foreign
/// claim or a volume in use, or is invalid. All other refusals are temporary, or the operator causes them.
pub(crate) fn of_workshop(error: &ApplyError) -> Option<FailureReason> {
    let (kind, status) = match error {
        ApplyError::Apply { kind, source: kube::Error::Api(status), .. } => (kind, status),
        ApplyError::ForeignClaim { name } => return Some(foreign_claim(name)),
        ApplyError::VolumeInUse { volume, user } => return Some(volume_in_use(volume, user)),
        _ => return None,
    };
    let message = &status.message;
    let code = match status.code {
        403 if message.contains("exceeded quota") => FailureCode::QuotaExceeded,
        403 if !is_by_rule(kind, message) => return None,
        400 | 403 | 422 => FailureCode::InvalidSpec,
        _ => return None,
    };
    Some(FailureReason::new(code, Some(sentence(message).into())))
}

/// True if the quota of the namespace has no room for the pod now, but has room after the end of other pods.
pub(crate) fn waits_for_quota(error: &ApplyError) -> bool {
    match error {
        ApplyError::Apply { kind, source: kube::Error::Api(status), .. } => {
            *kind == Pod::kind(&()) && status.code == 403 && has_room_later(&status.message)
        }
        _ => false,
    }
}

/// Reads the message of the quota's admission plugin, as in `exceeded quota: class, requested: pods=1, used: pods=4, limited:
/// pods=4`. False for another message, and for a request beyond the quota itself.
fn has_room_later(message: &str) -> bool {
    // A new quota refuses all pods until its use is counted.
    if message.contains("status unknown for quota: ") {
        return true;
    }
    let Some((_, amounts)) = message.split_once("exceeded quota: ") else { return false };
    let Some((_, amounts)) = amounts.split_once("requested: ") else { return false };
    let Some((requested, amounts)) = amounts.split_once(", used: ") else { return false };
    let Some((_, limited)) = amounts.split_once(", limited: ") else { return false };
    let amounts = |text: &str| -> Vec<(String, u128)> {
        let pairs = text.split(',').filter_map(|pair| pair.trim().split_once('='));
        pairs.filter_map(|(name, amount)| Some((name.to_owned(), milli(amount)?))).collect()
    };
    let limited = amounts(limited);
    let is_beyond = |(name, amount): &(String, u128)| limited.iter().any(|(of, limit)| of == name && amount > limit);
    !amounts(requested).iter().any(is_beyond)
}

fn milli(amount: &str) -> Option<u128> {
    if amount == "0" { Some(0) } else { Quantity::parse(amount).ok().map(|amount| amount.milli()) }
}

/// True if this refusal leaves the Workshop without a pod. It then also fails if it has been ready.
pub(crate) fn is_about_pod(error: &ApplyError) -> bool {
    match error {
        ApplyError::Apply { kind, .. } | ApplyError::Read { kind, .. } => is_needed_by_pod(kind),
        ApplyError::ForeignClaim { .. } | ApplyError::VolumeInUse { .. } => true,
        ApplyError::NotLeading(_) | ApplyError::Delete { .. } => false,
    }
}

fn is_needed_by_pod(kind: &str) -> bool {
    kind == Pod::kind(&()) || kind == PersistentVolumeClaim::kind(&())
}

fn is_by_rule(kind: &str, message: &str) -> bool {
    let has_one_of = |texts: &[&str]| texts.iter().any(|text| message.contains(text));
    has_one_of(&RULES) || (is_needed_by_pod(kind) && !has_one_of(&NO_RULES))
}

// These details have no translations. The volumes of the launcher have random names, and it launches no second workshop
// with a volume in use: both failures need a Workshop that an administrator created, or a pod that outlived its Workshop.

fn foreign_claim(name: &str) -> FailureReason {
    let detail = format!(
        "spec.storage.volume names the PersistentVolumeClaim {name}, which does not have the label \
         managed-by: {MANAGED_BY_LABEL}."
    );
    FailureReason::new(FailureCode::InvalidSpec, Some(detail.into()))
}

fn volume_in_use(volume: &str, user: &str) -> FailureReason {
    let detail = format!("The volume {volume} is still in use by the workshop {user}.");
    FailureReason::new(FailureCode::StartTimeout, Some(detail.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_quota_has_room_later_unless_the_request_exceeds_it() {
        let of =
            |amounts: &str| has_room_later(&format!("pods \"lab-a\" is forbidden: exceeded quota: class, {amounts}"));
        assert!(of("requested: pods=1, used: pods=4, limited: pods=4"));
        assert!(of("requested: pods=1,requests.cpu=500m, used: pods=4,requests.cpu=4, limited: pods=4,requests.cpu=4"));
        assert!(!of(
            "requested: limits.memory=8Gi,pods=1, used: limits.memory=0,pods=4, limited: limits.memory=4Gi,pods=4"
        ));
        assert!(!of("requested: pods=1, used: pods=0, limited: pods=0"));
        assert!(has_room_later("pods \"lab-a\" is forbidden: status unknown for quota: class, resources: pods"));
        assert!(!has_room_later("pods \"lab-a\" is forbidden: maximum cpu usage per Container is 1"));
    }
}
