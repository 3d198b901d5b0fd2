//! Templates: the unchecked form that an admin writes ([`TemplateDraft`]), the validated form ([`TemplateSettings`]), and
//! the catalog entry ([`Template`]).

mod app_type;
mod draft;
mod entry;
mod field_error;
mod icon;
mod listing;
mod material;
mod parameter;
mod pod_template;
mod pod_template_policy;
mod repository;
mod rule;
mod security_profile;
mod settings;
mod storage;
mod validate;
mod variable;
mod visible;

pub use app_type::AppType;
pub use draft::{ResourcesDraft, TemplateDraft};
pub use entry::Template;
pub use field_error::FieldError;
pub use icon::Icon;
pub use listing::{Listing, TAG_SEPARATORS, is_slug};
pub use material::{
    MAX_MATERIAL_SOURCES, Material, MaterialDraft, MaterialKind, MaterialSource, MaterialSourceDraft,
    is_material_target,
};
pub use parameter::{LaunchValues, Parameter, ParameterDraft, ParameterKind, read_values};
pub use pod_template::{PodTemplateObject, is_storable_pod_template};
pub use pod_template_policy::{PodTemplateKind, PodTemplatePolicy, PodTemplatePolicyError};
pub use repository::RepositoryDraft;
pub use rule::FieldRule;
pub use security_profile::SecurityProfile;
pub use settings::{Resources, TemplateSettings};
pub use storage::{AtExpiry, Storage, StorageDraft, StorageKind, is_mount_path};
pub use validate::ValidTemplate;
pub(crate) use visible::is_invisible;
