//! Schemas that several routes share, built from the domain's own lists, and the body of a launch.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::Timestamp;
use launcher_domain::{
    ActivityAction, ClassRole, EndReason, FailureCode, InstanceState, MaterialOutcome, MemberSource, RepositoryDraft,
    SecretValues, SnapshotFailure, SnapshotState, StartStep,
};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};
use uuid::Uuid;

use crate::extract::RequestBody;

/// Declares the schemas of enums of the domain, and types that serialize as their values.
macro_rules! named {
    ($($name:ident = $of:ty, $description:expr;)*) => {
        $(
            #[derive(Debug, Serialize)]
            #[serde(transparent)]
            pub(crate) struct $name($of);

            impl From<$of> for $name {
                fn from(value: $of) -> Self {
                    Self(value)
                }
            }

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
        )*
    };
}

named! {
    StateName = InstanceState,
        "State of an instance: queued -> starting -> running -> terminating -> terminated, or failed. An instance with kept files can be suspended: running -> suspending -> suspended -> queued, when it is resumed.";
    StartStepName = StartStep, "Step that a starting instance waits for.";
    EndReasonName = EndReason, "Reason of an instance's end. Set when it begins to terminate.";
    FailureCodeName = FailureCode, "The kind of a failure.";
    ActivityActionName = ActivityAction,
        format!("The action. {}", ActivityAction::ALL.map(|action| format!("`{}`: {}", action.as_str(), action.about())).join(" "));
    SnapshotStateName = SnapshotState,
        "Progress of a snapshot. planned: the end of the running workshop saves its files first. pending: the end is decided, and the workshop runs until its files are saved. saved: the files are saved. failed: the workshop ended, and its files are lost.";
    SnapshotFailureName = SnapshotFailure,
        "Reason why files were not saved. time-limit: they were not saved in time. too-large: the archive has more than 2 GiB. limit-reached: the owner has 20 snapshots. files-unavailable: the fleet could not read the files. store-unavailable: the object store did not accept the archive. workshop-gone: the workload was gone before.";
    MaterialOutcomeName = MaterialOutcome,
        "placed: the files are there for the first time. updated: they are merged with a newer version. unchanged: they were of the current version. failed: the source could not be placed completely. The student's own files are unchanged, and the next launch continues.";
    ClassRoleName = ClassRole,
        "Role in a class. student: launches its templates. assistant: also sees and extends the workshops of all members. teacher: also ends them, and edits the class, its templates and its members.";
    MemberSourceName = MemberSource,
        "Origin of a membership. roster: a teacher or an admin added the person. link: the person used a join link.";
}

/// Gives a type a name in the document. The document replaces the placeholder schema by one that the builder cannot
/// express.
macro_rules! named_schema {
    (type $type:ident = $name:literal) => {
        #[derive(Debug)]
        pub(crate) enum $type {}

        $crate::wire::named_schema! { $type = $name }
    };
    ($type:ident = $name:literal) => {
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

/// A launch. The template determines what runs, and the caller's identity the owner.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LaunchBody {
    /// Repository to add to the course material. The template must allow its URL.
    #[serde(default)]
    #[schema(value_type = Option<RepositoryBody>)]
    pub(crate) repository: Option<RepositoryDraft>,
    /// Snapshot of the caller whose files the workshop has when it opens. It must be of this template, and the template must
    /// not keep files.
    #[serde(default)]
    #[schema(example = json!(null))]
    pub(crate) snapshot: Option<Uuid>,
    /// Values of the template's parameters by name. An empty value counts as absent.
    #[serde(default)]
    #[schema(value_type = std::collections::BTreeMap<String, String>, example = json!({ "DATASET": "iris" }))]
    pub(crate) parameters: GivenParameters,
}

impl RequestBody for LaunchBody {
    const OBJECTS: &'static [&'static str] = &["", "/parameters"];
    const OPTIONAL_OBJECTS: &'static [&'static str] = &["/repository"];
}

/// A repository that a launch adds to the course material. Its files are in the directory that the last segment of the
/// URL names, without `.git`.
#[derive(Debug, ToSchema)]
#[schema(as = LaunchRepository)]
#[expect(dead_code, reason = "the schema of RepositoryDraft: the domain has no schemas")]
pub(crate) struct RepositoryBody {
    /// URL. It must begin with an entry of the template's `allowed_repositories`.
    #[schema(max_length = 2048, example = "https://git.example.org/statistics/exercise-1.git")]
    url: String,
    /// Branch, tag or full commit id. Default: the repository's default branch.
    #[schema(max_length = 255, example = "main")]
    r#ref: Option<String>,
    /// Relative path inside of the repository: only files below it are placed.
    #[schema(max_length = 255)]
    folder: Option<String>,
}

/// Values of launch parameters by name. No error contains them, because some may be secrets.
#[derive(Debug, Clone, Default)]
pub(crate) struct GivenParameters(pub(crate) SecretValues);

impl<'de> Deserialize<'de> for GivenParameters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let values = BTreeMap::<String, GivenValue>::deserialize(deserializer)?;
        Ok(Self(values.into_iter().map(|(name, value)| (name, value.0)).collect()))
    }
}

struct GivenValue(String);

impl<'de> Deserialize<'de> for GivenValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(text) => Ok(Self(text)),
            _ => Err(D::Error::custom("must be a string")),
        }
    }
}

/// Formats a time for responses: RFC 3339, UTC, milliseconds.
pub(crate) fn rfc3339(at: Timestamp) -> String {
    format!("{at:.3}")
}
