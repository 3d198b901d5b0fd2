//! Reading and writing a Lease. Pure.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use tokio::time::Instant;

/// What a lease says to somebody who wants it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is ours, free, or has run out.
    Take,
    /// Somebody holds it.
    Wait,
}

/// Since when a lease has not changed, on our own clock.
#[derive(Debug, Default)]
pub struct Watched(Option<(LeaseSpec, Instant)>);

impl Watched {
    /// Whether `me` may take the lease. Another's runs out when it has been seen unchanged for its whole duration.
    pub fn verdict(&mut self, lease: &Lease, me: &str, now: Instant) -> Verdict {
        let spec = lease.spec.clone().unwrap_or_default();
        if matches!(spec.holder_identity.as_deref(), None | Some("")) || spec.holder_identity.as_deref() == Some(me) {
            return Verdict::Take;
        }
        let duration = u64::try_from(spec.lease_duration_seconds.unwrap_or(0)).unwrap_or(0);
        match &self.0 {
            Some((seen, since)) if *seen == spec => {
                if now.duration_since(*since) > Duration::from_secs(duration) {
                    Verdict::Take
                } else {
                    Verdict::Wait
                }
            }
            _ => {
                self.0 = Some((spec, now));
                Verdict::Wait
            }
        }
    }
}

/// Who holds a lease.
pub(super) fn holder(lease: &Lease) -> Option<&str> {
    lease.spec.as_ref()?.holder_identity.as_deref()
}

/// Writes `me` as the holder; a renewal when it is already.
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

/// Writes that nobody holds it.
pub(super) fn release(lease: &mut Lease, now: Timestamp) {
    let spec = lease.spec.get_or_insert_default();
    spec.holder_identity = Some(String::new());
    spec.lease_duration_seconds = Some(1);
    spec.renew_time = Some(MicroTime(now));
}
