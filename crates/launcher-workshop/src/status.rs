//! Status of a Workshop: the observed state.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use launcher_domain::instance::{Observation, ObservedPhase};
use launcher_domain::{FailureCode, FailureReason, StartStep};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The condition that is true while the app answers.
pub const READY: &str = "Ready";

/// How far the fleet is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Phase {
    /// Seen, nothing made yet.
    #[default]
    Pending,
    /// Made, not ready yet.
    Starting,
    /// The app answers.
    Running,
    /// It cannot go on; `reason` and `message` say why.
    Failed,
    /// Its time was up; the workload goes.
    Expired,
}

/// What does run, as the fleet sees it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkshopStatus {
    /// How far it is.
    #[serde(default)]
    pub phase: Phase,
    /// What it waits for while it starts, as in `pulling-image`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_step: Option<String>,
    /// The code of a failure, as in `image-pull-failed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What happened, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What to do about a failure, when the fleet knows better than the failure's kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// The last lines of a crashed app.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_tail: Option<String>,
    /// Where the owner reaches it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// When it was first ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready_at: Option<Timestamp>,
    /// Which generation of the spec this status answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Kubernetes' standard conditions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
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
            log_tail,
            ..Self::default()
        }
    }

    /// Returns the status of a workshop at this step of its start.
    #[must_use]
    pub fn starting(step: StartStep, ready_at: Option<Timestamp>) -> Self {
        Self { phase: Phase::Starting, start_step: Some(step.as_str().to_owned()), ready_at, ..Self::default() }
    }

    /// Returns true when the status rejects an outdated spec: the fleet has not reconciled the new one yet.
    #[must_use]
    pub fn is_outdated(&self, generation: Option<i64>) -> bool {
        self.phase == Phase::Failed
            && self.reason.as_deref() == Some(FailureCode::InvalidSpec.as_str())
            && self.observed_generation != generation
    }

    /// Returns the last transition of a starting workshop's `Ready` condition, if that is not true.
    #[must_use]
    pub fn starting_since(&self) -> Option<Timestamp> {
        let unready = self.conditions.iter().find(|one| one.type_ == READY && one.status != "True");
        unready.filter(|_| self.phase == Phase::Starting).map(|one| one.last_transition_time.0)
    }

    /// Converts the status to the domain's type. A failure of unknown kind counts as a crash: it must not be lost.
    #[must_use]
    pub fn observation(&self) -> Observation {
        let phase = match self.phase {
            Phase::Pending | Phase::Starting => {
                ObservedPhase::Starting(self.start_step.as_deref().and_then(StartStep::parse))
            }
            Phase::Running => ObservedPhase::Running,
            Phase::Expired => ObservedPhase::Expired,
            Phase::Failed => ObservedPhase::Failed(self.failure()),
        };
        Observation { phase, url: self.url.clone(), ready_at: self.ready_at, log_tail: self.log_tail.clone() }
    }

    fn failure(&self) -> FailureReason {
        let code = self.reason.as_deref().and_then(FailureCode::parse).unwrap_or(FailureCode::Crashed);
        let standard = FailureReason::new(code, None);
        FailureReason {
            message: self.message.clone().unwrap_or(standard.message),
            remedy: self.remedy.clone().unwrap_or(standard.remedy),
            ..standard
        }
    }
}
