//! The template editor's form: the typed values, their conversion to a draft, and its errors.

mod errors;
mod material;
mod parameters;
mod pod;

use std::collections::BTreeMap;

use launcher_domain::input::{AmountError, duration, parse_cpu, parse_duration, parse_memory};
use launcher_domain::quantity::Quantity;
use launcher_domain::template::{Icon, ResourcesDraft, TAG_SEPARATORS};
use launcher_domain::{
    AppType, AtExpiry, FieldError, PodTemplateObject, SecurityProfile, StorageDraft, StorageKind, Template,
    TemplateDraft,
};
use launcher_service::Launcher;
use serde::Deserialize;

use super::pod_settings::Setting;
use super::{command, lines};
use crate::pages::language::Language;

pub(crate) use errors::FormErrors;
pub(super) use pod::kept;

/// Maximum length of a template's name, in characters.
const MAX_NAME: usize = 80;

/// The values of the form as the browser sent them. Browsers do not send an unticked checkbox.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct TemplateForm {
    /// Id for a new template, drawn when the form was rendered. Because of this id, a form that is sent twice creates
    /// only one template.
    pub(crate) template_id: String,
    pub(crate) version: String,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) app_type: String,
    pub(crate) image: String,
    pub(crate) port: String,
    pub(crate) command: String,
    pub(crate) args: String,
    pub(crate) env: String,
    pub(crate) cpu_request: String,
    pub(crate) cpu_limit: String,
    pub(crate) memory_request: String,
    pub(crate) memory_limit: String,
    pub(crate) security_profile: String,
    /// Kind of the storage; empty for none.
    pub(crate) storage: String,
    pub(crate) storage_size: String,
    pub(crate) storage_path: String,
    pub(crate) storage_at_expiry: String,
    /// Sources of course material, one per line.
    pub(crate) material_sources: String,
    pub(crate) material_directory: String,
    /// Prefixes of the URLs of repositories that a link can name, one per line.
    pub(crate) material_allowed_repositories: String,
    /// Launch parameters as a list in YAML.
    pub(crate) parameters: String,
    pub(crate) shm_size: String,
    pub(crate) gpu_count: String,
    pub(crate) ephemeral_storage: String,
    pub(crate) image_pull_secret: String,
    pub(crate) node_selector: String,
    /// The pod template without the settings of the fields above: YAML or JSON.
    pub(crate) pod_template: String,
    pub(crate) lifetime_seconds: String,
    pub(crate) extension_seconds: String,
    pub(crate) max_lifetime_seconds: String,
    pub(crate) active: String,
    /// Tags, separated by commas.
    pub(crate) tags: String,
    pub(crate) icon: String,
    pub(crate) unlisted: String,
    pub(crate) slug: String,
    /// Code of the language that the user chose in the footer: the form is shown again in this language.
    pub(crate) language: String,
    /// `yes` if the page shows the errors of the form.
    pub(crate) shows_errors: String,
    /// Action of the button that the user pressed.
    #[serde(rename = "then")]
    pub(crate) next: Next,
}

/// Actions of the form's buttons.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Next {
    /// Save the template.
    #[default]
    Save,
    /// Save the template, then open its launch page.
    Try,
    /// Show a preview of the template, without saving.
    Preview,
}

impl TemplateForm {
    /// Returns an empty form with the defaults of a new template.
    pub(crate) fn new_template() -> Self {
        Self {
            app_type: AppType::Notebook.as_str().to_owned(),
            security_profile: SecurityProfile::default().as_str().to_owned(),
            active: "yes".to_owned(),
            ..Self::default()
        }
    }

    /// Returns the form for a copy of this template. The copy is not in the catalog at first, so that its author can
    /// try it before.
    pub(crate) fn copy_of(t: Language, template: &Template) -> Self {
        let form = Self::of(template);
        let name = t.with_one("editor-copy-of", "name", form.name.as_str()).chars().take(MAX_NAME).collect();
        Self { version: String::new(), active: String::new(), slug: String::new(), name, ..form }
    }

