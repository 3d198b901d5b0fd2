//! The admins' pages: the overview, all instances, and the template editor.

pub(crate) mod bulk;
mod chart;
mod fields;
mod form;
pub(crate) mod instances;
mod lines;
pub(crate) mod overview;
mod sorting;
pub(crate) mod templates;
