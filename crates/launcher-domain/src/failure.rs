//! Failure reasons of a workshop, in words for the person who waits for it.

mod texts;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use texts::{FailureDetail, FailureRemedy};

use crate::coded_text::{CodedText, TextKey};
use crate::secrets::SecretValues;
use crate::text_enum::text_enum;

/// Declares the kinds of failure. A kind has these parts:
///
/// - its code;
/// - `retryable`: true when the same launch may succeed a moment later;
/// - `loses_files`: true if a workshop without a volume loses its files by this failure;
/// - a description in English, in one sentence for students;
/// - the advised action in English. It also says if the failure lost the user's files.
macro_rules! failure_codes {
    ($(
        $(#[$attribute:meta])*
        $kind:ident = $code:literal, retryable: $retryable:literal, loses_files: $loses_files:literal,
            $message:literal, $remedy:literal;
    )+) => {
        text_enum! {
            /// Kinds of failure, in the order in which the documentation lists them.
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
            #[serde(rename_all = "kebab-case")]
            pub enum FailureCode {
                $($(#[$attribute])* $kind = $code,)+
            }
        }

        impl FailureCode {
            /// Returns the description of the failure in English, in one sentence for students.
            #[must_use]
            pub fn message(self) -> &'static str {
                match self {
                    $(Self::$kind => $message,)+
                }
            }

            /// Returns the advised action in English. The text also says if the failure lost the user's files.
            #[must_use]
            pub fn remedy(self) -> &'static str {
                match self {
                    $(Self::$kind => $remedy,)+
                }
            }

            /// True when the same launch may succeed a moment later.
            #[must_use]
            pub fn retryable(self) -> bool {
                match self {
                    $(Self::$kind => $retryable,)+
                }
            }

            /// True if a workshop without a volume loses its files by this failure.
            #[must_use]
            pub fn loses_files(self) -> bool {
                match self {
                    $(Self::$kind => $loses_files,)+
                }
            }
        }
    };
}

failure_codes! {
    /// The image does not exist or may not be pulled.
    ImagePullFailed = "image-pull-failed", retryable: false, loses_files: false,
        "The cluster could not download the workshop's image.",
        "Tell your teacher or an administrator: the template names a wrong image, or the registry refuses access.";
    /// The app exited.
    Crashed = "crashed", retryable: true, loses_files: true,
        "The workshop's program stopped unexpectedly.",
        "Files that were not saved elsewhere are lost. Launch it again, or show its output to your teacher.";
    /// The app used more memory than its limit.
    OutOfMemory = "out-of-memory", retryable: true, loses_files: true,
        "The workshop exceeded its memory limit.",
        "Files that were not saved elsewhere are lost. Launch it again and load less data, or ask for more memory.";
    /// No node has enough free CPU and memory for the resource requests of the workshop.
    Unschedulable = "unschedulable", retryable: true, loses_files: false,
        "The cluster has no free capacity for this workshop right now.",
        "Try again in a few minutes. If it fails again, ask an administrator to add capacity.";
    /// The workshop was not ready within the start timeout.
    StartTimeout = "start-timeout", retryable: true, loses_files: false,
        "The workshop did not become ready in time.",
        "Launch it again. If it is slow again, tell your teacher or an administrator.";
    /// The namespace's quota is used up.
    QuotaExceeded = "quota-exceeded", retryable: true, loses_files: false,
        "The quota for workshops is used up.",
        "Try again when other workshops have ended, or ask an administrator for a larger quota.";
    /// The cluster evicted the workshop from its node.
    Evicted = "evicted", retryable: true, loses_files: true,
        "The cluster stopped the workshop, for example because its node was drained or ran short of memory or disk.",
        "Files that were not saved elsewhere are lost. Launch it again.";
    /// The node was lost.
    NodeLost = "node-lost", retryable: true, loses_files: true,
        "The cluster lost the node of this workshop.",
        "Files that were not saved elsewhere are lost. Launch it again.";
    /// The fleet cannot run the Workshop's spec.
    InvalidSpec = "invalid-spec", retryable: false, loses_files: false,
        "The workshop's template has settings that cannot run.",
        "Tell your teacher or an administrator: they must correct the template.";
    /// The app's program is not installed where the workshop should run.
    AppNotAvailable = "app-not-available", retryable: false, loses_files: false,
        "The workshop's program is not installed here.",
        "Tell an administrator: they must install the program or correct the template.";
    /// The cluster's network did not enforce the policies of the workshop's pod.
    NetworkNotIsolated = "network-not-isolated", retryable: true, loses_files: false,
        "The workshop did not start, because the cluster did not isolate its network.",
        "Launch it again. If it fails again, tell an administrator: the cluster must enforce its network policies.";
}

/// A failure with its explanation, in English and as codes for translators.
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
    /// Codes of the sentences of the message, in order. [`STANDARD`] is the code of the standard sentence. Empty if the
    /// message is the standard sentence, or if an earlier version stored the failure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub message_codes: Vec<CodedText>,
    /// Code of the remedy. `None` if the remedy is the standard one, or if an earlier version stored the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy_code: Option<Box<CodedText>>,
}

