//! The admins' pages: the overview, all instances, the classes, the template editor, and the activity log.

pub(crate) mod activity;
pub(crate) mod bulk;
pub(super) mod editor;
mod fields;
mod form;
pub(crate) mod images;
pub(crate) mod instances;
mod lines;
pub(crate) mod overview;
mod pod_settings;
mod presets;
mod rows;
pub(crate) mod template_workshops;
pub(crate) mod templates;
mod yaml;
