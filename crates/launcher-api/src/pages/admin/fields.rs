//! The fields of the template editor, in the order of the form.

use launcher_domain::template::Icon;
use launcher_domain::{AppType, AtExpiry, SecurityProfile, StorageKind};

use super::form::{FormErrors, TemplateForm};
use super::pod_settings::Setting;
use crate::pages::language::{Language, Text};
use crate::pages::view::Choice;

/// Input type of a field.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// Input for one line of text.
    Text,
    /// Input for a number.
    Number,
    /// Input for several lines of text.
    Prose,
    /// Input for several lines. Each line is parsed separately.
    Lines,
    /// Choice from a list.
    Select(Vec<Choice>),
    /// A checkbox.
    Check,
}

/// A field of the template editor.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) id: String,
    pub(crate) name: &'static str,
    pub(crate) label: Text,
    pub(crate) hint: Text,
    pub(crate) kind: Kind,
    pub(crate) value: String,
    /// All errors of the field, as sentences; empty if the field is valid.
    pub(crate) error: String,
}

impl Field {
    /// Returns the direction of the text that people type here: from left to right for code, else as they write.
    pub(crate) fn direction(&self) -> &'static str {
        if ["name", "tags"].contains(&self.name) { "auto" } else { "ltr" }
    }

    /// Returns the HTML attributes that link the field to its hint and its error. They need no escaping, because they
    /// contain only text of this module.
    pub(crate) fn described(&self) -> String {
        let hint = if self.hint.is_empty() { String::new() } else { format!("{}-hint", self.id) };
        let error = if self.error.is_empty() { String::new() } else { format!("{}-error", self.id) };
        let ids = [hint, error].into_iter().filter(|id| !id.is_empty()).collect::<Vec<_>>().join(" ");
        let described = if ids.is_empty() { String::new() } else { format!(" aria-describedby=\"{ids}\"") };
        let invalid = if self.error.is_empty() { "" } else { " aria-invalid=\"true\"" };
        format!("{described}{invalid}")
    }
}

/// A group of fields with a heading.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    /// True if the page shows the group only on request.
    pub(crate) is_advanced: bool,
    pub(crate) legend: Text,
    pub(crate) class: &'static str,
    pub(crate) fields: Vec<Field>,
}

/// Returns all groups of the form. Each field has the value as typed, and its errors. `ignored` lists the names of the
/// fields that the fleet ignores.
pub(crate) fn groups(t: Language, form: &TemplateForm, errors: &FormErrors, ignored: &[&str]) -> Vec<Group> {
    let group = |(is_advanced, legend, class): (bool, &str, &'static str), rows: Vec<Row<'_>>| Group {
        is_advanced,
        legend: t.text(legend),
        class,
        fields: rows.into_iter().map(|row| field(t, row, errors, ignored)).collect(),
    };
    vec![
        group((false, "field-shown", "fields"), shown(t, form)),
        group((false, "field-run", "fields"), run(t, form)),
        group((false, "field-used", "fields-pair"), used(form)),
        group((false, "field-files", "fields-pair"), files(t, form)),
        group((false, "field-material", "fields"), material(form)),
        group((true, "field-asked", "fields"), asked(form)),
        group((true, "field-command-line", "fields"), command(t, form)),
        group((true, "field-more", "fields-pair"), more(form)),
        group((true, "field-pod", "fields-pair"), pod(form)),
    ]
}

/// A field before it is built: name in the form, value, kind. Fields of the API have the same name in the form.
type Row<'a> = (&'static str, &'a str, Kind);

fn field(t: Language, (name, value, kind): Row<'_>, errors: &FormErrors, ignored: &[&str]) -> Field {
    let api_field = if Setting::with_field(name).is_some() { "pod_template" } else { name };
    let hint = match (ignored.contains(&api_field), api_field) {
        (true, "pod_template") => t.text("editor-ignored-pod-template"),
        (true, _) => t.text("editor-ignored"),
        (false, _) => t.field_hint(name),
    };
    let label = t.field_label(name).unwrap_or_default();
    Field { id: format!("field-{name}"), name, label, hint, kind, value: value.to_owned(), error: errors.of(name) }
}

fn shown<'f>(t: Language, form: &'f TemplateForm) -> Vec<Row<'f>> {
    vec![
        ("name", &*form.name, Kind::Text),
        ("description", &*form.description, Kind::Prose),
        ("icon", &*form.icon, Kind::Select(icons(t, &form.icon))),
        ("tags", &*form.tags, Kind::Text),
        ("active", &*form.active, Kind::Check),
        ("unlisted", &*form.unlisted, Kind::Check),
    ]
}

