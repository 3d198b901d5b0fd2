//! Request and response bodies, and their schemas.

mod activity;
mod instance;
mod named;
mod person;
mod requests;
mod template;
mod template_body;

use jiff::Timestamp;

pub(crate) use activity::ActivityResponse;
pub(crate) use instance::WorkshopInstanceResponse;
pub(crate) use person::MeResponse;
pub(crate) use requests::{ExtendBody, LaunchBody};
pub(crate) use template::WorkshopTemplateResponse;
pub(crate) use template_body::{TemplateBody, template_body_schema};

/// Formats a time for responses: RFC 3339, UTC, milliseconds.
pub(crate) fn rfc3339(at: Timestamp) -> String {
    format!("{at:.3}")
}
