//! What the service asks of a fleet, and what a fleet tells the service.

use std::fmt::Debug;

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use launcher_workshop::Workshop;

/// Whatever turns Workshops into running workloads: the operator on Kubernetes, or this machine.
///
/// The service writes specs through it and reads statuses from it. Every call is idempotent, so that it may be repeated
/// after a crash or a time-out without harm.
#[async_trait]
pub trait Fleet: Debug + Send + Sync + 'static {
    /// Makes the Workshop with this name have this spec, creating it when there is none; returns what is stored, with
    /// its `metadata.uid`. With a uid in `workshop`, only that very Workshop: one that is gone is not made anew.
    ///
    /// # Errors
    /// [`FleetError::Unavailable`] to be tried again, also when the Workshop of this uid is gone: what watches will tell;
    /// [`FleetError::Refused`] when this spec will never be accepted.
    async fn apply(&self, workshop: &Workshop) -> Result<Workshop, FleetError>;

    /// Ends the Workshop with this name. With a uid, only that very Workshop: a later one of the same name stays.
    ///
    /// # Errors
    /// [`FleetError::Unavailable`] to be tried again.
    async fn delete(&self, name: &str, uid: Option<&str>) -> Result<Deletion, FleetError>;

    /// The Workshop with this name, or `None` when there is certainly none.
    ///
    /// # Errors
    /// [`FleetError::Unavailable`] to be tried again.
    async fn get(&self, name: &str) -> Result<Option<Workshop>, FleetError>;

    /// What tells this fleet from another: rows of one belong to one. Never changes for the same data directory or
    /// cluster.
    ///
    /// # Errors
    /// [`FleetError::Unavailable`] to be tried again.
    async fn identity(&self) -> Result<String, FleetError>;

    /// Everything that is there, then each change, for ever. After a gap the stream starts over with
    /// [`FleetEvent::Relisted`]; it ends only when the fleet is closed.
    fn watch(&self) -> BoxStream<'static, FleetEvent>;
}

/// How far a deletion is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deletion {
    /// There is no such Workshop any more.
    Gone,
    /// It is on its way out; [`FleetEvent::Deleted`] follows.
    InProgress,
}

/// What a fleet tells.
#[derive(Debug, Clone, PartialEq)]
pub enum FleetEvent {
    /// All Workshops there are; whatever is not among them does not exist.
    Relisted(Vec<Workshop>),
    /// A Workshop is new or has changed.
    Applied(Box<Workshop>),
    /// A Workshop and its workload are gone.
    Deleted(Box<Workshop>),
}

/// Why a fleet did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// Not now: the same call may succeed later.
    #[error("the fleet does not do it now: {0}")]
    Unavailable(String),
    /// Never: this Workshop is not acceptable.
    #[error("the fleet refuses the Workshop: {0}")]
    Refused(String),
}

/// What an adapter answers to an apply whose Workshop is gone.
pub(crate) const GONE: &str = "the Workshop that was to be changed is gone";
