//! Record of the crashes of an app, in an annotation of its pod.

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use launcher_domain::crash::{CrashHistory, CrashVerdict, MAX_CRASHES};
use serde::{Deserialize, Serialize};

use crate::identifiers::CRASHES;

/// Value of the annotation [`CRASHES`]: the crashes that the operator has counted in this pod.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CrashRecord {
    /// Number of the latest counted crash; 0 if none.
    pub(crate) number: i32,
    /// Times of the latest crashes, at most [`MAX_CRASHES`], the oldest first.
    times: Vec<Timestamp>,
    /// True if some files of the app end with a crash.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) files_lost: bool,
}

impl CrashRecord {
    /// Returns the record of a new pod.
    pub(crate) fn new(files_lost: bool) -> Self {
        Self { files_lost, ..Self::default() }
    }

    /// Returns the record of a pod. A missing or unreadable record is empty.
    pub(crate) fn of(pod: &Pod) -> Self {
        let noted = pod.annotations().get(CRASHES);
        noted.and_then(|noted| serde_json::from_str(noted).ok()).unwrap_or_default()
    }

    /// True if the pod has a record, also one without crashes.
    pub(crate) fn exists(pod: &Pod) -> bool {
        pod.annotations().contains_key(CRASHES)
    }

    /// Returns the value of the annotation.
    pub(crate) fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns the record with these crashes, the last of which has this number.
    pub(crate) fn with(&self, number: i32, crashes: impl Iterator<Item = Timestamp>) -> Self {
        let mut times: Vec<Timestamp> = self.times.iter().copied().chain(crashes).collect();
        times.drain(..times.len().saturating_sub(MAX_CRASHES));
        Self { number, times, files_lost: self.files_lost }
    }

    /// Applies the rule of the domain to all crashes in their order. The result does not depend on the current time: a
    /// reconcile that is repeated later has the same verdict.
    pub(crate) fn verdict(&self) -> CrashVerdict {
        let mut history = CrashHistory::default();
        self.times.iter().fold(CrashVerdict::StartAgain, |_, at| history.record(*at, true))
    }
}
