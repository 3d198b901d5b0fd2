//! Course material of a template: files that are in the workshop's directory when it opens.

mod content;
mod draft;
mod source;

pub use content::{MAX_MATERIAL_SOURCES, Material};
pub use draft::{MaterialDraft, MaterialSourceDraft};
pub use source::{MaterialKind, MaterialSource, is_material_target};
