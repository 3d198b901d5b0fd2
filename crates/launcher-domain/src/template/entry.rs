//! Template: validated settings, and the data of their catalog entry.

use jiff::Timestamp;
use uuid::Uuid;

use super::icon::Icon;
use super::listing::Listing;
use super::settings::TemplateSettings;
use crate::email::EmailAddress;

/// A shared catalog entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// Identifier that sorts by creation time (UUID version 7).
    pub template_id: Uuid,
    /// Settings that each launched instance copies.
    pub settings: TemplateSettings,
    /// Presentation in the catalog, and the slug of its link. Instances do not copy it.
    pub listing: Listing,
    /// True when users can launch the template. The catalog shows it to them unless it is unlisted.
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

impl Template {
    /// Returns the icon: the chosen one, or the one of the kind of app.
    #[must_use]
    pub fn icon(&self) -> Icon {
        self.listing.icon.unwrap_or_else(|| Icon::of_app_type(self.settings.app_type))
    }
}
