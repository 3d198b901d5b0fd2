//! Errors of applying and deleting resources.

use crate::lease::NotLeading;

/// Error of applying or deleting a resource.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApplyError {
    #[error(transparent)]
    NotLeading(#[from] NotLeading),
    #[error("failed to apply the {kind} {name}: {source}")]
    Apply { kind: String, name: String, source: kube::Error },
    #[error("failed to read the {kind} {name}: {source}")]
    Read { kind: String, name: String, source: kube::Error },
    /// A claim with the name of the volume exists, and the operator did not create it.
    #[error(
        "the PersistentVolumeClaim {name} does not have the label managed-by: workshop-launcher; only volumes with it are mounted"
    )]
    ForeignClaim { name: String },
    /// The pod of another Workshop has the volume.
    #[error("the volume {volume} is in use by the workshop {user}")]
    VolumeInUse { volume: String, user: String },
    #[error("failed to delete the {kind} {name}: {source}")]
    Delete { kind: String, name: String, source: kube::Error },
}
