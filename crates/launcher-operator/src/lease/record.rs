//! Reads and changes the content of a Lease. Pure.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use tokio::time::Instant;

/// The decision of an operator about a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseDecision {
    /// Take or renew the lease: this operator holds it, no operator holds it, or it has expired.
    Take,
    /// Wait: another operator holds the lease.
    Wait,
}

/// The last seen content of another operator's lease, and the time on this operator's monotonic clock when it changed.
#[derive(Debug, Default)]
pub struct ObservedLease(Option<(LeaseSpec, Instant)>);

impl ObservedLease {
    /// Decides whether the operator `me` may take the lease. The lease of another operator counts as expired after `me`
    /// has seen it unchanged for its whole duration.
    pub fn decide(&mut self, lease: &Lease, me: &str, now: Instant) -> LeaseDecision {
        let spec = lease.spec.clone().unwrap_or_default();
        if matches!(spec.holder_identity.as_deref(), None | Some("")) || spec.holder_identity.as_deref() == Some(me) {
            return LeaseDecision::Take;
        }
        let duration = u64::try_from(spec.lease_duration_seconds.unwrap_or(0)).unwrap_or(0);
        match &self.0 {
            Some((seen, since)) if *seen == spec => {
                if now.duration_since(*since) > Duration::from_secs(duration) {
                    LeaseDecision::Take
                } else {
                    LeaseDecision::Wait
                }
            }
            _ => {
                self.0 = Some((spec, now));
                LeaseDecision::Wait
            }
        }
    }
}

/// Returns the holder of a lease.
pub(super) fn holder(lease: &Lease) -> Option<&str> {
    lease.spec.as_ref()?.holder_identity.as_deref()
}

/// Writes `me` as the holder, or renews the lease if `me` holds it already.
pub(super) fn take(lease: &mut Lease, me: &str, duration: Duration, now: Timestamp) {
    let changes_hands = holder(lease) != Some(me);
    let spec = lease.spec.get_or_insert_default();
    if changes_hands {
        spec.acquire_time = Some(MicroTime(now));
        spec.lease_transitions = Some(spec.lease_transitions.map_or(0, |count| count.saturating_add(1)));
    }
    spec.holder_identity = Some(me.to_owned());
    spec.lease_duration_seconds = Some(i32::try_from(duration.as_secs()).unwrap_or(i32::MAX));
    spec.renew_time = Some(MicroTime(now));
}

/// Removes the holder, so that another operator can take the lease at once.
pub(super) fn release(lease: &mut Lease, now: Timestamp) {
    let spec = lease.spec.get_or_insert_default();
    spec.holder_identity = Some(String::new());
    spec.lease_duration_seconds = Some(1);
    spec.renew_time = Some(MicroTime(now));
}
