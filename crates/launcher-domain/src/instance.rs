//! Instance: one launched workshop, and the status that the fleet reports for it.

mod snapshot;
mod suspension;
mod transition;

use std::collections::BTreeMap;

use jiff::Timestamp;
use uuid::Uuid;

use crate::email::EmailAddress;
use crate::failure::FailureReason;
use crate::material::MaterialTrouble;
use crate::report::Report;
use crate::secrets::SecretValues;
use crate::snapshot::InstanceSnapshot;
use crate::template::{Template, TemplateSettings};
use crate::text_enum::text_enum;

/// One launched workshop, as stored in its row.
#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    /// Identifier that sorts by launch time (UUID version 7).
    pub instance_id: Uuid,
    /// Name of the instance in URL paths, and name of its Workshop.
    pub k8s_name: String,
    /// The person who launched the instance.
    pub owner_email: EmailAddress,
    /// Template from which the instance was launched.
    pub template_id: Uuid,
    /// Class of this template; `None` if it is of the shared catalog.
    pub class_id: Option<Uuid>,
    /// Kubernetes namespace of the Workshop, from the class at the launch; that of the volume if it has one. `None`: the
    /// namespace of all other workshops.
    pub namespace: Option<String>,
    /// Copy of the template's settings at launch: later edits never change a running workshop.
    pub settings: TemplateSettings,
    /// Maximum lifetime in seconds that an admin applied after the launch. `None`: the maximum of the settings.
    pub raised_max_lifetime_seconds: Option<u32>,
    /// Name of the volume with the owner's files; `None` if the template keeps no files.
    pub volume: Option<String>,
    /// Snapshot whose files the workshop has when it first opens. `None`: it begins without files of an earlier workshop.
    pub restores: Option<Uuid>,
    /// Values of the launch parameters by name. `None` is a secret value: only the store has it, and only until the end
    /// of the instance is decided.
    pub parameters: BTreeMap<String, Option<String>>,
    pub state: InstanceState,
    pub reason: Option<FailureReason>,
    /// Report of the fleet. Its step is set only while starting, and its URLs only while running. A failed instance has the
    /// end of the log. A resume clears the report.
    pub report: Report,
    /// Snapshot of the files at the end; `None` if the launch planned no snapshot, or if the end takes none.
    pub snapshot: Option<InstanceSnapshot>,
    /// True if the workload has another sidecar or other settings than a new workshop would get. True only while
    /// running, and false from the request of a restart until the fleet reports about the restarted workload.
    pub outdated: bool,
    /// Time of the last requested restart.
    pub restarted_at: Option<Timestamp>,
    /// Time of the launch.
    pub created_at: Timestamp,
    /// Time at which the instance was suspended; `None` after it was resumed.
    pub suspended_at: Option<Timestamp>,
    /// Time at which the instance was last resumed.
    pub resumed_at: Option<Timestamp>,
    /// Time at which the instance last left the queue.
    pub dispatched_at: Option<Timestamp>,
    /// Time at which the workshop was first ready. The lifetime starts at this time. A resume clears it.
    pub started_at: Option<Timestamp>,
    /// Expiry; `None` before the workshop was first ready, and while it is suspended.
    pub expires_at: Option<Timestamp>,
    /// Time at which the workload was gone.
    pub ended_at: Option<Timestamp>,
    /// End reason; set as soon as the end is decided.
    pub end_reason: Option<EndReason>,
    /// Version of the desired Workshop: incremented at each change (start, ready, extend,
    /// restart, end).
    pub spec_version: i64,
    /// The `spec_version` last applied by the fleet; 0 before the first apply.
    pub applied_version: i64,
    /// UID of the Workshop; `None` before the fleet answered the first apply.
    pub workshop_uid: Option<String>,
    /// UID of the Workshop from before the last resume. Late reports about this Workshop are ignored.
    pub former_uid: Option<String>,
    /// Revision of the last change of this row. Each change of any row takes the next revision, and event streams
    /// resume after a revision.
    pub revision: i64,
}

/// Status of a Workshop as reported by the fleet, in domain terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    pub phase: ObservedPhase,
    /// The other fields of the report.
    pub report: Report,
    /// Time at which the workshop was first ready.
    pub ready_at: Option<Timestamp>,
    /// True if the workload has another sidecar or other settings than a new workshop would get.
    pub outdated: bool,
    /// The last restart that this report includes; `None` before the first restart.
    pub restarted_at: Option<Timestamp>,
}

