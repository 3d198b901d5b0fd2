//! The pod template in the form: some of its settings in fields, and the rest as YAML.

use launcher_domain::{PodTemplateObject, TemplateDraft, TemplateSettings};

use super::errors::FormErrors;
use crate::pages::admin::pod_settings::{self, Setting, Settings};
use crate::pages::admin::{lines, yaml};
use crate::pages::language::Language;

/// A pod template as the form shows it.
#[derive(Default)]
pub(super) struct Shown {
    settings: Settings,
    /// The pod template without these settings, as YAML.
    pub(super) rest: String,
}

impl Shown {
    pub(super) fn new(stored: Option<&PodTemplateObject>) -> Self {
        let (settings, rest) = stored.map(pod_settings::split).unwrap_or_default();
        Self { settings, rest: rest.as_ref().map(yaml::format).unwrap_or_default() }
    }

    /// Returns the text of a setting's field.
    pub(super) fn text(&self, setting: Setting) -> String {
        self.settings.get(&setting).and_then(|value| setting.text(value)).unwrap_or_default()
    }
}

/// Returns the pod template of the YAML and the fields. `typed` returns the text of a setting's field.
pub(super) fn read<'f>(
    t: Language,
    yaml: &str,
    typed: impl Fn(Setting) -> &'f str,
    errors: &mut FormErrors,
) -> Option<PodTemplateObject> {
    let rest = yaml::parse(yaml).unwrap_or_else(|error| {
        errors.add("pod_template", &error.text(t));
        None
    });
    let mut settings = Settings::new();
    for setting in Setting::ALL {
        if typed(setting).trim().is_empty() {
            continue;
        }
        match setting.parse(typed(setting)) {
            Ok(value) => {
                settings.insert(setting, value);
            }
            Err(error) => errors.add(setting.field(), &error.message(t)),
        }
    }
    let (joined, conflicts) = pod_settings::join(rest, &settings);
    for setting in conflicts {
        errors.add(setting.field(), &t.with_one("editor-set-in-yaml", "setting", setting.kubernetes_name()));
    }
    joined
}

/// Restores stored values that the form shows in another notation, if they were not edited: the line breaks of the
/// description, and the order of lists, the numbers and the name of the volume at `/dev/shm` in the pod template.
pub(crate) fn kept(draft: TemplateDraft, stored: &TemplateSettings) -> TemplateDraft {
    let mut draft = lines::kept(draft, stored);
    let shown = stored.pod_template.as_ref().and_then(|stored| {
        let (settings, rest) = pod_settings::split(stored);
        pod_settings::join(rest, &settings).0
    });
    if draft.pod_template == shown {
        draft.pod_template.clone_from(&stored.pod_template);
    }
    draft
}
