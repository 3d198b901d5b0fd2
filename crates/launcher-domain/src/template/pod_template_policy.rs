//! Policy of pod templates: the objects of the cluster that templates may name.

use thiserror::Error;

use crate::text_enum::text_enum;

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