/// Phase of a Workshop in the fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ObservedPhase {
    /// Not ready yet.
    Starting,
    Running,
    Failed(FailureReason),
    /// The workshop expired, and the fleet has terminated the workload.
    Expired,
}

impl Observation {
    /// Returns the observation of a failure that the service found itself, such as a start timeout.
    #[must_use]
    pub fn of_failure(reason: FailureReason) -> Self {
        Self::of_phase(ObservedPhase::Failed(reason))
    }

    /// Returns the observation of a phase, without anything else.
    #[must_use]
    pub fn of_phase(phase: ObservedPhase) -> Self {
        Self { phase, report: Report::default(), ready_at: None, outdated: false, restarted_at: None }
    }

    /// Returns the observation without these secret values in the texts of a failure: see [`SecretValues::redact`].
    #[must_use]
    pub fn redacted(mut self, secrets: &SecretValues) -> Self {
        self.report = self.report.redacted(secrets);
        if let ObservedPhase::Failed(reason) = self.phase {
            self.phase = ObservedPhase::Failed(reason.redacted(secrets));
        }
        self
    }
}

impl Instance {
    /// Returns a queued instance of this template, without volume, parameters and snapshot.
    #[must_use]
    pub fn queued(
        instance_id: Uuid,
        k8s_name: String,
        owner_email: EmailAddress,
        template: &Template,
        created_at: Timestamp,
    ) -> Self {
        let settings = template.settings.clone();
        let queued = Self::of_settings(instance_id, k8s_name, owner_email, settings, created_at);
        Self { template_id: template.template_id, class_id: template.class_id, ..queued }
    }

    /// Returns a queued instance of a template that has these settings, and no id yet.
    #[must_use]
    pub fn of_settings(
        instance_id: Uuid,
        k8s_name: String,
        owner_email: EmailAddress,
        settings: TemplateSettings,
        created_at: Timestamp,
    ) -> Self {
        Self {
            instance_id,
            k8s_name,
            owner_email,
            template_id: Uuid::nil(),
            class_id: None,
            namespace: None,
            settings,
            raised_max_lifetime_seconds: None,
            volume: None,
            restores: None,
            parameters: BTreeMap::new(),
            state: InstanceState::Queued,
            reason: None,
            report: Report::default(),
            snapshot: None,
            outdated: false,
            restarted_at: None,
            created_at,
            suspended_at: None,
            resumed_at: None,
            dispatched_at: None,
            started_at: None,
            expires_at: None,
            ended_at: None,
            end_reason: None,
            spec_version: 0,
            applied_version: 0,
            workshop_uid: None,
            former_uid: None,
            revision: 0,
        }
    }

    /// True while the instance counts against its owner's limit: until its workload is gone. A suspended instance has no
    /// workload.
    ///
    /// A failed instance stops counting at once. Dismissing it does not make it count again.
    #[must_use]
    pub fn counts_against_limit(&self) -> bool {
        use InstanceState::{Queued, Running, Starting, Suspending, Terminating};
        matches!(self.state, Queued | Starting | Running | Suspending | Terminating)
            && self.end_reason != Some(EndReason::Failed)
    }

    /// Failure as people see it: with a remedy for the volume, if the instance has one.
    #[must_use]
    pub fn failure(&self) -> Option<FailureReason> {
        let reason = self.reason.clone()?;
        Some(if self.volume.is_some() { reason.with_volume(self.report.log_tail.as_deref()) } else { reason })
    }

    /// True if a launch of the template may succeed where this instance ended: it has ended, or has failed for a reason that may
    /// not occur again.
    #[must_use]
    pub fn can_relaunch(&self) -> bool {
        self.failure().map_or(self.state == InstanceState::Terminated, |failure| failure.retryable)
    }

    /// Returns the snapshot with which the template is launched again: that of this instance, unless its work has replaced it.
    #[must_use]
    pub fn relaunch_snapshot(&self) -> Option<Uuid> {
        self.restores.filter(|_| self.state != InstanceState::Terminated)
    }

    /// Returns the trouble with the course material while the instance is starting or running.
    #[must_use]
    pub fn material_trouble(&self) -> Option<MaterialTrouble> {
        self.report.material.as_ref().filter(|_| self.state.wants_workshop())?.trouble()
    }

