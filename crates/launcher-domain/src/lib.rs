//! The rules of the workshop launcher, as pure code: no I/O, no HTTP, no SQL, no Kubernetes.
//!
//! Authorization ([`access`]), templates and instances ([`template`], [`instance`]), lifetimes ([`lifetime`]), names
//! ([`names`]) and activity log entries ([`activity`]). [`clock`] passes in time and randomness,
//! [`sync`] locks shared state, and [`version`] is the version of all programs.

pub mod accept_language;
pub mod access;
pub mod activity;
pub mod brand;
pub mod class;
mod class_policy;
pub mod clock;
mod coded_text;
pub mod crash;
pub mod email;
pub mod failure;
pub mod files;
pub mod frame_path;
pub mod hand;
pub mod identity;
pub mod input;
pub mod instance;
pub mod join;
pub mod lifetime;
pub mod limits;
pub mod listening;
pub mod local_path;
pub mod log_line;
pub mod material;
pub mod material_source;
pub mod messages;
pub mod names;
pub mod network;
pub mod quantity;
pub mod report;
pub mod secrets;
pub mod snapshot;
pub mod sync;
pub mod template;
mod text_enum;
pub mod transfer;
pub mod version;
pub mod volume;

pub use access::{Action, AdminList, Caller, ClassCreators, Scope, Verdict};
pub use activity::{Act, Activity, ActivityAction};
pub use class::{
    Class, ClassAccess, ClassAction, ClassClosure, ClassContent, ClassLimits, ClassRole, Member, MemberSource,
    Membership, is_member_name,
};
pub use clock::{Clock, Entropy};
pub use coded_text::{CodedText, TextKey};
pub use crash::Crash;
pub use email::EmailAddress;
pub use failure::{FailureCode, FailureDetail, FailureReason, FailureRemedy};
pub use files::{FileRetention, FilesAtEnd};
pub use hand::{Attention, ClassMessage, Hand};
pub use identity::ProxySecret;
pub use instance::{EndReason, Instance, InstanceState, StartStep};
pub use join::{Invitation, JoinLink, JoinRefusal, JoinRules};
pub use limits::LaunchRate;
pub use listening::ListensElsewhere;
pub use material::{
    MATERIAL_ATTEMPT_VARIABLE, MATERIAL_VARIABLE, MaterialConfig, MaterialFinding, MaterialOutcome, MaterialReport,
    MaterialTrouble, SourceReport,
};
pub use material_source::SourceUrl;
pub use report::Report;
pub use secrets::SecretValues;
pub use snapshot::{ArchiveToken, InstanceSnapshot, Snapshot, SnapshotFailure, SnapshotState, Token, TokenDigest};
pub use template::{
    AppType, AtExpiry, Audience, Color, FieldError, FieldRule, Icon, JsonObject, LaunchValues, Listing, Material,
    MaterialKind, MaterialSource, Parameter, ParameterKind, PodTemplateKind, PodTemplateObject, PodTemplatePolicy,
    PodTemplatePolicyError, RepositoryDraft, Resources, SecurityProfile, Size, Sizes, Storage, StorageKind, Template,
    TemplateContent, TemplatePolicy, TemplateSettings, is_storable_pod_template,
};
pub use volume::Volume;
