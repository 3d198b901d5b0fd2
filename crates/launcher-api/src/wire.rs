//! Request and response bodies, and their schemas.

mod activity;
mod instance;
mod material;
mod named;
mod parameters;
mod person;
mod requests;
mod snapshot;
mod time;
mod volume;

pub(crate) use activity::ActivityResponse;
pub(crate) use instance::{ReasonResponse, WorkshopInstanceResponse};
pub(crate) use named::named_schema;
pub(crate) use parameters::StateParameter;
pub(crate) use person::MeResponse;
pub(crate) use requests::{ExtendBody, ExtendClassBody, LaunchBody};
pub(crate) use snapshot::SnapshotResponse;
pub(crate) use time::rfc3339;
pub(crate) use volume::VolumeResponse;
