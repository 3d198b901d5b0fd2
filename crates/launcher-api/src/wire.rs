//! Schemas that several routes share, and small request bodies.

mod named;
mod requests;
mod time;

pub(crate) use named::{
    ActivityActionName, EndReasonName, FailureCodeName, MaterialOutcomeName, SnapshotFailureName, SnapshotStateName,
    StartStepName, StateName, named_schema,
};
pub(crate) use requests::{ExtendBody, ExtendClassBody, LaunchBody};
pub(crate) use time::rfc3339;
