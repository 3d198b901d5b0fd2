//! Delays the first status of a Workshop. In the first second of a start, the steps follow each other quickly. To write
//! each of them costs processor time of the API server, and delays the start if many Workshops start together.

use std::time::Duration;

use jiff::Timestamp;
use kube::ResourceExt;
use launcher_workshop::{Phase, Workshop, WorkshopStatus};

use crate::context::Context;

/// Delay of the first status, if it only reports a step of the start.
const DELAY: Duration = Duration::from_secs(1);

/// Returns the time at which this operator first reconciled the Workshop, if the Workshop has no status yet, and
/// otherwise `now`.
pub(crate) fn unreported_since(workshop: &Workshop, context: &Context, now: Timestamp) -> Timestamp {
    let name = workshop.name_any();
    if workshop.status.is_none() {
        return context.unreported.record(&name, now);
    }
    context.unreported.forget(&name);
    now
}

/// Returns the remaining delay of this status. Returns `None` if the status must be written now: the Workshop already has
/// a status, the delay is over, or the status reports more than a step.
pub(crate) fn remaining_delay(
    workshop: &Workshop,
    status: &WorkshopStatus,
    since: Timestamp,
    now: Timestamp,
) -> Option<Duration> {
    let is_step = status.phase == Phase::Starting && status.last_crash.is_none() && status.material.is_none();
    let elapsed = Duration::try_from(now.duration_since(since)).ok()?;
    DELAY.checked_sub(elapsed).filter(|rest| workshop.status.is_none() && is_step && !rest.is_zero())
}
