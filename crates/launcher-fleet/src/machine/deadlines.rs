//! Waits for the deadlines of a Workshop: the start timeout, and the end of the lifetime.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use launcher_domain::{Clock, FailureCode, FailureReason, StartStep};
use launcher_workshop::WorkshopStatus;
use launcher_workshop::lifecycle::{Action, App, Deadline, Decision, Failure, Start, Workload, decide};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval};

use super::record::{Process, StoredRecord, ready};

/// Polling interval. A timer for the expiry would miss changes of the clock and a suspended machine.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// The deadline that ends a Workshop.
#[derive(Debug)]
pub(crate) enum Passed {
    /// The lifetime is over: the final status.
    Lifetime(Box<WorkshopStatus>),
    /// The start timeout.
    StartTimeout,
}

/// Waits until the app has not answered for the start timeout, or until the lifetime is over. The timeout counts from now,
/// by the monotonic clock: it does not count while the machine is suspended. Reads the expiry again at each poll, because an
/// extension changes it. Calls `poll` at each poll.
pub(crate) async fn wait_until_late<P: Process, F: Future<Output = ()>>(
    record: &Arc<StoredRecord<P>>,
    clock: &dyn Clock,
    limit: Duration,
    poll: impl Fn() -> F,
) -> Passed {
    let end = Instant::now() + limit;
    let observe = |now: Timestamp| {
        let rest =
            SignedDuration::try_from(end.saturating_duration_since(Instant::now())).unwrap_or(SignedDuration::MAX);
        let failure = Failure { details: Some(()), ..FailureReason::new(FailureCode::StartTimeout, None).into() };
        let deadline = Deadline { at: now.checked_add(rest).unwrap_or(Timestamp::MAX), failure };
        Workload::of(App::Starting(Start { deadlines: vec![deadline], ..Start::at(StartStep::StartingApp) }))
    };
    let mut ticks = ticks();
    loop {
        ticks.tick().await;
        let now = clock.now();
        if let Some(passed) = passed(decide(&record.workshop(), observe(now).into(), now)) {
            return passed;
        }
        poll().await;
    }
}

/// Waits until the lifetime of a running workshop is over, and keeps its status up to date after an extension. Calls `poll` at
/// each poll.
pub(crate) async fn wait_until_expired<P: Process, F: Future<Output = ()>>(
    record: &Arc<StoredRecord<P>>,
    clock: &dyn Clock,
    poll: impl Fn() -> F,
) -> Passed {
    let mut ticks = ticks();
    loop {
        ticks.tick().await;
        let urls = record.get().status().report;
        if let Some(passed) = passed(record.observe(ready(urls), clock.now()).await) {
            return passed;
        }
        poll().await;
    }
}

fn ticks() -> Interval {
    let mut ticks = interval(POLL_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

fn passed(Decision { status, action }: Decision) -> Option<Passed> {
    match action {
        Action::Explain(_) => Some(Passed::StartTimeout),
        Action::End => Some(Passed::Lifetime(Box::new(status))),
        Action::Start | Action::Restart | Action::WaitUntil(_) | Action::SaveUntil(_) => None,
    }
}
