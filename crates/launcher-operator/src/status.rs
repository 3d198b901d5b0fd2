//! Derives the status of a Workshop from its previous status, the applied resources and the diagnosis. Pure.

pub(crate) mod failure_details;
pub(crate) mod write;

use std::net::SocketAddr;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use launcher_domain::frame_path::frame_url;
use launcher_domain::{FailureCode, FailureReason, Report, StartStep};
pub(crate) use launcher_workshop::READY;
use launcher_workshop::{Phase, Workshop, WorkshopStatus};

use crate::apply::Applied;
use crate::diagnose::{Diagnosis, Failure};
use crate::settings::Exposure;

/// Reason of the condition `Ready` while the Workshop waits for a quota.
const WAITING_FOR_QUOTA: &str = "WaitingForQuota";
/// Type of the condition that is true while the Workshop is exposed.
pub(crate) const EXPOSED: &str = "Exposed";

/// Returns the status of a Workshop whose resources were applied.
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
            "No Ingress: the operator's settings name no auth middleware.",
            now,
        ),
    };
    match diagnosis {
        Diagnosis::Ready => WorkshopStatus {
            phase: Phase::Running,
            report: Report { url: url.clone(), frame_url: url.as_deref().map(frame_url), ..before.report.clone() },
            ready_at: before.ready_at.or(Some(now)),
            restarted_at: workshop.spec.restarted_at,
            observed_generation: before.generation,
            conditions: vec![before.condition(READY, true, "Answers", "", now), exposed],
            ..WorkshopStatus::default()
        },
        Diagnosis::Waiting { step, until: _, stuck_pod: _, silent_pod: _ } => WorkshopStatus {
            restarted_at: workshop.spec.restarted_at,
            observed_generation: before.generation,
            conditions: vec![before.condition(READY, false, "Starting", step.as_str(), now), exposed],
            ..WorkshopStatus::starting(*step, before.ready_at).after(&before.report)
        },
        Diagnosis::Failed(Failure { reason, details: _ }) => failed(workshop, reason, log_tail, now),
    }
}

/// Restores the exposure of the previous status, because the Service or the Ingress was refused.
pub(crate) fn with_previous_exposure(status: WorkshopStatus, workshop: &Workshop) -> WorkshopStatus {
    let before = PreviousStatus::of(workshop);
    let previous = before.conditions.iter().filter(|one| one.type_ == EXPOSED).cloned();
    let others = status.conditions.into_iter().filter(|one| one.type_ != EXPOSED);
    WorkshopStatus { conditions: others.chain(previous).collect(), ..status }
}

/// Adds the expiry, which is known since the Workshop was first ready.
pub(crate) fn with_expiry(status: WorkshopStatus, expiry: Option<Timestamp>) -> WorkshopStatus {
    WorkshopStatus { expires_at: expiry.filter(|_| status.ready_at.is_some()), ..status }
}

/// Adds the address at which the launcher reads the files of a running app.
pub(crate) fn with_archive_address(status: WorkshopStatus, address: Option<SocketAddr>) -> WorkshopStatus {
    WorkshopStatus { archive_address: address.filter(|_| status.phase == Phase::Running), ..status }
}

/// Adds the address at which the pod of a starting app waits for saved files.
pub(crate) fn with_restore_address(status: WorkshopStatus, address: Option<SocketAddr>) -> WorkshopStatus {
    WorkshopStatus { restore_address: address.filter(|_| status.phase == Phase::Starting), ..status }
}

/// Adds that the pod differs from the one that the operator would create now.
pub(crate) fn with_outdated_pod(status: WorkshopStatus) -> WorkshopStatus {
    WorkshopStatus { pod_outdated: Some(true), ..status }
}

/// Returns the status of a starting Workshop while the API server refuses its resources.
pub(crate) fn refused(workshop: &Workshop, reason: &FailureReason, now: Timestamp) -> WorkshopStatus {
    let step = match reason.code {
        FailureCode::QuotaExceeded => StartStep::WaitingForRoom,
        _ => StartStep::Preparing,
    };
    not_ready(workshop, step, "Refused", &reason.message, now)
}

/// Returns the status of a Workshop that waits for the quota of its class's namespace.
pub(crate) fn waiting_for_quota(workshop: &Workshop, reason: &FailureReason, now: Timestamp) -> WorkshopStatus {
    not_ready(workshop, StartStep::WaitingForQuota, WAITING_FOR_QUOTA, &reason.message, now)
}

/// Returns the status of a Workshop whose pod is gone, while the operator cannot create the next one.
pub(crate) fn without_pod(workshop: &Workshop, now: Timestamp) -> WorkshopStatus {
    not_ready(workshop, StartStep::Preparing, "NoPod", "The operator cannot create the pod.", now)
}

