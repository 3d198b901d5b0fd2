//! Schemas of the domain's enumerations, built from the domain's own lists.

use std::borrow::Cow;

use launcher_domain::{
    ActivityAction, EndReason, FailureCode, InstanceState, MaterialOutcome, SnapshotFailure, SnapshotState, StartStep,
};
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema, openapi::RefOr};

macro_rules! named {
    ($(#[$doc:meta])* $name:ident, $of:ty, $description:literal) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub(crate) enum $name {}

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                ObjectBuilder::new()
                    .schema_type(Type::String)
                    .description(Some($description))
                    .enum_values(Some(<$of>::ALL.map(|value| value.as_str())))
                    .into()
            }
        }

        impl ToSchema for $name {
            fn name() -> Cow<'static, str> {
                stringify!($name).into()
            }
        }
    };
}

named!(
    /// The schema of a state.
    StateName,
    InstanceState,
    "State of an instance: queued -> starting -> running -> terminating -> terminated, or failed. An instance with kept files can be suspended: running -> suspending -> suspended -> queued, when it is resumed."
);
named!(
    /// The schema of a step of the start.
    StartStepName,
    StartStep,
    "Step that a starting instance waits for."
);
named!(
    /// The schema of an end's reason.
    EndReasonName,
    EndReason,
    "Reason of an instance's end. Set when it begins to terminate."
);
named!(
    /// The schema of a failure's code.
    FailureCodeName,
    FailureCode,
    "The kind of a failure."
);
named!(
    /// The schema of an action of the activity log.
    ActivityActionName,
    ActivityAction,
    "The action. restarted: an admin requested the restart of an outdated instance. suspended: a person paused the instance, or it expired. resumed: a person resumed it. ended: a person ended the instance, it expired, or its Workshop was deleted outside of the service. \
     dismissed: a person removed a failed instance from the list. volume-deleted: a person deleted kept files, or the service deleted unused ones."
);
named!(
    /// The schema of the progress of a snapshot.
    SnapshotStateName,
    SnapshotState,
    "Progress of a snapshot. planned: the end of the running workshop saves its files first. pending: the end is decided, and the workshop runs until its files are saved. saved: the files are saved. failed: the workshop ended, and its files are lost."
);
named!(
    /// The schema of the reason of a failed snapshot.
    SnapshotFailureName,
    SnapshotFailure,
    "Reason why files were not saved. time-limit: they were not saved in time. too-large: the archive has more than 2 GiB. limit-reached: the owner has 20 snapshots. files-unavailable: the fleet could not read the files. store-unavailable: the object store did not accept the archive. workshop-gone: the workload was gone before."
);
named!(
    /// The schema of an outcome.
    MaterialOutcomeName,
    MaterialOutcome,
    "placed: the files are there for the first time. updated: they are merged with a newer version. unchanged: they were of the current version. failed: the source could not be placed completely. The student's own files are unchanged, and the next launch continues."
);

/// Gives a type a name in the document. The document replaces the placeholder schema by one that the builder cannot
/// express.
macro_rules! named_schema {
    ($(#[$about:meta])* type $type:ident = $name:literal) => {
        $(#[$about])*
        #[derive(Debug)]
        pub(crate) enum $type {}

        $crate::wire::named_schema! { $type = $name }
    };
    ($(#[$about:meta])* $type:ident = $name:literal) => {
        impl utoipa::PartialSchema for $type {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                utoipa::openapi::schema::ObjectBuilder::new().into()
            }
        }

        impl utoipa::ToSchema for $type {
            fn name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }
        }
    };
}
pub(crate) use named_schema;
