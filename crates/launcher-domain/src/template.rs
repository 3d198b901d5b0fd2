//! Templates: the content that an admin writes ([`TemplateContent`]: settings and listing), and the catalog entry
//! ([`Template`]).

pub(crate) mod codecs;
pub(crate) mod field;
pub(crate) mod listing;
mod material;
mod parameter;
mod pod_template;
pub(crate) mod rule;
mod settings;
mod size;
mod variable;

pub(crate) use codecs::SECONDS;
pub(crate) use codecs::is_invisible;
pub use codecs::{is_image, is_mount_path};
pub use field::{Audience, FieldError, JsonObject, join};
pub use listing::{Color, Listing, TAG_SEPARATORS, is_slug, slug_of};
pub use material::{MAX_MATERIAL_SOURCES, Material, MaterialKind, MaterialSource, RepositoryDraft, is_material_target};
pub use parameter::{LaunchValues, Parameter, ParameterKind, read_values};
pub use pod_template::{
    PodTemplateKind, PodTemplateObject, PodTemplatePolicy, PodTemplatePolicyError, is_storable_pod_template,
};
pub use rule::FieldRule;
pub use settings::{
    AppType, AtExpiry, Icon, Resources, SecurityProfile, Storage, StorageKind, Template, TemplateContent,
    TemplateSettings,
};
pub use size::{Size, Sizes, SizesError, TemplatePolicy};
pub use variable::{
    APP_VARIABLES, DISABLE_AUTH, PORT, WORKSHOP_HOST, WORKSHOP_ORIGIN, WORKSHOP_URL, is_identifier,
    is_reserved_variable,
};
