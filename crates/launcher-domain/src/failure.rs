//! Failure reasons of a workshop, in words for the person who waits for it.

use serde::{Deserialize, Serialize};

use crate::text_enum::text_enum;

text_enum! {
    /// Kinds of failure, in the order in which the documentation lists them.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum FailureCode {
        /// The image does not exist or may not be pulled.
        ImagePullFailed = "image-pull-failed",
        /// The app exited.
        Crashed = "crashed",
        /// The app used more memory than its limit.
        OutOfMemory = "out-of-memory",
        /// No node has enough free CPU and memory for the resource requests of the workshop.
        Unschedulable = "unschedulable",
        /// The workshop was not ready within the start timeout.
        StartTimeout = "start-timeout",
        /// The namespace's quota is used up.
        QuotaExceeded = "quota-exceeded",
        /// The cluster evicted the workshop from its node.
        Evicted = "evicted",
        /// The node was lost.
        NodeLost = "node-lost",
        /// The fleet cannot run the Workshop's spec.
        InvalidSpec = "invalid-spec",
        /// The app's program is not installed where the workshop should run.
        AppNotAvailable = "app-not-available",
        /// The cluster's network did not enforce the policies of the workshop's pod.
        NetworkNotIsolated = "network-not-isolated",
    }
}

impl FailureCode {
    /// Returns the description of the failure, in one sentence for students.
    fn message(self) -> &'static str {
        match self {
            Self::ImagePullFailed => "The cluster could not download the workshop's image.",
            Self::Crashed => "The workshop's program stopped unexpectedly.",
            Self::OutOfMemory => "The workshop exceeded its memory limit.",
            Self::Unschedulable => "No node has room for this workshop right now.",
            Self::StartTimeout => "The workshop did not become ready in time.",
            Self::QuotaExceeded => "The quota for workshops is used up.",
            Self::Evicted => "The cluster stopped the workshop, because its node ran short of memory or disk.",
            Self::NodeLost => "The cluster lost the node of this workshop.",
            Self::InvalidSpec => "The workshop's template has settings that cannot run.",
            Self::AppNotAvailable => "The workshop's program is not installed here.",
            Self::NetworkNotIsolated => "The workshop did not start, because the cluster did not isolate its network.",
        }
    }

    /// Returns the advised action. The text also says if the failure lost the user's files.
    fn remedy(self) -> &'static str {
        match self {
            Self::ImagePullFailed => {
                "Tell your teacher or an administrator: the template names a wrong image, or the registry refuses access."
            }
            Self::Crashed => {
                "Files that were not saved elsewhere are lost. Launch it again, or show its output to your teacher."
            }
            Self::OutOfMemory => {
                "Files that were not saved elsewhere are lost. Launch it again and load less data, or ask for more memory."
            }
            Self::Unschedulable => "Try again in a few minutes. If it fails again, ask an administrator for more room.",
            Self::StartTimeout => "Launch it again. If it is slow again, tell your teacher or an administrator.",
            Self::QuotaExceeded => {
                "Try again when other workshops have ended, or ask an administrator for a larger quota."
            }
            Self::Evicted => "Files that were not saved elsewhere are lost. Launch it again.",
            Self::NodeLost => "Files that were not saved elsewhere are lost. Launch it again.",
            Self::InvalidSpec => "Tell your teacher or an administrator: they must correct the template.",
            Self::AppNotAvailable => "Tell an administrator: they must install the program or correct the template.",
            Self::NetworkNotIsolated => {
                "Launch it again. If it fails again, tell an administrator: the cluster must enforce its network policies."
            }
        }
    }

    /// True when the same launch may succeed a moment later.
    #[must_use]
    pub fn retryable(self) -> bool {
        !matches!(self, Self::ImagePullFailed | Self::InvalidSpec | Self::AppNotAvailable)
    }
}

/// A failure with its explanation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureReason {
    /// Kind of failure.
    pub code: FailureCode,
    /// Description for the person who waits.
    pub message: String,
    /// Advised action.
    pub remedy: String,
    /// True when the same launch may succeed a moment later.
    pub retryable: bool,
}

impl FailureReason {
    /// Creates a failure with the standard texts of its kind. Appends `detail` to the message, for example `It ended
    /// with status 3.`
    #[must_use]
    pub fn new(code: FailureCode, detail: Option<&str>) -> Self {
        let message = match detail {
            None => code.message().to_owned(),
            Some(detail) => format!("{} {detail}", code.message()),
        };
        Self { code, message, remedy: code.remedy().to_owned(), retryable: code.retryable() }
    }

    /// Replaces the standard remedy by a more specific one.
    #[must_use]
    pub fn with_remedy(mut self, remedy: &str) -> Self {
        remedy.clone_into(&mut self.remedy);
        self
    }
}