/// Returns the status of a Workshop that waits until the pod of another Workshop is gone, which uses its volume.
pub(crate) fn waiting_for_volume(workshop: &Workshop, message: &str, now: Timestamp) -> WorkshopStatus {
    not_ready(workshop, StartStep::Preparing, "VolumeInUse", message, now)
}

fn not_ready(workshop: &Workshop, step: StartStep, why: &str, message: &str, now: Timestamp) -> WorkshopStatus {
    let before = PreviousStatus::of(workshop);
    WorkshopStatus {
        observed_generation: before.generation,
        conditions: vec![before.condition(READY, false, why, message, now)],
        ..WorkshopStatus::starting(step, before.ready_at).after(&before.report)
    }
}

pub(crate) fn failed(
    workshop: &Workshop,
    reason: &FailureReason,
    log_tail: Option<String>,
    now: Timestamp,
) -> WorkshopStatus {
    failed_after(&PreviousStatus::of(workshop), reason.clone(), log_tail, now)
}

fn failed_after(
    before: &PreviousStatus<'_>,
    reason: FailureReason,
    log_tail: Option<String>,
    now: Timestamp,
) -> WorkshopStatus {
    WorkshopStatus {
        ready_at: before.ready_at,
        observed_generation: before.generation,
        conditions: vec![before.condition(READY, false, "Failed", &reason.message, now)],
        ..WorkshopStatus::failed(reason, log_tail).after(&before.report)
    }
}

/// Returns the status of a Workshop whose spec cannot be parsed. `previous` is its status, `None` if there is none or if it
/// cannot be parsed either.
pub(crate) fn unreadable(
    previous: Option<&WorkshopStatus>,
    generation: Option<i64>,
    reason: FailureReason,
    now: Timestamp,
) -> WorkshopStatus {
    failed_after(&PreviousStatus::new(previous, generation), reason, None, now)
}

pub(crate) fn expired(workshop: &Workshop, now: Timestamp) -> WorkshopStatus {
    let before = PreviousStatus::of(workshop);
    WorkshopStatus {
        phase: Phase::Expired,
        report: before.report.clone(),
        ready_at: before.ready_at,
        observed_generation: before.generation,
        conditions: vec![before.condition(READY, false, "Expired", "The workshop's lifetime is over.", now)],
        ..WorkshopStatus::default()
    }
}

/// Returns the time at which the wait for readiness began: when the operator first handled the Workshop, or when the
/// Workshop last lost its readiness. The time is `now` if the status reports neither yet. It is never
/// earlier than the creation of the workload. Time without an operator or with an invalid spec thus does not count.
pub(crate) fn waiting_since(workshop: &Workshop, applied: &Applied, now: Timestamp) -> Timestamp {
    let mut conditions = workshop.status.iter().flat_map(|status| &status.conditions);
    let ended = conditions.find(|one| one.type_ == READY && one.status != "True");
    // A Workshop that has been ready can lose its Service. Its wait does not begin again at each reconcile.
    let was_ready = workshop.status.as_ref().is_some_and(|status| status.ready_at.is_some());
    let created = applied.created.or(was_ready.then_some(Timestamp::MIN));
    created.unwrap_or(now).max(ended.map_or(now, |one| one.last_transition_time.0))
}

/// The parts of the previous status from which the next status is derived.
struct PreviousStatus<'a> {
    ready_at: Option<Timestamp>,
    /// The fields that every phase keeps.
    report: Report,
    generation: Option<i64>,
    conditions: &'a [Condition],
}

impl<'a> PreviousStatus<'a> {
    fn of(workshop: &'a Workshop) -> Self {
        Self::new(workshop.status.as_ref(), workshop.metadata.generation)
    }

    fn new(status: Option<&'a WorkshopStatus>, generation: Option<i64>) -> Self {
        Self {
            ready_at: status.and_then(|status| status.ready_at),
            report: status.map(|status| status.report.lasting()).unwrap_or_default(),
            generation,
            conditions: status.map_or(&[], |status| &status.conditions),
        }
    }

    /// Builds a condition. Keeps the last transition time of the previous condition if its status is the same. The end of the
    /// wait for a quota is a transition: the start timeout begins then.
    fn condition(&self, kind: &str, holds: bool, reason: &str, message: &str, now: Timestamp) -> Condition {
        let status = if holds { "True" } else { "False" };
        let waits = |reason: &str| reason == WAITING_FOR_QUOTA;
        let is_same =
            |one: &&Condition| one.type_ == kind && one.status == status && waits(&one.reason) == waits(reason);
        let since = self.conditions.iter().find(is_same);
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