/// Code of the standard sentence of a failure, in [`FailureReason::message_codes`].
pub const STANDARD: &str = "standard";
/// Text by which programs report a full disk: the C library's, in English.
const NO_SPACE: &str = "No space left on device";

impl FailureReason {
    /// Creates a failure with the standard texts of its kind, and adds `detail` to the message.
    #[must_use]
    pub fn new(code: FailureCode, detail: Option<FailureDetail>) -> Self {
        let reason = Self {
            code,
            message: code.message().to_owned(),
            remedy: code.remedy().to_owned(),
            retryable: code.retryable(),
            message_codes: Vec::new(),
            remedy_code: None,
        };
        match detail {
            Some(detail) => reason.with_detail(&detail),
            None => reason,
        }
    }

    /// Creates a failure whose message is only `detail`, without the standard sentence.
    #[must_use]
    pub fn only(code: FailureCode, detail: &FailureDetail) -> Self {
        Self { message: detail.to_string(), message_codes: vec![detail.coded()], ..Self::new(code, None) }
    }

    /// Adds a sentence to the message.
    #[must_use]
    pub fn with_detail(mut self, detail: &FailureDetail) -> Self {
        self.message = format!("{} {detail}", self.message);
        if self.message_codes.is_empty() {
            self.message_codes.push(CodedText { code: STANDARD.to_owned(), args: BTreeMap::new() });
        }
        self.message_codes.push(detail.coded());
        self
    }

    /// Replaces the standard remedy by a more specific one.
    #[must_use]
    pub fn with_remedy(mut self, remedy: &FailureRemedy) -> Self {
        self.remedy = remedy.to_string();
        self.remedy_code = Some(Box::new(remedy.coded()));
        self
    }

    /// Returns the failure of a workshop with a volume. If a workshop without a volume would lose its files by this
    /// failure, the remedy says that the files are kept. If the log says that the volume is full, the remedy says how
    /// to free space.
    #[must_use]
    pub(crate) fn with_volume(self, log_tail: Option<&str>) -> Self {
        if !self.code.loses_files() {
            return self;
        }
        let is_full = self.code == FailureCode::Crashed && log_tail.is_some_and(|log| log.contains(NO_SPACE));
        self.with_remedy(if is_full { &FailureRemedy::FreeSpace } else { &FailureRemedy::KeptFiles })
    }

    /// Returns the failure without these secret values in its message. A standard message is unchanged.
    #[must_use]
    pub(crate) fn redacted(mut self, secrets: &SecretValues) -> Self {
        if self.message != self.code.message() {
            self.message = secrets.redact(&self.message);
        }
        for value in self.message_codes.iter_mut().flat_map(|text| text.args.values_mut()) {
            *value = secrets.redact(value);
        }
        self
    }

    /// Returns the keys of the message's sentences for translators, in order: `failure-<code>` for the standard
    /// sentence, `failure-detail-<code>` for a detail. A text of an earlier version, which has no code, is the detail
    /// `text`, with the English text as its argument `text`.
    #[must_use]
    pub fn message_keys(&self) -> Vec<TextKey> {
        let standard = || TextKey::plain("failure", self.code.as_str());
        let key = |text: &CodedText| match text.code.as_str() {
            STANDARD => standard(),
            _ => TextKey::of("failure-detail", text),
        };
        if !self.message_codes.is_empty() {
            return self.message_codes.iter().map(key).collect();
        }
        let verbatim = |text: &str| TextKey::of("failure-detail", &FailureDetail::from(text).coded());
        match self.message.strip_prefix(self.code.message()).map(str::trim_start) {
            Some("") => vec![standard()],
            Some(detail) => vec![standard(), verbatim(detail)],
            None => vec![verbatim(&self.message)],
        }
    }

    /// Returns the key of the remedy for a user who is not an admin: the standard remedy instead of one that only an
    /// admin can apply. See [`Self::remedy_key`].
    #[must_use]
    pub fn user_remedy_key(&self) -> TextKey {
        match &self.remedy_code {
            Some(remedy) if FailureRemedy::FOR_ADMINS.contains(&remedy.code.as_str()) => {
                TextKey::plain("failure-remedy", self.code.as_str())
            }
            _ => self.remedy_key(),
        }
    }

    /// Returns the key of the remedy for translators: `failure-remedy-<code>` for the standard remedy of a failure code,
    /// `failure-advice-<code>` for a special remedy. A special remedy of an earlier version, which has no code, is the
    /// advice `text`, with the English text as its argument `text`.
    #[must_use]
    pub fn remedy_key(&self) -> TextKey {
        match &self.remedy_code {
            Some(remedy) => TextKey::of("failure-advice", remedy),
            None if self.remedy == self.code.remedy() => TextKey::plain("failure-remedy", self.code.as_str()),
            None => TextKey::of("failure-advice", &FailureRemedy::Text { text: self.remedy.clone() }.coded()),
        }
    }
}
