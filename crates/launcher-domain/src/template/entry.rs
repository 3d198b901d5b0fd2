//! Template: validated settings, and the data of their catalog entry.

use jiff::Timestamp;
use uuid::Uuid;

use super::settings::TemplateSettings;
use crate::email::EmailAddress;

/// A shared catalog entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// Identifier that sorts by creation time (UUID version 7).
    pub template_id: Uuid,
    /// Settings that each launched instance copies.
    pub settings: TemplateSettings,
    /// True when users see the template in the catalog.
    pub active: bool,
    /// Version of the template: 1 at creation, incremented at each change.
    pub version: i64,
    /// The admin who created the template. Informational: it grants no rights.
    pub created_by: EmailAddress,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
}
