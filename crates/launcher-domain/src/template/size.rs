//! Sizes of workshops: names for resources, which the installation defines. A template stores resources and no name, so a
//! size that is defined anew changes no template.

use serde_json::Value;

use super::codecs::Name;
use super::field::{Codec, Errors, FieldError, json_object};
use super::settings::Resources;
use crate::quantity::Quantity;

json_object! {
    /// A size of workshops.
    pub struct Size {
        /// Name of the size, one line.
        name: String = required(Name),
        /// Resources of a workshop with this size.
        resources: Resources = required(Resources),
    }
}

/// The sizes that an installation offers, smallest first. May be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sizes(Vec<Size>);

/// A text that is no list of sizes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0}: write a JSON list of sizes, as in [{{\"name\": \"small\", \"resources\": {{\"memory_limit\": \"1Gi\"}}}}]"
)]
pub struct SizesError(String);

impl Sizes {
    /// Sizes of an installation that defines none. The middle one has the default resources of a template.
    pub const DEFAULT: &str = r#"[{"name": "small", "resources": {"cpu_limit": "1", "memory_limit": "1Gi"}}, {"name": "medium", "resources": {}}, {"name": "large", "resources": {"cpu_request": "500m", "cpu_limit": "4", "memory_request": "1Gi", "memory_limit": "8Gi"}}]"#;

    /// Parses a JSON list of sizes with different names. Absent resources get the defaults of a template.
    ///
    /// # Errors
    /// The first invalid entry.
    pub fn parse(text: &str) -> Result<Self, SizesError> {
        let entries: Vec<Value> = serde_json::from_str(text).map_err(|error| SizesError(error.to_string()))?;
        let mut sizes: Vec<Size> = Vec::new();
        for (entry, number) in entries.iter().zip(1..) {
            let mut errors = Errors::default();
            let size = Size::read(entry, "", &mut errors);
            size.iter().for_each(|size| size.resources.check("/resources", &mut errors));
            if let Some(FieldError { pointer, rule }) = errors.0.first() {
                return Err(SizesError(format!("entry {number}: {pointer}: {rule}")));
            }
            let Some(size) = size else { continue };
            if sizes.iter().any(|known| known.name == size.name) {
                return Err(SizesError(format!("entry {number}: the name {} is given twice", size.name)));
            }
            sizes.push(size);
        }
        sizes.sort_by(|one, other| one.resources.memory_limit.compare(&other.resources.memory_limit));
        Ok(Self(sizes))
    }

    /// Returns the sizes, smallest first.
    pub fn iter(&self) -> std::slice::Iter<'_, Size> {
        self.0.iter()
    }

    /// Returns the size with this name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&Size> {
        self.iter().find(|size| size.name == name)
    }

    /// Returns the size with the same resources.
    #[must_use]
    pub fn of(&self, resources: &Resources) -> Option<&Size> {
        self.iter().find(|size| size.resources.equals(resources))
    }

    /// Returns the smallest size with at least this memory, else the largest; `None` without sizes.
    #[must_use]
    pub fn fitting(&self, memory: &Quantity) -> Option<&Size> {
        let fits = |size: &&Size| size.resources.memory_limit.compare(memory).is_ge();
        self.iter().find(fits).or(self.0.last())
    }

    /// Returns the sizes with these names; all for an empty list.
    #[must_use]
    pub fn only(&self, names: &[String]) -> Self {
        let is_named = |size: &&Size| names.is_empty() || names.contains(&size.name);
        Self(self.iter().filter(is_named).cloned().collect())
    }
}

impl Default for Sizes {
    fn default() -> Self {
        Self::parse(Self::DEFAULT).unwrap_or(Self(Vec::new()))
    }
}

/// What templates may use, from the settings of the installation.
#[derive(Debug, Clone, Default)]
pub struct TemplatePolicy {
    /// Names that pod templates may use.
    pub pod_templates: super::pod_template::PodTemplatePolicy,
    pub sizes: Sizes,
}
