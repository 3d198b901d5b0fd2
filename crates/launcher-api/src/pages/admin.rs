//! The admins' pages: the overview, all instances, the classes, the template editor, and the activity log.

pub(crate) mod activity;
pub(crate) mod bulk;
mod chart;
pub(crate) mod class;
pub(crate) mod class_extension;
mod codec;
pub(super) mod editor;
mod fields;
mod form;
pub(crate) mod images;
pub(crate) mod instances;
mod lines;
pub(crate) mod overview;
mod pod_settings;
pub(crate) mod restart;
mod roster;
mod sorting;
mod sources;
mod starting;
mod table;
pub(crate) mod templates;
mod yaml;
