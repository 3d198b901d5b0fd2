//! The pod template in the form: some of its settings in fields, and the rest as YAML.

use launcher_domain::{PodTemplateObject, TemplateDraft, TemplateSettings};

use super::{FormErrors, TemplateForm};
use crate::pages::admin::pod_settings::{self, Setting, Settings};
use crate::pages::admin::{lines, yaml};
use crate::pages::language::Language;

impl TemplateForm {
    /// Returns a form with the fields of this pod template. All other fields are empty.
    pub(super) fn of_pod_template(stored: Option<&PodTemplateObject>) -> Self {
        let (settings, rest) = stored.map(pod_settings::split).unwrap_or_default();
        let text = |setting: Setting| settings.get(&setting).and_then(|value| setting.text(value)).unwrap_or_default();
        Self {
            shm_size: text(Setting::SharedMemory),
            gpu_count: text(Setting::Gpus),
            ephemeral_storage: text(Setting::EphemeralStorage),
            image_pull_secret: text(Setting::ImagePullSecret),
            node_selector: text(Setting::NodeSelector),
            pod_template: rest.as_ref().map(yaml::format).unwrap_or_default(),
            ..Self::default()
        }
    }

    /// Returns the pod template of the YAML and the fields.
    pub(super) fn pod_template(&self, t: Language, errors: &mut FormErrors) -> Option<PodTemplateObject> {
        let rest = yaml::parse(&self.pod_template).unwrap_or_else(|error| {
            errors.add("pod_template", &error.text(t));
            None
        });
        let mut settings = Settings::new();
        for setting in Setting::ALL {
            if !self.has(setting) {
                continue;
            }
            match setting.parse(self.typed(setting)) {
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

    /// Returns the setting with a filled field that is at this path of the pod template.
    pub(super) fn setting_at(&self, path: &str) -> Option<Setting> {
        Setting::at(path).filter(|setting| self.has(*setting))
    }

    fn has(&self, setting: Setting) -> bool {
        !self.typed(setting).trim().is_empty()
    }

    fn typed(&self, setting: Setting) -> &str {
        match setting {
            Setting::SharedMemory => &self.shm_size,
            Setting::Gpus => &self.gpu_count,
            Setting::EphemeralStorage => &self.ephemeral_storage,
            Setting::ImagePullSecret => &self.image_pull_secret,
            Setting::NodeSelector => &self.node_selector,
        }
    }
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