    /// Returns a form that reproduces this template if it is sent unchanged.
    pub(crate) fn of(template: &Template) -> Self {
        let draft = TemplateDraft::from(template);
        let number = |value: Option<i64>| value.map(|value| value.to_string()).unwrap_or_default();
        let lasting =
            |value: Option<i64>| value.and_then(|value| value.try_into().ok()).map(duration).unwrap_or_default();
        let (storage, storage_size, storage_path, storage_at_expiry) =
            draft.storage.map_or_else(Default::default, |storage| {
                let StorageDraft { kind, size, path, at_expiry } = storage;
                let (size, path) = (size.unwrap_or_default(), path.unwrap_or_default());
                (kind.as_str().to_owned(), size, path, at_expiry.as_str().to_owned())
            });
        Self {
            template_id: String::new(),
            version: template.version.to_string(),
            name: draft.name,
            description: draft.description,
            app_type: draft.app_type.as_str().to_owned(),
            image: draft.image,
            port: number(draft.port),
            command: command::format(&draft.command),
            args: command::format(&draft.args),
            env: lines::from_env(&draft.env),
            cpu_request: draft.resources.cpu_request.unwrap_or_default(),
            cpu_limit: draft.resources.cpu_limit.unwrap_or_default(),
            memory_request: draft.resources.memory_request.unwrap_or_default(),
            memory_limit: draft.resources.memory_limit.unwrap_or_default(),
            security_profile: draft.security_profile.as_str().to_owned(),
            storage,
            storage_size,
            storage_path,
            storage_at_expiry,
            parameters: parameters::format(&draft.parameters),
            lifetime_seconds: lasting(draft.lifetime_seconds),
            extension_seconds: lasting(draft.extension_seconds),
            max_lifetime_seconds: lasting(draft.max_lifetime_seconds),
            active: ticked(draft.active),
            tags: draft.tags.join(", "),
            icon: draft.icon.map(|icon| icon.as_str().to_owned()).unwrap_or_default(),
            unlisted: ticked(draft.unlisted),
            slug: draft.slug.unwrap_or_default(),
            ..Self::of_pod_template(draft.pod_template.as_ref())
        }
        .with_material(draft.material)
    }

    /// Returns a form with the fields of this pod template. All other fields are empty.
    fn of_pod_template(stored: Option<&PodTemplateObject>) -> Self {
        let shown = pod::Shown::new(stored);
        Self {
            shm_size: shown.text(Setting::SharedMemory),
            gpu_count: shown.text(Setting::Gpus),
            ephemeral_storage: shown.text(Setting::EphemeralStorage),
            image_pull_secret: shown.text(Setting::ImagePullSecret),
            node_selector: shown.text(Setting::NodeSelector),
            pod_template: shown.rest,
            ..Self::default()
        }
    }

    /// Returns the text of the field of a pod template's setting.
    fn typed(&self, setting: Setting) -> &str {
        match setting {
            Setting::SharedMemory => &self.shm_size,
            Setting::Gpus => &self.gpu_count,
            Setting::EphemeralStorage => &self.ephemeral_storage,
            Setting::ImagePullSecret => &self.image_pull_secret,
            Setting::NodeSelector => &self.node_selector,
        }
    }

    /// Converts the errors of the draft that this form was converted to.
    pub(crate) fn errors(&self, t: Language, errors: &[FieldError]) -> FormErrors {
        let is_filled = |setting: &Setting| !self.typed(*setting).trim().is_empty();
        FormErrors::from_fields(t, errors, |path| Setting::at(path).filter(is_filled))
    }

    fn resources(&self, t: Language, errors: &mut FormErrors) -> ResourcesDraft {
        let mut amount = |text: &str, field: &str, parse: fn(&str) -> Result<Quantity, AmountError>| {
            let text = given(text)?;
            parse(&text).map(String::from).map_err(|error| errors.add(field, &t.coded(&error.key()))).ok()
        };
        ResourcesDraft {
            cpu_request: amount(&self.cpu_request, "cpu_request", parse_cpu),
            cpu_limit: amount(&self.cpu_limit, "cpu_limit", parse_cpu),
            memory_request: amount(&self.memory_request, "memory_request", parse_memory),
            memory_limit: amount(&self.memory_limit, "memory_limit", parse_memory),
        }
    }

