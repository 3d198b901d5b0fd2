//! Schemas of the domain's enumerations, built from the domain's own lists.

use std::borrow::Cow;

use launcher_domain::{ActivityAction, AppType, EndReason, FailureCode, InstanceState, SecurityProfile, StartStep};
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
    "Where an instance stands: queued -> starting -> running -> terminating -> terminated, or failed."
);
named!(
    /// The schema of a step of the start.
    StartStepName,
    StartStep,
    "What an instance that starts is waiting for."
);
named!(
    /// The schema of an end's reason.
    EndReasonName,
    EndReason,
    "Why an instance ended; set as soon as its end is decided."
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
    "What was done. ended: by a person, because its time was up, or because it was deleted from outside; dismissed: what \
     had failed was taken off the list."
);
named!(
    /// The schema of a kind of app.
    AppTypeName,
    AppType,
    "The kind of app; it decides the default port and how a stock image is made to work."
);
named!(
    /// The schema of a security profile.
    SecurityProfileName,
    SecurityProfile,
    "How tightly the container is held; baseline allows root inside the container, which stock RStudio images need."
);
