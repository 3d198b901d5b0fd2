//! The interface between the service and a fleet.

use std::fmt::Debug;

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use launcher_workshop::Workshop;

/// Turns Workshops into running workloads: by the operator on Kubernetes, or as processes of this machine.
///
/// The service writes specs through it and reads statuses from it. Every call is idempotent, so the service can retry
/// it after a crash or a timeout.
#[async_trait]
pub trait Fleet: Debug + Send + Sync + 'static {
    /// Creates or updates the Workshop with this name; returns the stored one, with its `metadata.uid`. If `workshop`
    /// has a uid, only the Workshop with that uid is updated: one that is gone is not created again.
    ///
    /// # Errors
    /// [`FleetError::Unavailable`]: retry; also if the Workshop of this uid is gone, which the watch will report.
    /// [`FleetError::Refused`]: this spec will never be accepted.
    async fn apply(&self, workshop: &Workshop) -> Result<Workshop, FleetError>;

    /// Deletes the Workshop with this name. With a uid, it deletes only that Workshop: a later one of the same name
    /// stays.
    ///
    /// # Errors
    /// [`FleetError::Unavailable`]: retry.
    async fn delete(&self, name: &str, uid: Option<&str>) -> Result<Deletion, FleetError>;

    /// Returns the Workshop with this name, or `None` if it certainly does not exist.
    ///
    /// # Errors
    /// [`FleetError::Unavailable`]: retry.
    async fn get(&self, name: &str) -> Result<Option<Workshop>, FleetError>;

    /// Identity of this fleet: each row belongs to one fleet. It is constant for the same data directory or cluster.
    ///
    /// # Errors
    /// [`FleetError::Unavailable`]: retry.
    async fn identity(&self) -> Result<String, FleetError>;

    /// Streams all Workshops, then each change. After a gap the stream starts over with [`FleetEvent::Relisted`]. It
    /// ends only when the fleet is closed.
    fn watch(&self) -> BoxStream<'static, FleetEvent>;
}

/// Progress of a deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deletion {
    /// The Workshop does not exist any more.
    Gone,
    /// The Workshop is being deleted; [`FleetEvent::Deleted`] follows.
    InProgress,
}

/// An event of [`Fleet::watch`].
#[derive(Debug, Clone, PartialEq)]
pub enum FleetEvent {
    /// All readable Workshops. A missing one is gone or unreadable; [`Fleet::get`] distinguishes the two.
    Relisted(Vec<Workshop>),
    /// A Workshop was created or changed.
    Applied(Box<Workshop>),
    /// A Workshop and its workload are gone.
    Deleted(Box<Workshop>),
}

/// Why a fleet did not complete a call.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// Temporary: the same call may succeed later.
    #[error("fleet unavailable: {0}")]
    Unavailable(String),
    /// Permanent: this Workshop is not acceptable.
    #[error("the fleet refuses the Workshop: {0}")]
    Refused(String),
}

/// Message of an adapter when the Workshop of an apply is gone.
pub(crate) const GONE: &str = "the Workshop that was to be changed is gone";
