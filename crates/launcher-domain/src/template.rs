//! Templates: the unchecked form that an admin writes ([`TemplateDraft`]) and the validated form
//! ([`TemplateSettings`]).

mod draft;
mod validate;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use draft::{ResourcesDraft, TemplateDraft};
pub use validate::FieldError;

use crate::email::EmailAddress;
use crate::quantity::Quantity;

/// Kind of app. It determines the default port and the adaptation of a stock image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AppType {
    /// RStudio Server.
    Rstudio,
    /// Jupyter: notebook or lab.
    Notebook,
    /// Anything else that speaks HTTP on one port.
    Custom,
}

impl AppType {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Rstudio, Self::Notebook, Self::Custom];

    /// Returns the kind as stored and sent.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rstudio => "rstudio",
            Self::Notebook => "notebook",
            Self::Custom => "custom",
        }
    }

    /// Parses a kind.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// Returns the port that the stock image listens on.
    #[must_use]
    pub fn default_port(self) -> Option<u16> {
        match self {
            Self::Rstudio => Some(8787),
            Self::Notebook => Some(8888),
            Self::Custom => None,
        }
    }
}

/// Security profile of a workshop's container.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SecurityProfile {
    /// Unprivileged and not root: Pod Security `restricted`.
    #[default]
    Restricted,
    /// Root inside the container, which stock RStudio images need: Pod Security `baseline`.
    Baseline,
}

impl SecurityProfile {
    /// All profiles.
    pub const ALL: [Self; 2] = [Self::Restricted, Self::Baseline];

    /// Returns the profile as stored and sent.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Restricted => "restricted",
            Self::Baseline => "baseline",
        }
    }

    /// Parses a profile.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.as_str() == text)
    }
}

/// Resource requests and limits of a workshop's container.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resources {
    /// CPU request.
    pub cpu_request: Quantity,
    /// CPU limit.
    pub cpu_limit: Quantity,
    /// Memory request.
    pub memory_request: Quantity,
    /// Memory limit. An app that exceeds it is killed.
    pub memory_limit: Quantity,
}

/// Validated settings of a template. Each instance keeps a copy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateSettings {
    /// 1–80 characters.
    pub name: String,
    /// Markdown, at most 4,000 characters.
    pub description: String,
    /// The kind of app.
    pub app_type: AppType,
    /// An image reference of at most 255 characters.
    pub image: String,
    /// Port of the app, 1–65535 without the sidecar's ports.
    pub port: u16,
    /// Replaces the image's entry point when not empty; at most 64 words. `$(PORT)` is the app's port.
    pub command: Vec<String>,
    /// Replaces the image's arguments when not empty; at most 64 words. `$(PORT)` is the app's port.
    pub args: Vec<String>,
    /// Environment variables, at most 64.
    pub env: BTreeMap<String, String>,
    /// Resource requests and limits.
    pub resources: Resources,
    /// Security profile of the container.
    pub security_profile: SecurityProfile,
    /// Time from ready to the first expiry, in seconds.
    pub lifetime_seconds: u32,
    /// Maximum seconds that one extension adds.
    pub extension_seconds: u32,
    /// Time from ready to the latest possible expiry, in seconds.
    pub max_lifetime_seconds: u32,
}

/// A shared catalog entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// Sorts by creation time (UUID version 7).
    pub template_id: Uuid,
    /// Settings of launched instances.
    pub settings: TemplateSettings,
    /// True when users see it in the catalog.
    pub active: bool,
    /// Starts at 1; incremented at each change.
    pub version: i64,
    /// The admin who created it. Informational, grants no rights.
    pub created_by: EmailAddress,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}
