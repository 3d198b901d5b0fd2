//! One launched workshop: its states, how it moves between them, and why it ended.

use jiff::Timestamp;
use uuid::Uuid;

use crate::email::EmailAddress;
use crate::failure::FailureReason;
use crate::lifetime;
use crate::start_step::StartStep;
use crate::template::TemplateSettings;

/// Where an instance stands.
///
/// ```text
/// queued -> starting -> running -> terminating -> terminated
///    |          |          |            ^
///    |          +--> failed <-+         |      failed: workload and quota are freed, listed until dismissed
///    +----------------------------------+      terminate is accepted in every state
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InstanceState {
    /// Stored, waiting in line for its start.
    Queued,
    /// Its Workshop exists or is about to; not ready yet.
    Starting,
    /// Ready: its owner can work in it.
    Running,
    /// Its workload is on the way out.
    Terminating,
    /// Nothing of it runs any more.
    Terminated,
    /// It could not go on; the reason says why.
    Failed,
}

impl InstanceState {
    /// All of them, in the order of a life.
    pub const ALL: [Self; 6] =
        [Self::Queued, Self::Starting, Self::Running, Self::Terminating, Self::Terminated, Self::Failed];

    /// The state as it is stored and sent.
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

    /// Reads a state.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }

    /// Whether its Workshop should exist.
    #[must_use]
    pub fn wants_workshop(self) -> bool {
        matches!(self, Self::Starting | Self::Running)
    }
}

/// Why an instance ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EndReason {
    /// Its owner ended it.
    Owner,
    /// An admin ended it.
    Admin,
    /// Its time was up.
    Expired,
    /// It failed, and was dismissed.
    Failed,
    /// Its Workshop was deleted from outside.
    Lost,
}

impl EndReason {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Owner, Self::Admin, Self::Expired, Self::Failed, Self::Lost];

    /// The reason as it is stored and sent.
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

    /// Reads a reason.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == text)
    }
}

/// One launched workshop, as its row says.
#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    /// Sorts by the time of the launch (UUID version 7).
    pub instance_id: Uuid,
    /// The name in paths, and of the Workshop.
    pub k8s_name: String,
    /// Who launched it.
    pub owner_email: EmailAddress,
    /// From which template.
    pub template_id: Uuid,
    /// The template's settings as they were at the launch: later edits never change a running workshop.
    pub settings: TemplateSettings,
    /// Where it stands.
    pub state: InstanceState,
    /// How far its start is; only while it starts, and once the fleet has told.
    pub start_step: Option<StartStep>,
    /// Why it failed.
    pub reason: Option<FailureReason>,
    /// The last lines of a crashed app.
    pub log_tail: Option<String>,
    /// Where its owner works in it; null until running.
    pub url: Option<String>,
    /// When it was launched.
    pub created_at: Timestamp,
    /// When its Workshop was first wanted: it left the queue.
    pub dispatched_at: Option<Timestamp>,
    /// When it was first ready: its lifetime counts from here.
    pub started_at: Option<Timestamp>,
    /// When its time is up; null before it was ready.
    pub expires_at: Option<Timestamp>,
    /// When nothing of it ran any more.
    pub ended_at: Option<Timestamp>,
    /// Why it ended; set as soon as its end is decided.
    pub end_reason: Option<EndReason>,
    /// What its Workshop should be: +1 at each change (launch, extend, end).
    pub spec_version: i64,
    /// What the fleet was last told, as a `spec_version`; 0 before the first time.
    pub applied_version: i64,
    /// The identity of its Workshop, once the fleet has answered.
    pub workshop_uid: Option<String>,
    /// Grows with each change of any row: what an event stream resumes from.
    pub revision: i64,
}

/// What the fleet says of a Workshop, in the domain's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    /// How far it is.
    pub phase: ObservedPhase,
    /// Where it can be reached.
    pub url: Option<String>,
    /// When it was first ready.
    pub ready_at: Option<Timestamp>,
    /// The last lines of a crashed app.
    pub log_tail: Option<String>,
}

/// How far the fleet is with a Workshop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ObservedPhase {
    /// Not ready yet; how far it is, when the fleet tells.
    Starting(Option<StartStep>),
    /// Ready.
    Running,
    /// It cannot go on.
    Failed(FailureReason),
    /// Its time was up, and the fleet has ended the workload.
    Expired,
}

impl Observation {
    /// A failure that the service itself has found.
    #[must_use]
    pub fn of_failure(reason: FailureReason) -> Self {
        Self { phase: ObservedPhase::Failed(reason), url: None, ready_at: None, log_tail: None }
    }
}

impl Instance {
    /// True while it counts against its owner's limit: until nothing of it runs any more.
    ///
    /// A failure frees its place at once. Dismissing it does not take a place again.
    #[must_use]
    pub fn counts_against_limit(&self) -> bool {
        use InstanceState::{Queued, Running, Starting, Terminating};
        matches!(self.state, Queued | Starting | Running | Terminating) && self.end_reason != Some(EndReason::Failed)
    }

    /// What this instance becomes when the fleet reports `seen`; `None` when nothing changes.
    ///
    /// An instance whose end is decided (terminating, terminated, failed) is not brought back by a late report.
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
                    // The Workshop's spec says when its time is up as soon as that is known.
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

    /// What this instance becomes when somebody ends it; `None` when it is already on its way out or gone.
    ///
    /// One that never left the queue is terminated at once: nothing of it exists. A failed one is dismissed, and keeps
    /// `failed` as the reason of its end.
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

    /// What this instance becomes when its Workshop is known to be gone; `None` when that changes nothing.
    ///
    /// Gone before its end was decided means that somebody deleted it from outside: lost.
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
