//! Instance: one launched workshop, its states and transitions, and its end reason.

use jiff::Timestamp;
use uuid::Uuid;

use crate::email::EmailAddress;
use crate::failure::FailureReason;
use crate::lifetime;
use crate::start_step::StartStep;
use crate::template::TemplateSettings;

/// Lifecycle state of an instance.
///
/// ```text
/// queued, starting or running -> the next state in the order starting, running
/// starting or running         -> failed: the workload and the quota are freed; listed until dismissed
/// starting or running         -> terminated, if the Workshop disappears: lost
/// terminate                   -> queued: terminated; starting, running or failed: terminating, then terminated
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InstanceState {
    /// Stored, waiting in the queue.
    Queued,
    /// Its Workshop exists or will soon; not ready yet.
    Starting,
    /// Ready: its owner can work in it.
    Running,
    /// The workload is being removed.
    Terminating,
    /// The workload is gone.
    Terminated,
    /// The instance failed; `reason` gives the cause.
    Failed,
}

impl InstanceState {
    /// All states, in lifecycle order.
    pub const ALL: [Self; 6] =
        [Self::Queued, Self::Starting, Self::Running, Self::Terminating, Self::Terminated, Self::Failed];

    /// Returns the state as stored and sent.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Terminating => "terminating",
            Self::Terminated => "terminated",
            Self::Failed => "failed",
        }
    }

    /// Parses a state.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }

    /// True when the Workshop of the instance should exist.
    #[must_use]
    pub fn wants_workshop(self) -> bool {
        matches!(self, Self::Starting | Self::Running)
    }
}

/// Why an instance ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EndReason {
    /// The owner ended it.
    Owner,
    /// An admin ended it.
    Admin,
    /// It expired.
    Expired,
    /// It failed and was dismissed.
    Failed,
    /// Its Workshop was deleted by an outside actor.
    Lost,
}

impl EndReason {
    /// All reasons.
    pub const ALL: [Self; 5] = [Self::Owner, Self::Admin, Self::Expired, Self::Failed, Self::Lost];

    /// Returns the reason as stored and sent.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Admin => "admin",
            Self::Expired => "expired",
            Self::Failed => "failed",
            Self::Lost => "lost",
        }
    }

    /// Parses a reason.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == text)
    }
}

/// One launched workshop, as stored in its row.
#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    /// Sorts by launch time (UUID version 7).
    pub instance_id: Uuid,
    /// Name in URL paths, and name of the Workshop.
    pub k8s_name: String,
    /// The person who launched it.
    pub owner_email: EmailAddress,
    /// Template that it was launched from.
    pub template_id: Uuid,
    /// Copy of the template's settings at launch: later edits never change a running workshop.
    pub settings: TemplateSettings,
    /// Lifecycle state.
    pub state: InstanceState,
    /// Current step of the start; set only while starting, after the fleet's first report.
    pub start_step: Option<StartStep>,
    /// Failure reason.
    pub reason: Option<FailureReason>,
    /// The last lines of a crashed app.
    pub log_tail: Option<String>,
    /// URL where the owner uses it; null until running.
    pub url: Option<String>,
    /// When it was launched.
    pub created_at: Timestamp,
    /// When it left the queue.
    pub dispatched_at: Option<Timestamp>,
    /// When it first became ready. Its lifetime starts here.
    pub started_at: Option<Timestamp>,
    /// Expiry; null before it was ready.
    pub expires_at: Option<Timestamp>,
    /// When its workload was gone.
    pub ended_at: Option<Timestamp>,
    /// End reason; set as soon as the end is decided.
    pub end_reason: Option<EndReason>,
    /// Version of the desired Workshop: incremented at each change (start, ready, extend, end).
    pub spec_version: i64,
    /// The `spec_version` last applied by the fleet; 0 before the first apply.
    pub applied_version: i64,
    /// UID of its Workshop, once the fleet has answered.
    pub workshop_uid: Option<String>,
    /// Grows with each change of any row. Event streams resume from it.
    pub revision: i64,
}

/// Status of a Workshop as reported by the fleet, in domain terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    /// Phase of the Workshop.
    pub phase: ObservedPhase,
    /// URL of the workshop.
    pub url: Option<String>,
    /// When it first became ready.
    pub ready_at: Option<Timestamp>,
    /// The last lines of a crashed app.
    pub log_tail: Option<String>,
}