    /// Time since which the instance waits or has waited for its start: the launch, or the last resume.
    #[must_use]
    pub fn queued_at(&self) -> Timestamp {
        self.resumed_at.unwrap_or(self.created_at)
    }
}

text_enum! {
    /// Lifecycle state of an instance. The variants are in lifecycle order.
    ///
    /// ```text
    /// queued                       -> starting: dispatch promotes the instance
    /// starting                     -> running: the workshop is ready
    /// starting, running            -> failed: the workload is removed; the instance is listed until it is dismissed
    /// starting, running            -> terminated: the Workshop disappeared (lost)
    /// starting, running, failed    -> terminating: on request, and for starting and running also at the expiry
    /// running                      -> suspending: on request, or at the expiry if the template says so
    /// suspending                   -> suspended: the workload is gone
    /// suspended                    -> queued: on request
    /// suspending                   -> terminating: on request
    /// queued, suspended            -> terminated: on request
    /// terminating                  -> terminated: the workload is gone
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum InstanceState {
        /// Stored, waiting in the queue.
        Queued = "queued",
        /// The Workshop exists or is about to be created; the workshop is not ready yet.
        Starting = "starting",
        /// The workshop is ready: its owner can work in it.
        Running = "running",
        /// The workload is being removed. The instance can be resumed afterwards.
        Suspending = "suspending",
        /// The workload is gone. The instance has its volume, and can be resumed.
        Suspended = "suspended",
        /// The workload is being removed.
        Terminating = "terminating",
        /// The workload is gone.
        Terminated = "terminated",
        /// The instance failed; `reason` gives the cause.
        Failed = "failed",
    }
}

impl InstanceState {
    /// True when the Workshop of the instance should exist.
    #[must_use]
    pub fn wants_workshop(self) -> bool {
        matches!(self, Self::Starting | Self::Running)
    }
}

text_enum! {
    /// End reason of an instance.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum EndReason {
        /// The owner terminated the instance.
        Owner = "owner",
        /// An admin terminated the instance.
        Admin = "admin",
        /// A teacher of the instance's class terminated the instance, or removed its owner from the class.
        Teacher = "teacher",
        /// The workshop expired, or it was suspended for longer than the retention of its volume.
        Expired = "expired",
        /// The instance failed and was dismissed.
        Failed = "failed",
        /// Another program or a person deleted the Workshop.
        Lost = "lost",
    }
}

impl EndReason {
    /// True if a person ended the instance while it was wanted.
    #[must_use]
    pub fn is_requested(self) -> bool {
        match self {
            Self::Owner | Self::Admin | Self::Teacher => true,
            Self::Expired | Self::Failed | Self::Lost => false,
        }
    }

    /// True if the owner may not have seen the end: not the owner ended the instance, and no failure was shown before.
    #[must_use]
    pub fn is_unexpected(self) -> bool {
        match self {
            Self::Admin | Self::Teacher | Self::Expired | Self::Lost => true,
            Self::Owner | Self::Failed => false,
        }
    }
}

/// Reason why a restart is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RestartError {
    #[error("only a running workshop can be restarted")]
    NotRunning,
    /// The workshop already has the current sidecar and settings, or its restart was already requested.
    #[error("the workshop does not run with an older version")]
    NotOutdated,
}

/// Reason why a suspension is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SuspendError {
    #[error("only a running workshop can be paused")]
    NotRunning,
    /// The workshop has no volume: a suspension would lose its files.
    #[error("only a workshop with kept files can be paused")]
    FilesNotKept,
}

/// Reason why a resume is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ResumeError {
    #[error("the workshop is still being paused: try again in a moment")]
    StillSuspending,
    #[error("only a paused workshop can be resumed")]
    NotSuspended,
}

text_enum! {
    /// Step of a workshop's start. The variants are in the order in which they occur.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum StartStep {
        /// The quota of the class's namespace has no room for the pod at the moment.
        WaitingForQuota = "waiting-for-quota",
        /// The pod waits, because no node has room at the moment.
        WaitingForRoom = "waiting-for-room",
        /// The cluster assigns a node to the workshop, and sets up its network and files.
        Preparing = "preparing",
        /// The node pulls the image. The first pull on a node can take minutes.
        PullingImage = "pulling-image",
        /// The course material is downloaded.
        LoadingMaterial = "loading-material",
        /// The app runs but does not answer yet.
        StartingApp = "starting-app",
        /// The app exited, and the fleet restarts it.
        RestartingApp = "restarting-app",
    }
}
