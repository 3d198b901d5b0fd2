//! Limits how often the operator writes the step of a start. The steps follow each other quickly, and each write costs
//! processor time of the API server: this delays the start if many Workshops start together. The status therefore lacks the
//! current step for some time. The more Workshops start together, the longer is this time.

use std::time::Duration;

use jiff::Timestamp;
use kube::ResourceExt;
use launcher_domain::Report;
use launcher_workshop::{Phase, Workshop, WorkshopStatus};

use crate::context::Context;

/// Time for which a status may lack the current step, if few Workshops start together.
const LEAST_DELAY: Duration = Duration::from_secs(2);
/// The same time, if many Workshops start together.
const MOST_DELAY: Duration = Duration::from_secs(15);
/// Part of the delay for each Workshop whose status lacks its step. A start takes about this processor time: see
/// `docs/performance.md`.
const DELAY_OF_ONE: Duration = Duration::from_millis(500);

/// Returns the time at which this operator first reconciled the Workshop, if the Workshop has no status yet, and
/// otherwise `now`.
pub(crate) fn unreported_since(workshop: &Workshop, context: &Context, now: Timestamp) -> Timestamp {
    if workshop.status.is_some() { now } else { context.unreported_steps.record(&workshop.name_any(), now) }
}

/// Returns how long the write of this status can still wait. Returns `None` if it must be written now: something
/// other than the step has changed, or the delay is over.
pub(crate) fn remaining_delay(
    workshop: &Workshop,
    status: &WorkshopStatus,
    context: &Context,
    now: Timestamp,
) -> Option<Duration> {
    let rest = || {
        let since = context.unreported_steps.record(&workshop.name_any(), now);
        let elapsed = Duration::try_from(now.duration_since(since)).ok()?;
        delay(context.unreported_steps.count()).checked_sub(elapsed).filter(|rest| !rest.is_zero())
    };
    let rest = if tells_only_another_step(workshop, status) { rest() } else { None };
    if rest.is_none() {
        context.unreported_steps.forget(&workshop.name_any());
    }
    rest
}

/// Returns the time for which a status may lack the current step, if this many Workshops lack theirs.
fn delay(unreported: usize) -> Duration {
    let delay = DELAY_OF_ONE.saturating_mul(u32::try_from(unreported).unwrap_or(u32::MAX));
    delay.clamp(LEAST_DELAY, MOST_DELAY)
}

/// True if the status differs from the one of the Workshop, but not in phase, generation, last crash or material.
fn tells_only_another_step(workshop: &Workshop, status: &WorkshopStatus) -> bool {
    let Some(known) = &workshop.status else {
        return status.phase == Phase::Starting && status.report.lasting() == Report::default();
    };
    let told = |of: &WorkshopStatus| (of.phase, of.observed_generation, of.report.lasting());
    status.phase == Phase::Starting && known != status && told(known) == told(status)
}
