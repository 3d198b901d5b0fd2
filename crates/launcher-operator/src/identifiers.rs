//! Names that the operator writes into Kubernetes objects.

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
