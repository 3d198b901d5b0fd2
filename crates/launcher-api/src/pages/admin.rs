//! The admins' pages: the overview, all instances, the template editor, and the activity log.

pub(crate) mod activity;
pub(crate) mod bulk;
mod chart;
mod command;
pub(super) mod editor;
mod fields;
mod form;
pub(crate) mod instances;
mod lines;
pub(crate) mod overview;
mod sorting;
mod starting;
pub(crate) mod templates;