    fn storage(&self, t: Language, errors: &mut FormErrors) -> Option<StorageDraft> {
        let kind = StorageKind::parse(&given(&self.storage)?).or_else(|| {
            errors.add("storage", &t.text("editor-not-a-storage"));
            None
        });
        let size = given(&self.storage_size).and_then(|text| {
            let size = parse_memory(&text).map(String::from);
            size.map_err(|error| errors.add("storage_size", &t.coded(&error.key()))).ok()
        });
        let at_expiry = AtExpiry::parse(&self.storage_at_expiry).unwrap_or_default();
        Some(StorageDraft { kind: kind?, size, path: given(&self.storage_path), at_expiry })
    }

    /// Converts the form to a template draft.
    ///
    /// # Errors
    /// All errors of the form and of the draft.
    pub(crate) fn draft(&self, t: Language, launcher: &Launcher) -> Result<TemplateDraft, FormErrors> {
        let mut errors = FormErrors::default();
        let draft = TemplateDraft {
            name: self.name.clone(),
            description: lines::normal(&self.description),
            app_type: AppType::parse(&self.app_type).unwrap_or_else(|| {
                errors.add("app_type", &t.text("editor-not-a-kind"));
                AppType::Custom
            }),
            image: self.image.clone(),
            port: number(t, &self.port, "port", &mut errors),
            command: command::parse(&self.command).unwrap_or_else(|error| {
                errors.add("command", &error.text(t));
                Vec::new()
            }),
            args: command::parse(&self.args).unwrap_or_else(|error| {
                errors.add("args", &error.text(t));
                Vec::new()
            }),
            env: lines::to_env(&self.env).unwrap_or_else(|error| {
                errors.add("env", &error.text(t));
                BTreeMap::new()
            }),
            resources: self.resources(t, &mut errors),
            security_profile: SecurityProfile::parse(&self.security_profile).unwrap_or_else(|| {
                errors.add("security_profile", &t.text("editor-not-a-profile"));
                SecurityProfile::default()
            }),
            pod_template: pod::read(t, &self.pod_template, |setting| self.typed(setting), &mut errors),
            storage: self.storage(t, &mut errors),
            material: self.material(t, &mut errors),
            parameters: parameters::parse(t, &self.parameters, &mut errors),
            lifetime_seconds: seconds(t, &self.lifetime_seconds, "lifetime_seconds", &mut errors),
            extension_seconds: seconds(t, &self.extension_seconds, "extension_seconds", &mut errors),
            max_lifetime_seconds: seconds(t, &self.max_lifetime_seconds, "max_lifetime_seconds", &mut errors),
            active: !self.active.is_empty(),
            tags: self.tags.split(TAG_SEPARATORS).filter_map(given).collect(),
            icon: given(&self.icon).and_then(|icon| {
                Icon::parse(&icon).or_else(|| {
                    errors.add("icon", &t.text("editor-not-an-icon"));
                    None
                })
            }),
            unlisted: !self.unlisted.is_empty(),
            slug: given(&self.slug),
        };
        if let Err(invalid) = launcher.validate_template(draft.clone()) {
            errors.merge(self.errors(t, &invalid));
        }
        if errors.is_empty() { Ok(draft) } else { Err(errors) }
    }
}

fn ticked(is_ticked: bool) -> String {
    if is_ticked { "yes".to_owned() } else { String::new() }
}

fn given(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn number(t: Language, text: &str, field: &str, errors: &mut FormErrors) -> Option<i64> {
    let text = given(text)?;
    text.parse().map_err(|_| errors.add(field, &t.text("editor-not-a-number"))).ok()
}

fn seconds(t: Language, text: &str, field: &str, errors: &mut FormErrors) -> Option<i64> {
    let text = given(text)?;
    parse_duration(&text).map(i64::from).map_err(|error| errors.add(field, &t.coded(&error.key()))).ok()
}
