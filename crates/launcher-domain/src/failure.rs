//! Failure reasons of a workshop, in words for the person who waits for it.

use serde::{Deserialize, Serialize};

/// Kinds of failure, as stored and sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureCode {
    /// The image does not exist or may not be pulled.
    ImagePullFailed,
    /// The app exited.
    Crashed,
    /// The app used more memory than its limit.
    OutOfMemory,
    /// No node has room for the template's requests.
    Unschedulable,
    /// Not ready within the start timeout.
    StartTimeout,
    /// The namespace's quota is used up.
    QuotaExceeded,
    /// The cluster evicted the workshop from its node.
    Evicted,
    /// The node was lost.
    NodeLost,
    /// The Workshop's spec cannot be run.
    InvalidSpec,
    /// The program is not installed where the workshop should run.
    AppNotAvailable,
    /// The cluster's network did not enforce the policies of the workshop's pod.
    NetworkNotIsolated,
}

impl FailureCode {
    /// All codes, in the order of the documentation.
    pub const ALL: [Self; 11] = [
        Self::ImagePullFailed,
        Self::Crashed,
        Self::OutOfMemory,
        Self::Unschedulable,
        Self::StartTimeout,
        Self::QuotaExceeded,
        Self::Evicted,
        Self::NodeLost,
        Self::InvalidSpec,
        Self::AppNotAvailable,
        Self::NetworkNotIsolated,
    ];

    /// Returns the code as sent: kebab-case.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ImagePullFailed => "image-pull-failed",
            Self::Crashed => "crashed",
            Self::OutOfMemory => "out-of-memory",
            Self::Unschedulable => "unschedulable",
            Self::StartTimeout => "start-timeout",
            Self::QuotaExceeded => "quota-exceeded",
            Self::Evicted => "evicted",
            Self::NodeLost => "node-lost",
            Self::InvalidSpec => "invalid-spec",
            Self::AppNotAvailable => "app-not-available",
            Self::NetworkNotIsolated => "network-not-isolated",
        }
    }

    /// Parses a code.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.as_str() == text)
    }

    /// Returns the description of the failure, in one sentence for students.
    fn message(self) -> &'static str {
        match self {
            Self::ImagePullFailed => "The workshop's image could not be downloaded.",
            Self::Crashed => "The workshop's program ended by itself.",
            Self::OutOfMemory => "The workshop needed more memory than it is allowed.",
            Self::Unschedulable => "There is no machine with enough room for this workshop right now.",
            Self::StartTimeout => "The workshop did not become ready in time.",
            Self::QuotaExceeded => "The space that is set aside for workshops is used up.",
            Self::Evicted => "The workshop was stopped because its machine ran short of memory or disk.",
            Self::NodeLost => "The machine that the workshop ran on went away.",
            Self::InvalidSpec => "The workshop's template asks for something that cannot be run.",
            Self::AppNotAvailable => "The workshop's program is not installed here.",
            Self::NetworkNotIsolated => {
                "The workshop was not started, because the cluster's network did not shut it off from its surroundings."
            }
        }
    }

    /// Returns the advised action, in one sentence.
    fn remedy(self) -> &'static str {
        match self {
            Self::ImagePullFailed => {
                "Tell your teacher or an administrator: the image's name in the template is wrong or its registry refuses it."
            }
            Self::Crashed => "Launch it again; if it ends again, show the last lines of its output to your teacher.",
            Self::OutOfMemory => "Launch it again and load less data at once, or ask for a template with more memory.",
            Self::Unschedulable => "Try again in a few minutes, or ask an administrator for more room.",
            Self::StartTimeout => "Launch it again; if it is slow again, tell your teacher or an administrator.",
            Self::QuotaExceeded => "Try again when other workshops have ended, or ask an administrator for more room.",
            Self::Evicted => "Launch it again.",
            Self::NodeLost => "Launch it again.",
            Self::InvalidSpec => "Tell your teacher or an administrator: the template has to be corrected.",
            Self::AppNotAvailable => {
                "Tell whoever runs this service: the program has to be installed, or the template corrected."
            }
            Self::NetworkNotIsolated => {
                "Launch it again; if that fails too, tell an administrator: the cluster has to enforce its network policies."
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
    /// Creates a failure with the standard texts of its kind. `detail` is appended to the message (`It ended with
    /// status 3.`).
    #[must_use]
    pub fn new(code: FailureCode, detail: Option<&str>) -> Self {
        let message = match detail {
            None => code.message().to_owned(),
            Some(detail) => format!("{} {detail}", code.message()),
        };
        Self { code, message, remedy: code.remedy().to_owned(), retryable: code.retryable() }
    }

    /// Replaces the remedy by one that fits the case better.
    #[must_use]
    pub fn with_remedy(mut self, remedy: &str) -> Self {
        remedy.clone_into(&mut self.remedy);
        self
    }
}
