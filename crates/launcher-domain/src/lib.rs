//! The rules of the workshop launcher, as pure code: no I/O, no HTTP, no SQL, no Kubernetes.
//!
//! Authorization ([`access`]), templates and instances ([`template`], [`instance`]), lifetimes ([`lifetime`]), names
//! ([`names`]) and activity log entries ([`activity`]). [`clock`] passes in time and randomness,
//! [`sync`] locks shared state, and [`version`] is the version of all programs.

pub mod accept_language;
pub mod access;
pub mod activity;
pub mod caller;
pub mod clock;
mod coded_text;
pub mod crash;
pub mod email;
pub mod failure;
pub mod frame_path;
pub mod identity;
pub mod input;
pub mod instance;
pub mod lifetime;
pub mod limits;
pub mod local_path;
pub mod material_config;
pub mod material_report;
pub mod material_secret;
pub mod names;
pub mod proof;
pub mod quantity;
pub mod scope;
pub mod secrets;
pub mod snapshot;
pub mod source_url;
pub mod start_step;
pub mod sync;
pub mod template;
mod text_enum;
pub mod version;
pub mod volume;

pub use access::{Action, Verdict};
pub use activity::{Act, Activity, ActivityAction};
pub use caller::{AdminList, Caller};
pub use clock::{Clock, Entropy};
pub use coded_text::{CodedText, TextKey};
pub use crash::Crash;
pub use email::EmailAddress;
pub use failure::{FailureCode, FailureDetail, FailureReason, FailureRemedy};
pub use instance::{EndReason, Instance, InstanceState};
pub use limits::LaunchRate;
pub use material_config::{MATERIAL_ATTEMPT_VARIABLE, MATERIAL_VARIABLE, MaterialConfig};
pub use material_report::{MaterialOutcome, MaterialReport, SourceReport};
pub use proof::ProxySecret;
pub use scope::Scope;
pub use secrets::SecretValues;
pub use snapshot::{ArchiveToken, InstanceSnapshot, Snapshot, SnapshotFailure, SnapshotState};
pub use source_url::SourceUrl;
pub use start_step::StartStep;
pub use template::{
    AppType, AtExpiry, Audience, FieldError, FieldRule, Icon, JsonObject, LaunchValues, Listing, Material,
    MaterialKind, MaterialSource, Parameter, ParameterKind, PodTemplateKind, PodTemplateObject, PodTemplatePolicy,
    PodTemplatePolicyError, RepositoryDraft, SecurityProfile, Storage, StorageKind, Template, TemplateContent,
    TemplateSettings, is_storable_pod_template,
};
pub use volume::Volume;
