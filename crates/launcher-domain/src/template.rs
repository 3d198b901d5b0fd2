//! Templates: the unchecked form that an admin writes ([`TemplateDraft`]), the validated form ([`TemplateSettings`]), and
//! the catalog entry ([`Template`]).

mod app_type;
mod draft;
mod entry;
mod security_profile;
mod settings;
mod validate;

pub use app_type::AppType;
pub use draft::{ResourcesDraft, TemplateDraft};
pub use entry::Template;
pub use security_profile::SecurityProfile;
pub use settings::{Resources, TemplateSettings};
pub use validate::FieldError;
