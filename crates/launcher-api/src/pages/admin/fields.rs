//! The table of the fields in the template editor, and the labels of these fields in the activity log.

use super::codec::{APP_TYPES, AT_EXPIRY, Codec, ICONS, SECURITY_PROFILES, STORAGE_KINDS};
use super::pod_settings::Setting;
use crate::pages::language::Language;

/// A field of the form: a row of [`FIELDS`].
#[derive(Debug, Clone, Copy)]
pub(super) struct FormField {
    pub(super) group: &'static FormGroup,
    /// Name in the form.
    pub(super) name: &'static str,
    /// JSON pointer of the value in the JSON object of a template.
    pub(super) pointer: &'static str,
    /// Notation of the value.
    pub(super) codec: Codec,
    /// Key of the label. The attribute `hint` of this message is the hint.
    pub(super) label: &'static str,
    /// Name of the field without which this one is ignored, if any.
    pub(super) requires: Option<&'static str>,
}

/// A group of fields, with a heading.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FormGroup {
    /// Key of the heading.
    pub(super) legend: &'static str,
    pub(super) class: &'static str,
    /// True if the page shows the group only on request.
    pub(super) is_advanced: bool,
}

static CATALOG: FormGroup = FormGroup { legend: "field-shown", class: "fields", is_advanced: false };
static APP: FormGroup = FormGroup { legend: "field-run", class: "fields", is_advanced: false };
static USE: FormGroup = FormGroup { legend: "field-used", class: "fields-pair", is_advanced: false };
static FILES: FormGroup = FormGroup { legend: "field-files", class: "fields-pair", is_advanced: false };
static MATERIAL: FormGroup = FormGroup { legend: "field-material", class: "fields", is_advanced: false };
static QUESTIONS: FormGroup = FormGroup { legend: "field-asked", class: "fields", is_advanced: true };
static START: FormGroup = FormGroup { legend: "field-command-line", class: "fields", is_advanced: true };
static MORE: FormGroup = FormGroup { legend: "field-more", class: "fields-pair", is_advanced: true };
static POD: FormGroup = FormGroup { legend: "field-pod", class: "fields-pair", is_advanced: true };

/// All fields of the form, in the order of the page. The fields of a group follow each other.
pub(super) static FIELDS: &[FormField] = &[
    row(&CATALOG, "name", "/name", Codec::Title, "field-name"),
    row(&CATALOG, "description", "/description", Codec::Prose, "field-description"),
    row(&CATALOG, "icon", "/icon", Codec::Choice(&ICONS), "field-icon"),
    row(&CATALOG, "tags", "/tags", Codec::Tags, "field-tags"),
    row(&CATALOG, "active", "/active", Codec::Checkbox, "field-active"),
    row(&CATALOG, "unlisted", "/unlisted", Codec::Checkbox, "field-unlisted"),
    row(&APP, "app_type", "/app_type", Codec::Choice(&APP_TYPES), "field-app-type"),
    row(&APP, "image", "/image", Codec::Code, "field-image"),
    row(&APP, "port", "/port", Codec::Integer, "field-port"),
    row(&USE, "memory_limit", "/resources/memory_limit", Codec::Memory, "field-memory-limit"),
    row(&USE, "cpu_limit", "/resources/cpu_limit", Codec::Cpu, "field-cpu-limit"),
    row(&USE, "lifetime_seconds", "/lifetime_seconds", Codec::Duration, "field-lifetime"),
    row(&FILES, "storage", "/storage/kind", Codec::Choice(&STORAGE_KINDS), "field-storage"),
    row(&FILES, "storage_size", "/storage/size", Codec::Memory, "field-storage-size").requiring("storage"),
    row(&FILES, "storage_path", "/storage/path", Codec::Text, "field-storage-path").requiring("storage"),
    row(&FILES, "storage_at_expiry", "/storage/at_expiry", Codec::Choice(&AT_EXPIRY), "field-storage-at-expiry")
        .requiring("storage"),
    row(&MATERIAL, "material_sources", "/material/sources", Codec::Sources, "field-material-sources"),
    row(
        &MATERIAL,
        "material_allowed_repositories",
        "/material/allowed_repositories",
        Codec::Lines,
        "field-material-repositories",
    ),
    row(&MATERIAL, "material_directory", "/material/directory", Codec::Text, "field-material-directory"),
    row(&QUESTIONS, "parameters", "/parameters", Codec::Parameters, "field-parameters"),
    row(&START, "command", "/command", Codec::Words, "field-command"),
    row(&START, "args", "/args", Codec::Words, "field-arguments"),
    row(&START, "env", "/env", Codec::Environment, "field-environment"),
    row(&START, "security_profile", "/security_profile", Codec::Choice(&SECURITY_PROFILES), "field-security-profile"),
    row(&MORE, "memory_request", "/resources/memory_request", Codec::Memory, "field-memory-request"),
    row(&MORE, "cpu_request", "/resources/cpu_request", Codec::Cpu, "field-cpu-request"),
    row(&MORE, "extension_seconds", "/extension_seconds", Codec::Duration, "field-extension"),
    row(&MORE, "max_lifetime_seconds", "/max_lifetime_seconds", Codec::Duration, "field-longest"),
    row(&MORE, "slug", "/slug", Codec::Text, "field-slug"),
    setting("shm_size", Setting::SharedMemory, "field-shm-size"),
    setting("gpu_count", Setting::Gpus, "field-gpu-count"),
    setting("ephemeral_storage", Setting::EphemeralStorage, "field-ephemeral-storage"),
    setting("image_pull_secret", Setting::ImagePullSecret, "field-image-pull-secret"),
    setting("node_selector", Setting::NodeSelector, "field-node-selector"),
    row(&POD, "pod_template", POD_TEMPLATE, Codec::PodTemplate, "field-pod-template"),
];

