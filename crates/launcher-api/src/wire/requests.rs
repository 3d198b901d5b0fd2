//! Small request bodies.

use jiff::Timestamp;
use serde::Deserialize;
use utoipa::ToSchema;

/// A launch says nothing: what runs is the template's business, who owns it the caller's identity.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LaunchBody {}

/// An extension.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExtendBody {
    /// The `expires_at` that the caller saw: makes a double click harmless.
    #[serde(default)]
    #[schema(value_type = Option<String>, format = DateTime, example = "2026-03-02T10:00:12.345Z")]
    pub(crate) expected_expires_at: Option<Timestamp>,
}
