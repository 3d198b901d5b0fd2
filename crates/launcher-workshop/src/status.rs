//! Status of a Workshop: the observed state.

use std::net::SocketAddr;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use launcher_domain::instance::{Observation, ObservedPhase};
use launcher_domain::{CodedText, FailureCode, FailureReason, Report};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Type of the condition that is true while the app answers.
pub const READY: &str = "Ready";
/// Type of the condition that is true while the Workshop is exposed.
pub const EXPOSED: &str = "Exposed";

/// Phase of a Workshop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Phase {
    /// The fleet has created nothing yet.
    #[default]
    Pending,
    /// The workload exists and is not ready yet.
    Starting,
    /// The app answers.
    Running,
    /// Final failure, which `reason` and `message` explain.
    Failed,
    /// The lifetime is over; the fleet deletes the workload.
    Expired,
}

impl Phase {
    /// True when the fleet has ended the workshop: the workload is deleted, and the phase no longer changes.
    #[must_use]
    pub fn is_final(self) -> bool {
        match self {
            Self::Failed | Self::Expired => true,
            Self::Pending | Self::Starting | Self::Running => false,
        }
    }
}

/// Observed state, written by the fleet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkshopStatus {
    /// Phase of the Workshop.
    #[serde(default)]
    pub phase: Phase,
    /// Report about start, crash, course material and URLs.
    #[serde(flatten)]
    pub report: Report,
    /// Code of the failure, as in `image-pull-failed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Description of the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Advised action after the failure. Without it, the code's standard action applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// True if the same launch may succeed a moment later. Absent if it is as usual for the code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retryable: Option<bool>,
    /// Codes of the sentences of `message`, in order, for translations. Empty for a standard message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub message_codes: Vec<CodedText>,
    /// Code of `remedy`, for translations. Absent for the code's standard action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy_code: Option<Box<CodedText>>,
    /// IP address and port at which the launcher reads the files of the app for a snapshot, while the workshop runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub archive_address: Option<SocketAddr>,
    /// IP address and port at which the pod waits for the files of `spec.restore`, which the launcher sends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub restore_address: Option<SocketAddr>,
    /// True if the pod has another sidecar or other settings than a new workshop would get. The pod keeps them until it
    /// ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_outdated: Option<bool>,
    /// Restart that this status includes: the `restartedAt` of the spec that the operator reconciled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restarted_at: Option<Timestamp>,
    /// Time at which the workshop was first ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready_at: Option<Timestamp>,
    /// Expiry: `expiresAt` of the spec, or the end of the lifetime. Absent before the workshop was ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// Generation of the spec that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Conditions in Kubernetes' standard form.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
}

impl WorkshopStatus {
    /// Returns the status of a workshop that has failed for this reason.
    #[must_use]
    pub fn failed(reason: FailureReason, log_tail: Option<String>) -> Self {
        Self {
            phase: Phase::Failed,
            reason: Some(reason.code.as_str().to_owned()),
            message: Some(reason.message),
            remedy: Some(reason.remedy),
            retryable: (reason.retryable != reason.code.retryable()).then_some(reason.retryable),
            message_codes: reason.message_codes,
            remedy_code: reason.remedy_code,
            report: Report { log_tail, ..Report::default() },
            ..Self::default()
        }
    }

    /// Returns this status with the crash and the course material of an earlier report, where it has none.
    #[must_use]
    pub fn after(self, earlier: &Report) -> Self {
        Self { report: self.report.after(earlier), ..self }
    }

    /// True if this status reports an invalid spec, but the spec has changed since. The fleet has not reconciled the
    /// new spec yet.
    #[must_use]
    pub fn is_outdated(&self, generation: Option<i64>) -> bool {
        self.phase == Phase::Failed
            && self.reason.as_deref() == Some(FailureCode::InvalidSpec.as_str())
            && self.observed_generation != generation
    }

    /// Returns the time since which a starting workshop has not been ready: the last transition of its `Ready`
    /// condition.
    #[must_use]
    pub fn starting_since(&self) -> Option<Timestamp> {
        let unready = self.conditions.iter().find(|one| one.type_ == READY && one.status != "True");
        unready.filter(|_| self.phase == Phase::Starting).map(|one| one.last_transition_time.0)
    }

    /// Converts the status to the domain's type. A failure with an unknown code becomes a crash, so that it is not
    /// lost.
    #[must_use]
    pub fn observation(&self) -> Observation {
        let phase = match self.phase {
            Phase::Pending | Phase::Starting => ObservedPhase::Starting,
            Phase::Running => ObservedPhase::Running,
            Phase::Expired => ObservedPhase::Expired,
            Phase::Failed => ObservedPhase::Failed(self.failure()),
        };
        Observation {
            phase,
            report: self.report.clone(),
            ready_at: self.ready_at,
            outdated: self.pod_outdated == Some(true),
            restarted_at: self.restarted_at,
        }
    }

    fn failure(&self) -> FailureReason {
        let code = self.reason.as_deref().and_then(FailureCode::parse).unwrap_or(FailureCode::Crashed);
        let standard = FailureReason::new(code, None);
        FailureReason {
            message: self.message.clone().unwrap_or(standard.message),
            remedy: self.remedy.clone().unwrap_or(standard.remedy),
            message_codes: self.message_codes.clone(),
            remedy_code: self.remedy_code.clone(),
            retryable: self.retryable.unwrap_or(standard.retryable),
            ..standard
        }
    }
}
