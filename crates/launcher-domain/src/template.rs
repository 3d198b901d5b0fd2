//! Templates: the content that an admin writes ([`TemplateContent`]: settings and listing), and the catalog entry
//! ([`Template`]).

mod app_type;
mod codecs;
mod entry;
pub(crate) mod field;
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
mod visible;

pub use app_type::AppType;
pub use codecs::is_mount_path;
pub use entry::Template;
pub use field::{Audience, FieldError, JsonObject};
pub use icon::Icon;
pub use listing::{Listing, TAG_SEPARATORS, is_slug};
pub use material::{MAX_MATERIAL_SOURCES, Material, MaterialKind, MaterialSource, is_material_target};
pub use parameter::{LaunchValues, Parameter, ParameterKind, read_values};
pub use pod_template::{PodTemplateObject, is_storable_pod_template};
pub use pod_template_policy::{PodTemplateKind, PodTemplatePolicy, PodTemplatePolicyError};
pub use repository::RepositoryDraft;
pub use rule::FieldRule;
pub use security_profile::SecurityProfile;
pub use settings::{Resources, TemplateContent, TemplateSettings};
pub use storage::{AtExpiry, Storage, StorageKind};
pub(crate) use visible::is_invisible;