fn run<'f>(t: Language, form: &'f TemplateForm) -> Vec<Row<'f>> {
    vec![
        ("app_type", &*form.app_type, Kind::Select(app_types(t, &form.app_type))),
        ("image", &*form.image, Kind::Text),
        ("port", &*form.port, Kind::Number),
    ]
}

fn used(form: &TemplateForm) -> Vec<Row<'_>> {
    vec![
        ("memory_limit", &*form.memory_limit, Kind::Text),
        ("cpu_limit", &*form.cpu_limit, Kind::Text),
        ("lifetime_seconds", &*form.lifetime_seconds, Kind::Text),
    ]
}

fn asked(form: &TemplateForm) -> Vec<Row<'_>> {
    vec![("parameters", &*form.parameters, Kind::Lines)]
}

fn files<'f>(t: Language, form: &'f TemplateForm) -> Vec<Row<'f>> {
    vec![
        ("storage", &*form.storage, Kind::Select(storages(t, &form.storage))),
        ("storage_size", &*form.storage_size, Kind::Text),
        ("storage_path", &*form.storage_path, Kind::Text),
        ("storage_at_expiry", &*form.storage_at_expiry, Kind::Select(expiries(t, &form.storage_at_expiry))),
    ]
}

fn material(form: &TemplateForm) -> Vec<Row<'_>> {
    vec![
        ("material_sources", &*form.material_sources, Kind::Lines),
        ("material_allowed_repositories", &*form.material_allowed_repositories, Kind::Lines),
        ("material_directory", &*form.material_directory, Kind::Text),
    ]
}

fn command<'f>(t: Language, form: &'f TemplateForm) -> Vec<Row<'f>> {
    let profiles = profiles(t, &form.security_profile);
    vec![
        ("command", &*form.command, Kind::Lines),
        ("args", &*form.args, Kind::Lines),
        ("env", &*form.env, Kind::Lines),
        ("security_profile", &*form.security_profile, Kind::Select(profiles)),
    ]
}

fn more(form: &TemplateForm) -> Vec<Row<'_>> {
    vec![
        ("memory_request", &*form.memory_request, Kind::Text),
        ("cpu_request", &*form.cpu_request, Kind::Text),
        ("extension_seconds", &*form.extension_seconds, Kind::Text),
        ("max_lifetime_seconds", &*form.max_lifetime_seconds, Kind::Text),
        ("slug", &*form.slug, Kind::Text),
    ]
}

fn pod(form: &TemplateForm) -> Vec<Row<'_>> {
    vec![
        (Setting::SharedMemory.field(), &*form.shm_size, Kind::Text),
        (Setting::Gpus.field(), &*form.gpu_count, Kind::Number),
        (Setting::EphemeralStorage.field(), &*form.ephemeral_storage, Kind::Text),
        (Setting::ImagePullSecret.field(), &*form.image_pull_secret, Kind::Text),
        (Setting::NodeSelector.field(), &*form.node_selector, Kind::Lines),
        ("pod_template", &*form.pod_template, Kind::Lines),
    ]
}

fn icons(t: Language, chosen: &str) -> Vec<Choice> {
    let named = Icon::ALL.into_iter().map(|icon| (icon.as_str(), t.text(&format!("icon-{}", icon.as_str()))));
    let of_app = std::iter::once(("", t.text("icon-of-app")));
    of_app.chain(named).map(|(value, label)| choice(value, &label, chosen)).collect()
}

fn app_types(t: Language, chosen: &str) -> Vec<Choice> {
    AppType::ALL.into_iter().map(|kind| choice(kind.as_str(), &t.app_type(kind), chosen)).collect()
}

fn profiles(t: Language, chosen: &str) -> Vec<Choice> {
    SecurityProfile::ALL
        .into_iter()
        .map(|profile| choice(profile.as_str(), &t.security_profile(profile), chosen))
        .collect()
}

fn storages(t: Language, chosen: &str) -> Vec<Choice> {
    let kinds = StorageKind::ALL.into_iter().map(|kind| (kind.as_str(), t.storage_kind(kind)));
    let none = std::iter::once(("", t.text("storage-none")));
    none.chain(kinds).map(|(value, label)| choice(value, &label, chosen)).collect()
}

fn expiries(t: Language, chosen: &str) -> Vec<Choice> {
    let chosen = AtExpiry::parse(chosen).unwrap_or_default().as_str();
    AtExpiry::ALL.into_iter().map(|effect| choice(effect.as_str(), &t.at_expiry(effect), chosen)).collect()
}

fn choice(value: &str, label: &str, chosen: &str) -> Choice {
    Choice { value: value.to_owned(), label: label.to_owned(), selected: value == chosen }
}
