//! Small request bodies.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use launcher_domain::{RepositoryDraft, SecretValues};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use utoipa::ToSchema;

/// A launch. The template determines what runs, and the caller's identity the owner.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LaunchBody {
    /// Repository to add to the course material. The template must allow its URL.
    #[serde(default)]
    #[schema(value_type = Option<RepositoryBody>)]
    pub(crate) repository: Option<RepositoryDraft>,
    /// Values of the template's parameters by name. An empty value counts as absent.
    #[serde(default)]
    #[schema(value_type = std::collections::BTreeMap<String, String>, example = json!({ "DATASET": "iris" }))]
    pub(crate) parameters: GivenParameters,
}

/// A repository that a launch adds to the course material. Its files are in the directory that the last segment of the
/// URL names, without `.git`.
#[derive(Debug, ToSchema)]
#[schema(as = LaunchRepository)]
#[expect(dead_code, reason = "the schema of RepositoryDraft: the domain has no schemas")]
pub(crate) struct RepositoryBody {
    /// URL. It must begin with an entry of the template's `allowed_repositories`.
    #[schema(max_length = 2048, example = "https://git.example.org/statistics/exercise-1.git")]
    url: String,
    /// Branch, tag or full commit id. Default: the repository's default branch.
    #[schema(max_length = 255, example = "main")]
    r#ref: Option<String>,
    /// Relative path inside of the repository: only files below it are placed.
    #[schema(max_length = 255)]
    folder: Option<String>,
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

/// Values of launch parameters by name. No error contains them, because some may be secrets.
#[derive(Debug, Clone, Default)]
pub(crate) struct GivenParameters(pub(crate) SecretValues);

impl<'de> Deserialize<'de> for GivenParameters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let values = BTreeMap::<String, GivenValue>::deserialize(deserializer)?;
        Ok(Self(values.into_iter().map(|(name, value)| (name, value.0)).collect()))
    }
}

struct GivenValue(String);

impl fmt::Debug for GivenValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GivenValue")
    }
}

impl<'de> Deserialize<'de> for GivenValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(text) => Ok(Self(text)),
            _ => Err(D::Error::custom("expected a string")),
        }
    }
}
