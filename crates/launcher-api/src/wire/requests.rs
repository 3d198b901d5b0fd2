//! Small request bodies.

use jiff::Timestamp;
use serde::Deserialize;
use utoipa::ToSchema;

use super::launch_parameter::GivenParameters;

/// A launch. The template determines what runs, and the caller's identity the owner.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LaunchBody {
    /// Values of the template's parameters by name. An empty value counts as absent.
    #[serde(default)]
    #[schema(value_type = std::collections::BTreeMap<String, String>, example = json!({ "DATASET": "iris" }))]
    pub(crate) parameters: GivenParameters,
}

/// An extension of all running instances of a template.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExtendClassBody {
    /// Time until which the instances are extended.
    #[schema(value_type = String, format = DateTime, example = "2026-03-02T12:30:00Z")]
    pub(crate) until: Timestamp,
}

/// An extension.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExtendBody {
    /// The `expires_at` that the caller saw. If it has changed, the request is refused, so a double click extends once.
    #[serde(default)]
    #[schema(value_type = Option<String>, format = DateTime, example = "2026-03-02T10:00:12.345Z")]
    pub(crate) expected_expires_at: Option<Timestamp>,
}
