//! Errors of applying and deleting resources.

use crate::lease::NotLeading;

/// Error of applying or deleting a resource.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApplyError {
    #[error(transparent)]
    NotLeading(#[from] NotLeading),
    #[error("failed to apply the {kind} {name}: {source}")]
    Apply { kind: String, name: String, source: kube::Error },
    #[error("failed to delete the {kind} {name}: {source}")]
    Delete { kind: String, name: String, source: kube::Error },
}
