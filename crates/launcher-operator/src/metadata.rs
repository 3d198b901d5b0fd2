//! Metadata of Kubernetes objects: the names that the operator writes, the owner of an object, and the record of crashes in an
//! annotation of the pod.

use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{DeleteParams, ListParams, PatchParams, PostParams, Preconditions};
use kube::{Resource, ResourceExt};
use launcher_domain::crash::CrashHistory;
use launcher_workshop::Workshop;
use serde::{Deserialize, Serialize};

/// Field manager of all patches by the operator.
pub const FIELD_MANAGER: &str = "workshop-operator";
/// Label on a workshop's pod with the name of its Workshop. The Service selects the pod by it.
pub const WORKSHOP_LABEL: &str = "workshoplauncher.dev/workshop";
/// Label on a workshop's pod with the name of its volume. A pod without kept files does not have it.
pub const VOLUME_LABEL: &str = "workshoplauncher.dev/volume";
/// Annotation of a pod with the expiry of its workshop, in RFC 3339; empty before the workshop was ready. The sidecar
/// reads it through a volume.
pub(crate) const EXPIRES_AT: &str = "workshoplauncher.dev/expires-at";
/// Annotation of a pod with the crashes of its app, as JSON. Pods with kept files have it after the first crash. Pods whose
/// files outlive a crash without being kept have it from the beginning.
pub(crate) const CRASHES: &str = "workshoplauncher.dev/crashes";
/// Annotation of a pod with the last crash of its app, for the frame page: the time in RFC 3339, and the code of the
/// failure; empty before the first crash. The sidecar reads it through a volume.
pub(crate) const LAST_CRASH: &str = "workshoplauncher.dev/last-crash";
/// Annotation of a pod with the last restart of its Workshop at its creation: `spec.restartedAt`, in RFC 3339. The pod
/// has no annotation if the Workshop was never restarted.
pub const RESTARTED_AT: &str = "workshoplauncher.dev/restarted-at";

/// Finalizer that the API server adds to an object that is deleted in the foreground. The garbage collector removes it.
pub(crate) const FOREGROUND: &str = "foregroundDeletion";

pub(crate) fn creation() -> PostParams {
    PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() }
}

pub(crate) fn merge() -> PatchParams {
    PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() }
}

pub(crate) fn server_side_apply() -> PatchParams {
    PatchParams::apply(FIELD_MANAGER).force()
}

/// Parameters of a deletion in the background. A new object of the same name stays.
pub(crate) fn deletion_of(object: &ObjectMeta) -> DeleteParams {
    DeleteParams::background().preconditions(Preconditions { uid: object.uid.clone(), resource_version: None })
}

/// Returns the error of a change, unless the object is gone, or another object has its name now.
pub(crate) fn unless_gone<T>(outcome: kube::Result<T>) -> kube::Result<()> {
    match outcome {
        Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => Ok(()),
        outcome => outcome.map(drop),
    }
}

/// Lists the object with this name. The operator's Role does not allow `get` for pods.
pub(crate) fn only(name: &str) -> ListParams {
    ListParams::default().fields(&format!("metadata.name={name}"))
}

pub(crate) fn workshop_uid(object: &ObjectMeta) -> Option<&str> {
    let kind = Workshop::kind(&());
    let owner = object.owner_references.iter().flatten().find(|owner| owner.kind == kind);
    owner.map(|owner| owner.uid.as_str())
}

pub(crate) fn is_owned_by(object: &ObjectMeta, uid: &str) -> bool {
    object.owner_references.iter().flatten().any(|owner| owner.uid == uid)
}

/// Value of the annotation [`CRASHES`]: the crashes that the operator has counted in this pod.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CrashRecord {
    /// Number of the latest crash that was counted, or that happened before the first readiness; 0 if none.
    pub(crate) number: i32,
    #[serde(rename = "times")]
    pub(crate) crashes: CrashHistory,
    /// True if some files of the app end with a crash.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) files_lost: bool,
}

impl CrashRecord {
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

    pub(crate) fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
