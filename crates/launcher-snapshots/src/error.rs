//! Error of the object store.

/// Error of the object store. The message names the store and the object.
#[derive(Debug, thiserror::Error)]
#[error("object store: {0}")]
pub struct StoreError(#[source] pub(crate) Box<dyn std::error::Error + Send + Sync>);

impl From<object_store::Error> for StoreError {
    fn from(error: object_store::Error) -> Self {
        Self(error.into())
    }
}
