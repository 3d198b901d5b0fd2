//! Errors of the template editor's form.

use std::collections::BTreeMap;

use launcher_domain::FieldError;

use crate::pages::admin::pod_settings::Setting;
use crate::pages::language::Language;

/// Errors of the form, by field name.
#[derive(Debug, Clone, Default)]
pub(crate) struct FormErrors(BTreeMap<String, Vec<String>>);

impl FormErrors {
    /// Converts the errors of a template draft: an error at `/resources/cpu_limit` belongs to the field `cpu_limit`, an
    /// error at `/storage/size` to the field `storage_size`, an error at `/material/sources/0/url` to the field `material_sources`, and an error at `/env/PATH` to the field `env`. `setting_at` returns the setting with a filled field at a path of the pod
    /// template: an error at `/pod_template/spec/nodeSelector` then belongs to the field `node_selector`.
    pub(super) fn from_fields(
        t: Language,
        errors: &[FieldError],
        setting_at: impl Fn(&str) -> Option<Setting>,
    ) -> Self {
        let mut found = Self::default();
        for error in errors {
            let path = error.pointer.trim_start_matches('/');
            let path = path.strip_prefix("resources/").unwrap_or(path);
            let path = path.replacen("storage/", "storage_", 1).replacen("material/", "material_", 1);
            let (field, rest) = path.split_once('/').unwrap_or((&path, ""));
            let setting = if field == "pod_template" { setting_at(rest) } else { None };
            if let Some(setting) = setting {
                found.add(setting.field(), &t.coded(&error.key()));
                continue;
            }
            // The rest of a pointer to course material begins with the position of the entry.
            let entry = field.strip_prefix("material_").and_then(|_| rest.split('/').next()?.parse::<usize>().ok());
            if let Some(index) = entry {
                let wrong = t.coded(&error.key());
                let wrong = t.with("editor-wrong-entry", [("number", (index + 1).into()), ("wrong", wrong.into())]);
                found.add(field, &wrong);
                continue;
            }
            let wrong = match rest.parse::<usize>() {
                // A list of words names the wrong one by its position. The rules of a tag name the tag.
                Ok(index) if !["env", "tags"].contains(&field) => {
                    let wrong = t.coded(&error.key());
                    t.with("editor-wrong-word", [("number", (index + 1).into()), ("wrong", wrong.into())])
                }
                _ if rest.is_empty() || field == "tags" => t.coded(&error.key()),
                // The pointer as a whole: its parts are names of Kubernetes.
                _ if field == "pod_template" => format!("/{rest}: {}", t.coded(&error.key())),
                _ => format!("{}: {}", rest.replace("~1", "/").replace("~0", "~"), t.coded(&error.key())),
            };
            found.add(field, &wrong);
        }
        found
    }
    /// Returns true if the form has no errors.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns all errors of a field, as sentences; empty if the field is valid.
    pub(crate) fn of(&self, field: &str) -> String {
        self.0.get(field).map(|errors| errors.join(" ")).unwrap_or_default()
    }

    pub(super) fn add(&mut self, field: &str, detail: &str) {
        self.0.entry(field.to_owned()).or_default().push(sentence(detail));
    }

    /// Adds other errors, except for fields that already have an error.
    pub(super) fn merge(&mut self, other: Self) {
        for (field, details) in other.0 {
            self.0.entry(field).or_insert(details);
        }
    }
}

/// Returns the error of a field as a sentence, with a capital letter and a full stop.
fn sentence(detail: &str) -> String {
    let mut characters = detail.chars();
    let sentence: String =
        characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default();
    if sentence.ends_with(['.', '。']) { sentence } else { format!("{sentence}.") }
}
