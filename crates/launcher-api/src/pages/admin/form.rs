//! The template editor's form: the typed values, their conversion to a draft, and its errors.

use std::collections::BTreeMap;

use launcher_domain::input::{AmountError, duration, parse_cpu, parse_duration, parse_memory};
use launcher_domain::quantity::Quantity;
use launcher_domain::template::{Icon, ResourcesDraft, TAG_SEPARATORS};
use launcher_domain::{AppType, FieldError, SecurityProfile, Template, TemplateDraft};
use launcher_service::Launcher;
use serde::Deserialize;

use super::{command, lines, yaml};
use crate::pages::language::Language;

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
    /// YAML or JSON.
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

/// Errors of the form, by field name.
#[derive(Debug, Clone, Default)]
pub(crate) struct FormErrors(BTreeMap<String, Vec<String>>);

impl FormErrors {
    /// Converts the errors of a template draft: an error at `/resources/cpu_limit` belongs to the field `cpu_limit`, an
    /// error at `/env/PATH` to the field `env`.
    pub(crate) fn from_fields(t: Language, errors: &[FieldError]) -> Self {
        let mut found = Self::default();
        for error in errors {
            let path = error.pointer.trim_start_matches('/');
            let path = path.strip_prefix("resources/").unwrap_or(path);
            let (field, rest) = path.split_once('/').unwrap_or((path, ""));
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

    fn add(&mut self, field: &str, detail: &str) {
        self.0.entry(field.to_owned()).or_default().push(sentence(detail));
    }

    /// Adds other errors, except for fields that already have an error.
    fn merge(&mut self, other: Self) {
        for (field, details) in other.0 {
            self.0.entry(field).or_insert(details);
        }
    }
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
            pod_template: draft.pod_template.as_ref().map(yaml::format).unwrap_or_default(),
            lifetime_seconds: lasting(draft.lifetime_seconds),
            extension_seconds: lasting(draft.extension_seconds),
            max_lifetime_seconds: lasting(draft.max_lifetime_seconds),
            active: ticked(draft.active),
            tags: draft.tags.join(", "),
            icon: draft.icon.map(|icon| icon.as_str().to_owned()).unwrap_or_default(),
            unlisted: ticked(draft.unlisted),
            slug: draft.slug.unwrap_or_default(),
            ..Self::default()
        }
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
            pod_template: yaml::parse(&self.pod_template).unwrap_or_else(|error| {
                errors.add("pod_template", &error.text(t));
                None
            }),
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
            errors.merge(FormErrors::from_fields(t, &invalid));
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

/// Returns the error of a field as a sentence, with a capital letter and a full stop.
fn sentence(detail: &str) -> String {
    let mut characters = detail.chars();
    let sentence: String =
        characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default();
    if sentence.ends_with(['.', '。']) { sentence } else { format!("{sentence}.") }
}