/// Phase of a Workshop in the fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ObservedPhase {
    /// Not ready yet; with the start step, if the fleet reports it.
    Starting(Option<StartStep>),
    /// Ready.
    Running,
    /// It failed.
    Failed(FailureReason),
    /// It expired, and the fleet has terminated the workload.
    Expired,
}

impl Observation {
    /// A failure found by the service itself.
    #[must_use]
    pub fn of_failure(reason: FailureReason) -> Self {
        Self { phase: ObservedPhase::Failed(reason), url: None, ready_at: None, log_tail: None }
    }
}

impl Instance {
    /// True while it counts against its owner's limit: until its workload is gone.
    ///
    /// A failed instance stops counting at once. Dismissing it does not make it count again.
    #[must_use]
    pub fn counts_against_limit(&self) -> bool {
        use InstanceState::{Queued, Running, Starting, Terminating};
        matches!(self.state, Queued | Starting | Running | Terminating) && self.end_reason != Some(EndReason::Failed)
    }

    /// Returns the instance after the fleet's report `seen`; `None` when the report changes nothing.
    ///
    /// A late report does not revive an instance whose end is decided (terminating, terminated, failed).
    #[must_use]
    pub fn observe(&self, seen: &Observation) -> Option<Self> {
        if !self.state.wants_workshop() {
            return None;
        }
        let mut next = Self { start_step: None, ..self.clone() };
        match &seen.phase {
            ObservedPhase::Starting(step) if self.state == InstanceState::Starting => next.start_step = *step,
            ObservedPhase::Starting(_) => return None,
            ObservedPhase::Running => {
                next.state = InstanceState::Running;
                next.url.clone_from(&seen.url);
                if next.started_at.is_none() {
                    next.started_at = seen.ready_at;
                    next.expires_at = seen.ready_at.map(|ready| lifetime::first_expiry(ready, &self.settings));
                    // The expiry is known now, so the Workshop's spec gets it.
                    next.spec_version += 1;
                }
            }
            ObservedPhase::Failed(reason) => {
                next.state = InstanceState::Failed;
                next.reason = Some(reason.clone());
                next.log_tail.clone_from(&seen.log_tail);
                next.url = None;
                next.end_reason = Some(EndReason::Failed);
                next.spec_version += 1;
            }
            ObservedPhase::Expired => {
                next.state = InstanceState::Terminating;
                next.end_reason = Some(EndReason::Expired);
                next.url = None;
                next.spec_version += 1;
            }
        }
        (next != *self).then_some(next)
    }

    /// Returns the terminated instance; `None` when it is already terminating or terminated.
    ///
    /// A queued instance is terminated at once, because it has no Workshop. A failed instance is dismissed and keeps
    /// `failed` as its end reason.
    #[must_use]
    pub fn terminate(&self, by: EndReason, now: Timestamp) -> Option<Self> {
        let mut next = Self { start_step: None, ..self.clone() };
        match self.state {
            InstanceState::Terminating | InstanceState::Terminated => return None,
            InstanceState::Queued => {
                next.state = InstanceState::Terminated;
                next.end_reason = Some(by);
                next.ended_at = Some(now);
            }
            InstanceState::Starting | InstanceState::Running => {
                next.state = InstanceState::Terminating;
                next.end_reason = Some(by);
                next.url = None;
                next.spec_version += 1;
            }
            InstanceState::Failed => {
                next.state = InstanceState::Terminating;
                next.end_reason = Some(EndReason::Failed);
                next.spec_version += 1;
            }
        }
        Some(next)
    }

    /// Returns the instance after its Workshop is known to be gone; `None` when that changes nothing.
    ///
    /// If its end was not decided before, an outside actor deleted the Workshop: end reason `lost`.
    #[must_use]
    pub fn workshop_gone(&self, now: Timestamp) -> Option<Self> {
        let mut next = Self { start_step: None, ..self.clone() };
        match self.state {
            InstanceState::Queued | InstanceState::Terminated | InstanceState::Failed => return None,
            InstanceState::Terminating => {}
            InstanceState::Starting | InstanceState::Running => next.end_reason = Some(EndReason::Lost),
        }
        next.state = InstanceState::Terminated;
        next.url = None;
        next.ended_at = Some(now);
        Some(next)
    }
}
