//! The admins' pages: all instances, the template editor, and the activity log.

pub(crate) mod activity;
pub(crate) mod bulk;
mod fields;
mod form;
pub(crate) mod instances;
mod lines;
pub(crate) mod templates;
