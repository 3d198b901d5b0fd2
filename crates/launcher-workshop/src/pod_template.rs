//! Pod templates: partial Kubernetes PodTemplateSpecs that admins add to a template. The launcher checks them when an
//! admin saves a template, and the operator checks them again, because other clients can create Workshops, too.
//!
//! 1. [`PodTemplate::parse`] refuses every field that a template cannot set, for example `hostNetwork`.
//! 2. [`PodTemplate::forbidden`] refuses the names that the policy of the installation does not allow.

mod names;
mod rules;
mod shape;

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::{PodSpec, PodTemplateSpec};
use launcher_domain::template::APP_VARIABLES;
use launcher_domain::{
    FieldError, FieldRule, PodTemplateKind, PodTemplateObject, PodTemplatePolicy, is_storable_pod_template,
};
use serde_json::Value;

pub use names::NameReference;
pub use rules::{
    APP_CONTAINER, COPY_PROGRAM, CRASH_SAFE_VOLUME, IMAGE_FILES, MATERIAL, MATERIAL_SECRETS, RESERVED_CONTAINERS,
    RESERVED_VOLUMES, SAVED_FILES, SNAPSHOT, STORAGE_VOLUME,
};

/// A valid pod template. Only [`PodTemplate::parse`] creates it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PodTemplate {
    pub annotations: BTreeMap<String, String>,
    pub labels: BTreeMap<String, String>,
    /// The partial spec of the pod.
    pub spec: PodSpec,
}

impl PodTemplate {
    /// Parses a pod template. `env` has the variables of the field `env` of the same template.
    ///
    /// # Errors
    /// The fields that are unknown, have a wrong value, or belong to the operator; never empty. The pointers begin at
    /// the pod template.
    pub fn parse(source: &PodTemplateObject, env: &BTreeMap<String, String>) -> Result<Self, Vec<FieldError>> {
        if !is_storable_pod_template(source) {
            return Err(vec![FieldError::new("", FieldRule::PodTemplateSize)]);
        }
        let value = shape::normal(source);
        shape::check(&value)?;
        let PodTemplateSpec { metadata, spec } = typed(&value)?;
        let metadata = metadata.unwrap_or_default();
        let template = Self {
            annotations: metadata.annotations.unwrap_or_default(),
            labels: metadata.labels.unwrap_or_default(),
            spec: spec.unwrap_or_default(),
        };
        let mut variables: BTreeSet<&str> = env.keys().map(String::as_str).collect();
        variables.extend(APP_VARIABLES);
        let errors = rules::check(&template, &variables);
        if errors.is_empty() { Ok(template) } else { Err(errors) }
    }

    /// Returns the names that need an entry in the policy.
    #[must_use]
    pub fn references(&self) -> Vec<NameReference> {
        names::of(self)
    }

    /// Returns an error for each name that the policy does not allow.
    #[must_use]
    pub fn forbidden(&self, policy: &PodTemplatePolicy) -> Vec<FieldError> {
        let references = self.references().into_iter();
        let refused = references.filter(|reference| !policy.allows(reference.kind, &reference.name));
        let rule = |kind: PodTemplateKind, name: String| {
            let name = if name.is_empty() { "*".to_owned() } else { name };
            FieldRule::PodTemplateForbidden { entry: format!("{}/{name}", kind.as_str()) }
        };
        refused.map(|NameReference { pointer, kind, name }| FieldError::new(pointer, rule(kind, name))).collect()
    }
}

/// Parses the object, and refuses fields that the type of Kubernetes does not have: its parser ignores them.
fn typed(value: &Value) -> Result<PodTemplateSpec, Vec<FieldError>> {
    let template: PodTemplateSpec = serde_path_to_error::deserialize(value).map_err(|error| {
        vec![FieldError::new(shape::pointer_of(error.path()), FieldRule::of_serde(&error.inner().to_string()))]
    })?;
    let known = serde_json::to_value(&template).unwrap_or_default();
    let unknown = shape::unknown(value, &known);
    if unknown.is_empty() { Ok(template) } else { Err(unknown) }
}
