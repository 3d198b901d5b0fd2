//! The admins' pages: all instances, and the template editor.

pub(crate) mod bulk;
mod fields;
mod form;
pub(crate) mod instances;
mod lines;
pub(crate) mod templates;