/// JSON pointer of the pod template.
const POD_TEMPLATE: &str = "/pod_template";

/// Fields of the API that are objects, whose fields are rows of the table: name, and key of the label.
const OBJECTS: [(&str, &str); 3] =
    [("resources", "field-resources"), ("storage", "field-storage"), ("material", "field-material")];

const fn row(
    group: &'static FormGroup,
    name: &'static str,
    pointer: &'static str,
    codec: Codec,
    label: &'static str,
) -> FormField {
    FormField { group, name, pointer, codec, label, requires: None }
}

/// Returns the row of a setting, which is a part of the pod template.
const fn setting(name: &'static str, setting: Setting, label: &'static str) -> FormField {
    row(&POD, name, POD_TEMPLATE, Codec::Setting(setting), label)
}

impl FormField {
    const fn requiring(self, field: &'static str) -> Self {
        Self { requires: Some(field), ..self }
    }

    /// Returns the field with this name in the form.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        FIELDS.iter().find(|field| field.name == name)
    }

    /// Returns the field of a pod template's setting.
    pub(super) fn of_setting(setting: Setting) -> Option<&'static Self> {
        FIELDS.iter().find(|field| field.setting() == Some(setting))
    }

    /// Returns the field with the value at a JSON pointer, and the rest of the pointer below that value, without a slash
    /// at its start.
    pub(super) fn at(pointer: &str) -> Option<(&'static Self, &str)> {
        FIELDS.iter().filter(|field| field.setting().is_none()).find_map(|field| {
            let rest = pointer.strip_prefix(field.pointer)?;
            if rest.is_empty() { Some((field, rest)) } else { Some((field, rest.strip_prefix('/')?)) }
        })
    }

    pub(super) fn setting(&self) -> Option<Setting> {
        if let Codec::Setting(setting) = self.codec { Some(setting) } else { None }
    }

    /// Returns the name of the field of the API that contains the value.
    pub(super) fn api_name(&self) -> &'static str {
        self.pointer.split('/').nth(1).unwrap_or_default()
    }
}

impl Language {
    /// Returns the labels of fields as a list. `names` are the names in the API, separated by commas. Shows the name of
    /// a field that only a newer version knows.
    pub(crate) fn field_labels(self, names: &str) -> String {
        let label =
            |name: &str| label_key(name).map_or_else(|| name.replace('_', " "), |key| self.text(key).into_owned());
        let labels = names.split(", ").map(label);
        let joined = labels
            .reduce(|first, second| self.with("activity-joined", [("first", first.into()), ("second", second.into())]));
        joined.unwrap_or_default()
    }
}

/// Returns the key of the label of a field of the API.
fn label_key(name: &str) -> Option<&'static str> {
    let object = OBJECTS.iter().find(|(object, _)| *object == name).map(|(_, key)| *key);
    object.or_else(|| {
        FormField::at(&format!("/{name}")).filter(|(_, rest)| rest.is_empty()).map(|(field, _)| field.label)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use launcher_domain::template::Resources;
    use launcher_domain::{Listing, Material, Storage, TemplateSettings};

    use super::*;

    #[test]
    fn each_field_of_the_api_has_one_row_and_a_label() {
        let (settings, listing): (&[_], &[_]) = (TemplateSettings::FIELDS, Listing::FIELDS);
        let top = [settings, listing, &["active"]].concat();
        for name in &top {
            assert!(label_key(name).is_some_and(|key| Language::english().has(key)), "{name} has a label");
        }
        let parts = [("resources", Resources::FIELDS), ("storage", Storage::FIELDS), ("material", Material::FIELDS)];
        let parts = parts.iter().flat_map(|(name, fields)| fields.iter().map(move |field| format!("/{name}/{field}")));
        let is_object = |name: &str| OBJECTS.iter().any(|(object, _)| *object == name);
        let expected: BTreeSet<String> =
            top.iter().filter(|name| !is_object(name)).map(|name| format!("/{name}")).chain(parts).collect();
        let rows: Vec<&str> =
            FIELDS.iter().filter(|field| field.setting().is_none()).map(|field| field.pointer).collect();
        assert_eq!(rows.len(), expected.len(), "no pointer has two rows");
        assert_eq!(rows.into_iter().map(str::to_owned).collect::<BTreeSet<_>>(), expected);
        assert_eq!(FIELDS.iter().filter_map(FormField::setting).collect::<BTreeSet<_>>(), Setting::ALL.into());
    }
}
