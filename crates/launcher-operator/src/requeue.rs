//! Time until the next reconcile of a Workshop if nothing changes.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;

use crate::diagnose::Diagnosis;
use crate::workload::{LEAST_AGE, has_ended};

/// Resync interval.
pub(crate) const RESYNC_INTERVAL: Duration = Duration::from_secs(600);

/// Returns the time until the end of the workload or the next deadline of the diagnosis. It is at most [`RESYNC_INTERVAL`], and at most
/// [`LEAST_AGE`] if a pod has ended.
pub(crate) fn delay(diagnosis: &Diagnosis, end: Option<Timestamp>, pods: &[Pod], now: Timestamp) -> Duration {
    let deadline = match diagnosis {
        Diagnosis::Waiting { until, .. } => Some(*until),
        Diagnosis::Ready | Diagnosis::Failed(_) => None,
    };
    let most = if pods.iter().any(has_ended) { LEAST_AGE } else { RESYNC_INTERVAL };
    let next = deadline.into_iter().chain(end).min();
    next.map_or(most, |next| Duration::try_from(next.duration_since(now)).unwrap_or_default().min(most))
}
