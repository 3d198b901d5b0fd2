//! Derives the status from the applied and observed state. Pure: a status is never edited.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use launcher_domain::{FailureCode, FailureReason, StartStep};
pub(crate) use launcher_workshop::READY;
use launcher_workshop::{Phase, Workshop, WorkshopStatus};

use crate::apply::Applied;
use crate::diagnose::{Diagnosis, Failure};
use crate::settings::Exposure;

/// Condition that is true while the Workshop is exposed.
pub(crate) const EXPOSED: &str = "Exposed";

/// The status of a Workshop whose workload was applied.
#[must_use]
pub(crate) fn of_applied(
    workshop: &Workshop,
    applied: &Applied,
    diagnosis: &Diagnosis,
    log_tail: Option<String>,
    now: Timestamp,
) -> WorkshopStatus {
    let Applied { url, exposure, .. } = applied;
    let before = PreviousStatus::of(workshop);
    let exposed = match exposure {
        Exposure::Ingress => before.condition(EXPOSED, true, "IngressApplied", "", now),
        Exposure::External => before.condition(EXPOSED, true, "RoutedElsewhere", "", now),
        Exposure::None => before.condition(
            EXPOSED,
            false,
            "NoGate",
            "No Ingress was made: the operator's settings name no gate in front of it.",
            now,
        ),
    };
    match diagnosis {
        Diagnosis::Ready => WorkshopStatus {
            phase: Phase::Running,
            url: url.clone(),
            ready_at: before.ready_at.or(Some(now)),
            observed_generation: before.generation,
            conditions: vec![before.condition(READY, true, "Answers", "", now), exposed],
            ..WorkshopStatus::default()
        },
        Diagnosis::Waiting { step, until: _, stuck_pod: _ } => WorkshopStatus {
            observed_generation: before.generation,
            conditions: vec![before.condition(READY, false, "Starting", step.as_str(), now), exposed],
            ..WorkshopStatus::starting(*step, before.ready_at)
        },
        Diagnosis::Failed(Failure { reason, evidence: _ }) => failed(workshop, reason, log_tail, now),
    }
}

/// The status of a Workshop whose apply is refused for now.
#[must_use]
pub(crate) fn refused(workshop: &Workshop, reason: &FailureReason, now: Timestamp) -> WorkshopStatus {
    let before = PreviousStatus::of(workshop);
    let step = match reason.code {
        FailureCode::QuotaExceeded => StartStep::WaitingForRoom,
        _ => StartStep::Preparing,
    };
    WorkshopStatus {
        observed_generation: before.generation,
        conditions: vec![before.condition(READY, false, "Refused", &reason.message, now)],
        ..WorkshopStatus::starting(step, before.ready_at)
    }
}

/// The status of a failed Workshop.
#[must_use]
pub(crate) fn failed(
    workshop: &Workshop,
    reason: &FailureReason,
    log_tail: Option<String>,
    now: Timestamp,
) -> WorkshopStatus {
    let before = PreviousStatus::of(workshop);
    WorkshopStatus {
        ready_at: before.ready_at,
        observed_generation: before.generation,
        conditions: vec![before.condition(READY, false, "Failed", &reason.message, now)],
        ..WorkshopStatus::failed(reason.clone(), log_tail)
    }
}

/// The status of an expired Workshop.
#[must_use]
pub(crate) fn expired(workshop: &Workshop, now: Timestamp) -> WorkshopStatus {
    let before = PreviousStatus::of(workshop);
    WorkshopStatus {
        phase: Phase::Expired,
        ready_at: before.ready_at,
        observed_generation: before.generation,
        conditions: vec![before.condition(READY, false, "Expired", "Its time was up.", now)],
        ..WorkshopStatus::default()
    }
}

/// When the wait for readiness began: when the Workshop was first reported as not ready, or last stopped being ready,
/// which may be `now`. It is never earlier than the creation of the Deployment, so time without an operator, or with an
/// invalid spec, does not count.
#[must_use]
pub(crate) fn waiting_since(workshop: &Workshop, applied: &Applied, now: Timestamp) -> Timestamp {
    let made = applied.deployment.as_ref().and_then(|made| made.metadata.creation_timestamp.as_ref());
    let mut conditions = workshop.status.iter().flat_map(|status| &status.conditions);
    let ended = conditions.find(|one| one.type_ == READY && one.status != "True");
    let (made, ended) = (made.map_or(now, |time| time.0), ended.map_or(now, |one| one.last_transition_time.0));
    made.max(ended)
}

/// The previous status.
struct PreviousStatus<'a> {
    ready_at: Option<Timestamp>,
    generation: Option<i64>,
    conditions: &'a [Condition],
}

impl<'a> PreviousStatus<'a> {
    fn of(workshop: &'a Workshop) -> Self {
        let status = workshop.status.as_ref();
        Self {
            ready_at: status.and_then(|status| status.ready_at),
            generation: workshop.metadata.generation,
            conditions: status.map_or(&[], |status| &status.conditions),
        }
    }

    /// Builds a condition. Its last transition time changes only with its status.
    fn condition(&self, kind: &str, holds: bool, reason: &str, message: &str, now: Timestamp) -> Condition {
        let status = if holds { "True" } else { "False" };
        let since = self.conditions.iter().find(|one| one.type_ == kind && one.status == status);
        Condition {
            type_: kind.to_owned(),
            status: status.to_owned(),
            reason: reason.to_owned(),
            message: message.to_owned(),
            last_transition_time: since.map_or(Time(now), |one| one.last_transition_time.clone()),
            observed_generation: self.generation,
        }
    }
}

#[cfg(test)]
mod tests;
