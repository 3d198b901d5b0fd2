//! Labels of the fields of a template: in the editor, and in the activity log.

use launcher_domain::FieldError;

use crate::pages::language::{Language, Text};

/// Name in the API and key of the label of each field. The log names the four fields below `resources` together. The
/// editor has fields for parts of `material` and `pod_template`, with names that the API does not have.
const LABELS: [(&str, &str); 37] = [
    ("name", "field-name"),
    ("description", "field-description"),
    ("icon", "field-icon"),
    ("tags", "field-tags"),
    ("active", "field-active"),
    ("unlisted", "field-unlisted"),
    ("app_type", "field-app-type"),
    ("image", "field-image"),
    ("port", "field-port"),
    ("resources", "field-resources"),
    ("memory_limit", "field-memory-limit"),
    ("cpu_limit", "field-cpu-limit"),
    ("memory_request", "field-memory-request"),
    ("cpu_request", "field-cpu-request"),
    ("lifetime_seconds", "field-lifetime"),
    ("extension_seconds", "field-extension"),
    ("max_lifetime_seconds", "field-longest"),
    ("storage", "field-storage"),
    ("storage_size", "field-storage-size"),
    ("storage_path", "field-storage-path"),
    ("storage_at_expiry", "field-storage-at-expiry"),
    ("material", "field-material"),
    ("material_sources", "field-material-sources"),
    ("material_directory", "field-material-directory"),
    ("material_allowed_repositories", "field-material-repositories"),
    ("parameters", "field-parameters"),
    ("command", "field-command"),
    ("args", "field-arguments"),
    ("env", "field-environment"),
    ("security_profile", "field-security-profile"),
    ("pod_template", "field-pod-template"),
    ("shm_size", "field-shm-size"),
    ("gpu_count", "field-gpu-count"),
    ("ephemeral_storage", "field-ephemeral-storage"),
    ("image_pull_secret", "field-image-pull-secret"),
    ("node_selector", "field-node-selector"),
    ("slug", "field-slug"),
];

impl Language {
    /// Returns the label of the field with this name in the API; `None` for a field that only a newer version knows.
    pub(crate) fn field_label(self, name: &str) -> Option<Text> {
        label_key(name).map(|key| self.text(key))
    }

    /// Returns the hint of the field with this name in the API; empty if the field has none.
    pub(crate) fn field_hint(self, name: &str) -> Text {
        let key = label_key(name).filter(|key| self.has_attribute(key, "hint"));
        key.map(|key| self.attribute(key, "hint")).unwrap_or_default()
    }

    /// Returns the error of a field as a sentence.
    pub(crate) fn field_error(self, error: &FieldError) -> String {
        sentence(&self.coded(&error.key()))
    }

    /// Returns the labels of fields as a list. `names` are the names in the API, separated by commas. Shows the name of
    /// a field that only a newer version knows.
    pub(crate) fn field_labels(self, names: &str) -> String {
        let label = |name: &str| self.field_label(name).map_or_else(|| name.replace('_', " "), Text::into_owned);
        let labels = names.split(", ").map(label);
        let joined = labels
            .reduce(|first, second| self.with("activity-joined", [("first", first.into()), ("second", second.into())]));
        joined.unwrap_or_default()
    }
}

/// Returns the error of a field as a sentence, with a capital letter and a full stop.
pub(crate) fn sentence(detail: &str) -> String {
    let mut characters = detail.chars();
    let sentence: String =
        characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default();
    if sentence.ends_with(['.', '。']) { sentence } else { format!("{sentence}.") }
}

fn label_key(name: &str) -> Option<&'static str> {
    LABELS.iter().find(|(known, _)| *known == name).map(|(_, key)| *key)
}
