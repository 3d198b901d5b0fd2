//! Launch parameters of a template: values that a user gives at the launch. They become environment variables of the app.

mod definition;
mod draft;
mod value;

pub use definition::{Parameter, ParameterKind};
pub use draft::ParameterDraft;
pub(super) use draft::validated;
pub use value::{LaunchValues, read_values};
