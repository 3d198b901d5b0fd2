//! Pod template of a template: a partial Kubernetes PodTemplateSpec, as JSON, and the policy of the installation for it. `launcher-workshop` knows its fields.

use serde_json::Value;
use thiserror::Error;

use super::field::JsonObject;
use crate::text_enum::text_enum;

/// A partial Kubernetes PodTemplateSpec.
pub type PodTemplateObject = JsonObject;

/// Maximum size as JSON, in bytes.
const MAX_BYTES: usize = 32 * 1024;

/// Removes all `null` values, which mean the same as absent fields to Kubernetes. Returns `None` for an empty object.
pub(super) fn without_nulls(mut object: PodTemplateObject) -> Option<PodTemplateObject> {
    clean(&mut object);
    (!object.is_empty()).then_some(object)
}

/// True if the JSON text of a pod template has at most 32 KiB, and no text contains NUL, which PostgreSQL refuses.
#[must_use]
pub fn is_storable_pod_template(object: &PodTemplateObject) -> bool {
    let has_nul = object.iter().any(|(name, value)| name.contains('\0') || has_nul(value));
    !has_nul && serde_json::to_string(object).is_ok_and(|json| json.len() <= MAX_BYTES)
}

fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(has_nul),
        Value::Object(object) => object.iter().any(|(name, value)| name.contains('\0') || has_nul(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn clean(object: &mut PodTemplateObject) {
    object.retain(|_, value| !value.is_null());
    object.values_mut().for_each(clean_value);
}

fn clean_value(value: &mut Value) {
    match value {
        Value::Object(object) => clean(object),
        Value::Array(items) => {
            items.retain(|item| !item.is_null());
            items.iter_mut().for_each(clean_value);
        }
        _ => {}
    }
}

text_enum! {
    /// Kind of a name in a pod template that needs an entry in the policy.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum PodTemplateKind {
        /// Key of an annotation of the pod.
        Annotation = "annotation",
        /// ConfigMap of a volume or of a variable.
        ConfigMap = "configMap",
        /// CSI driver of an ephemeral volume.
        Csi = "csi",
        /// Secret with the password of an image registry.
        ImagePullSecret = "imagePullSecret",
        /// Key of a label of the pod.
        Label = "label",
        /// PersistentVolumeClaim of a volume.
        PersistentVolumeClaim = "persistentVolumeClaim",
        /// PriorityClass of the pod.
        PriorityClass = "priorityClass",
        /// Extended resource, for example a GPU.
        Resource = "resource",
        /// RuntimeClass of the pod.
        RuntimeClass = "runtimeClass",
        /// Secret of a volume or of a variable.
        Secret = "secret",
        /// ServiceAccount of the pod.
        ServiceAccount = "serviceAccount",
        /// Key of the taints that the pod tolerates; empty for all taints.
        Toleration = "toleration",
    }
}

/// Error of a policy: the entry that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "{0:?} is not kind/name with one of the kinds {kinds}, as in secret/course-token, configMap/* or label/example.org/*",
    kinds = PodTemplateKind::ALL.map(PodTemplateKind::as_str).join(", ")
)]
pub struct PodTemplatePolicyError(String);

/// Names that pod templates may use: entries `kind/name`. A `*` at the end of a name stands for any text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PodTemplatePolicy(Vec<(PodTemplateKind, String)>);

impl PodTemplatePolicy {
    /// The default policy, as text: kinds that give a workshop no access to secrets of the namespace, and no place on
    /// nodes that taints protect.
    pub const DEFAULT: &'static str = "configMap/*,imagePullSecret/*,persistentVolumeClaim/*,resource/*";

    /// Parses entries that are separated by commas. Ignores white space around an entry, and empty entries.
    ///
    /// # Errors
    /// The first wrong entry.
    pub fn parse(text: &str) -> Result<Self, PodTemplatePolicyError> {
        let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
        entries.map(entry).collect::<Result<_, _>>().map(Self)
    }

    /// True if an entry allows this name.
    #[must_use]
    pub fn allows(&self, kind: PodTemplateKind, name: &str) -> bool {
        self.0.iter().any(|(allowed, pattern)| {
            *allowed == kind
                && match pattern.strip_suffix('*') {
                    Some(start) => name.starts_with(start),
                    None => pattern == name,
                }
        })
    }
}

impl Default for PodTemplatePolicy {
    fn default() -> Self {
        Self::parse(Self::DEFAULT).unwrap_or_else(|_| Self(Vec::new()))
    }
}

fn entry(text: &str) -> Result<(PodTemplateKind, String), PodTemplatePolicyError> {
    let wrong = || PodTemplatePolicyError(text.to_owned());
    let (kind, name) = text.split_once('/').ok_or_else(wrong)?;
    let kind = PodTemplateKind::parse(kind).ok_or_else(wrong)?;
    let exact = name.strip_suffix('*').unwrap_or(name);
    let is_name = !name.is_empty() && exact.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._/".contains(&byte));
    if is_name { Ok((kind, name.to_owned())) } else { Err(wrong()) }
}
