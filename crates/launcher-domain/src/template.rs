//! Templates: what an admin writes ([`TemplateDraft`]), and what has been validated ([`TemplateSettings`]).

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

/// What kind of app a template launches: it decides the default port and how a stock image is made to work.
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
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Rstudio, Self::Notebook, Self::Custom];

    /// As it is stored and sent.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rstudio => "rstudio",
            Self::Notebook => "notebook",
            Self::Custom => "custom",
        }
    }

    /// Reads a kind.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// The port that the stock image listens on.
    #[must_use]
    pub fn default_port(self) -> Option<u16> {
        match self {
            Self::Rstudio => Some(8787),
            Self::Notebook => Some(8888),
            Self::Custom => None,
        }
    }
}

/// How tightly a workshop's container is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SecurityProfile {
    /// Not root, nothing privileged: Pod Security `restricted`.
    #[default]
    Restricted,
    /// Root inside the container, which stock RStudio images need: Pod Security `baseline`.
    Baseline,
}

impl SecurityProfile {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Restricted, Self::Baseline];

    /// As it is stored and sent.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Restricted => "restricted",
            Self::Baseline => "baseline",
        }
    }

    /// Reads a profile.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.as_str() == text)
    }
}

/// What a workshop's container may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resources {
    /// CPU that is set aside for it.
    pub cpu_request: Quantity,
    /// CPU that it may use at most.
    pub cpu_limit: Quantity,
    /// Memory that is set aside for it.
    pub memory_request: Quantity,
    /// Memory that it may use at most; more ends it.
    pub memory_limit: Quantity,
}

/// A template's validated settings. An instance keeps a copy of them.
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
    /// Where the app listens, 1–65535 without the sidecar's ports.
    pub port: u16,
    /// Replaces the image's entry point when not empty; at most 64 words. `$(PORT)` is where the app listens.
    pub command: Vec<String>,
    /// Replaces the image's arguments when not empty; at most 64 words. `$(PORT)` is where the app listens.
    pub args: Vec<String>,
    /// At most 64 pairs.
    pub env: BTreeMap<String, String>,
    /// What the container may use.
    pub resources: Resources,
    /// How tightly the container is held.
    pub security_profile: SecurityProfile,
    /// From ready to the first expiry, in seconds.
    pub lifetime_seconds: u32,
    /// What one extension adds at most, in seconds.
    pub extension_seconds: u32,
    /// From ready to the end that no extension passes, in seconds.
    pub max_lifetime_seconds: u32,
}

/// A shared catalog entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// Sorts by the time of its creation (UUID version 7).
    pub template_id: Uuid,
    /// What it launches.
    pub settings: TemplateSettings,
    /// Whether users see it in the catalog.
    pub active: bool,
    /// 1 at first, +1 at each change.
    pub version: i64,
    /// The admin who created it. Informational: it restricts nothing.
    pub created_by: EmailAddress,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}
