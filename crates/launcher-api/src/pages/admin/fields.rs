//! The table of the fields in the template editor, their labels in the activity log, and the notations of their values.
//! A [`Codec`] converts between the text of a field and the JSON value of a template.

use launcher_domain::input::{duration, parse_cpu, parse_duration, parse_memory};
use launcher_domain::template::{Color, Icon, TAG_SEPARATORS};
use launcher_domain::{AppType, AtExpiry, FieldError, SecurityProfile, StorageKind, TextKey};
use launcher_service::to_yaml;
use serde::de::DeserializeOwned;
use serde_json::{Number, Value, json};

use crate::extract::unescaped;
use crate::pages::admin::form::{RowsView, SizeCard};
use crate::pages::admin::pod_settings::Setting;
use crate::pages::admin::rows::{self, List};
use crate::pages::admin::{lines, yaml};
use crate::pages::view::Choice;
use crate::pages::{Language, Text};

#[derive(Debug, Clone, Copy)]
pub(super) struct FormField {
    pub(super) group: &'static FormGroup,
    pub(super) name: &'static str,
    /// JSON pointer of the value in the JSON object of a template.
    pub(super) pointer: &'static str,
    pub(super) codec: Codec,
    /// Key of the label. The attribute `hint` of this message is the hint.
    pub(super) label: &'static str,
    /// Name of the field without which this one is ignored, if any.
    pub(super) requires: Option<&'static str>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct FormGroup {
    /// Key of the heading, if there is one.
    pub(super) legend: Option<&'static str>,
    pub(super) class: &'static str,
    /// True if the page shows the group only on request.
    pub(super) is_folded: bool,
}

static FIRST: FormGroup = FormGroup { legend: None, class: "fields", is_folded: false };
static TIME: FormGroup = FormGroup { legend: None, class: "fields-pair", is_folded: false };
static CATALOG: FormGroup = FormGroup { legend: Some("field-shown"), class: "fields", is_folded: true };
static APP: FormGroup = FormGroup { legend: Some("field-run"), class: "fields-pair", is_folded: true };
static START: FormGroup = FormGroup { legend: Some("field-command-line"), class: "fields", is_folded: true };
static QUESTIONS: FormGroup = FormGroup { legend: Some("field-asked"), class: "fields", is_folded: true };
static LIMITS: FormGroup = FormGroup { legend: Some("field-used"), class: "fields-pair", is_folded: true };
static FILES: FormGroup = FormGroup { legend: Some("field-files"), class: "fields-pair", is_folded: true };
static POD: FormGroup = FormGroup { legend: Some("field-pod"), class: "fields-pair", is_folded: true };

/// All fields of the form, in the order of the page. The fields of a group follow each other.
pub(super) static FIELDS: &[FormField] = &[
    row(&FIRST, "name", "/name", Codec::Title, "field-name"),
    row(&FIRST, "material_sources", "/material/sources", Codec::Rows(&rows::SOURCES), "field-material-sources"),
    row(&TIME, "lifetime_seconds", "/lifetime_seconds", Codec::Duration, "field-lifetime"),
    row(&TIME, "storage", "/storage/kind", Codec::Choice(&STORAGE_KINDS), "field-storage"),
    row(&CATALOG, "slug", "/slug", Codec::Text, "field-slug"),
    row(&CATALOG, "description", "/description", Codec::Prose, "field-description"),
    row(&CATALOG, "icon", "/icon", Codec::Choice(&ICONS), "field-icon"),
    row(&CATALOG, "color", "/color", Codec::Choice(&COLORS), "field-color"),
    row(&CATALOG, "tags", "/tags", Codec::Tags, "field-tags"),
    row(&CATALOG, "active", "/active", Codec::Checkbox, "field-active"),
    row(&CATALOG, "unlisted", "/unlisted", Codec::Checkbox, "field-unlisted"),
    row(&APP, "app_type", "/app_type", Codec::Choice(&APP_TYPES), "field-app-type"),
    row(&APP, "image", "/image", Codec::Code, "field-image"),
    row(&APP, "port", "/port", Codec::Integer, "field-port"),
    row(&APP, "security_profile", "/security_profile", Codec::Choice(&SECURITY_PROFILES), "field-security-profile"),
    row(&START, "start_path", "/start_path", Codec::Text, "field-start-path"),
    row(&START, "plain_tabs", "/plain_tabs", Codec::Checkbox, "field-plain-tabs"),
    row(&START, "command", "/command", Codec::Words, "field-command"),
    row(&START, "args", "/args", Codec::Words, "field-arguments"),
    row(&START, "env", "/env", Codec::Rows(&rows::VARIABLES), "field-environment"),
    row(&QUESTIONS, "parameters", "/parameters", Codec::Rows(&rows::PARAMETERS), "field-parameters"),
    row(&LIMITS, "extension_seconds", "/extension_seconds", Codec::Duration, "field-extension"),
    row(&LIMITS, "max_lifetime_seconds", "/max_lifetime_seconds", Codec::Duration, "field-longest"),
    row(&LIMITS, "memory_limit", "/resources/memory_limit", Codec::Memory, "field-memory-limit"),
    row(&LIMITS, "cpu_limit", "/resources/cpu_limit", Codec::Cpu, "field-cpu-limit"),
    row(&LIMITS, "memory_request", "/resources/memory_request", Codec::Memory, "field-memory-request"),
    row(&LIMITS, "cpu_request", "/resources/cpu_request", Codec::Cpu, "field-cpu-request"),
    row(&FILES, "storage_size", "/storage/size", Codec::Memory, "field-storage-size").requiring("storage"),
    row(&FILES, "storage_path", "/storage/path", Codec::Text, "field-storage-path").requiring("storage"),
    row(&FILES, "storage_at_expiry", "/storage/at_expiry", Codec::Choice(&AT_EXPIRY), "field-storage-at-expiry")
        .requiring("storage"),
    row(&FILES, "material_directory", "/material/directory", Codec::Text, "field-material-directory"),
    row(
        &FILES,
        "material_allowed_repositories",
        "/material/allowed_repositories",
        Codec::Lines,
        "field-material-repositories",
    ),
    setting("shm_size", Setting::SharedMemory, "field-shm-size"),
    setting("gpu_count", Setting::Gpus, "field-gpu-count"),
    setting("ephemeral_storage", Setting::EphemeralStorage, "field-ephemeral-storage"),
    setting("image_pull_secret", Setting::ImagePullSecret, "field-image-pull-secret"),
    setting("node_selector", Setting::NodeSelector, "field-node-selector"),
    row(&POD, "pod_template", POD_TEMPLATE, Codec::PodTemplate, "field-pod-template"),
];

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

    pub(super) fn named(name: &str) -> Option<&'static Self> {
        FIELDS.iter().find(|field| field.name == name)
    }

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

    pub(super) fn list(&self) -> Option<&'static List> {
        if let Codec::Rows(list) = self.codec { Some(list) } else { None }
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

fn label_key(name: &str) -> Option<&'static str> {
    let object = OBJECTS.iter().find(|(object, _)| *object == name).map(|(_, key)| *key);
    object.or_else(|| {
        FormField::at(&format!("/{name}")).filter(|(_, rest)| rest.is_empty()).map(|(field, _)| field.label)
    })
}

#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// Input for one line of text, with the direction of the text.
    Text(&'static str),
    Number,
    Prose,
    /// Input for several lines, of which this number is visible.
    Lines(u8),
    Rows(RowsView),
    Select(Vec<Choice>),
    Sizes(Vec<SizeCard>),
    Check,
}

/// Notation of a field's value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Codec {
    /// One line in the language of the author. Its empty text is a value.
    Title,
    /// Several lines in the language of the author. Its empty text is a value.
    Prose,
    /// One line of code. Its empty text is a value.
    Code,
    /// One line of code, or no value.
    Text,
    Integer,
    /// A number of seconds, with units: `1 h 30 min`.
    Duration,
    Cpu,
    Memory,
    /// A list of words, separated by commas.
    Tags,
    /// A list of words as a command line.
    Words,
    /// A list of texts, one per line.
    Lines,
    /// Code on several lines. Its empty text is a value.
    Verbatim,
    Number,
    /// A list whose entries have several parts: its value is in the rows of the form.
    Rows(&'static List),
    /// The pod template as YAML, without the settings that are fields.
    PodTemplate,
    Setting(Setting),
    /// True or false. Browsers do not send an unticked checkbox.
    Checkbox,
    /// One of the entries of a list.
    Choice(&'static Choices),
}

/// Entries of a `<select>`.
#[derive(Debug)]
pub(super) struct Choices {
    /// Returns the values with their labels. The empty value stands for no value.
    pub(super) entries: fn(Language) -> Vec<(&'static str, Text)>,
    /// Key of the error for another value. Without it, another value counts as no value.
    pub(super) refusal: Option<&'static str>,
}

static ICONS: Choices = Choices {
    entries: |t| {
        let named = Icon::ALL.into_iter().map(|icon| (icon.as_str(), t.text(&format!("icon-{}", icon.as_str()))));
        std::iter::once(("", t.text("icon-of-app"))).chain(named).collect()
    },
    refusal: Some("editor-not-an-icon"),
};

static COLORS: Choices = Choices {
    entries: |t| {
        let named = Color::ALL.into_iter().map(|color| (color.as_str(), t.named("color-{}", color.as_str())));
        std::iter::once(("", t.text("color-of-name"))).chain(named).collect()
    },
    refusal: Some("editor-not-a-color"),
};

static APP_TYPES: Choices = Choices {
    entries: |t| AppType::ALL.map(|kind| (kind.as_str(), t.named("app-{}", kind.as_str()))).into(),
    refusal: Some("editor-not-a-kind"),
};

static SECURITY_PROFILES: Choices = Choices {
    entries: |t| SecurityProfile::ALL.map(|profile| (profile.as_str(), t.named("profile-{}", profile.as_str()))).into(),
    refusal: Some("editor-not-a-profile"),
};

static STORAGE_KINDS: Choices = Choices {
    entries: |t| {
        let kinds = StorageKind::ALL.into_iter().map(|kind| (kind.as_str(), t.named("storage-{}", kind.as_str())));
        std::iter::once(("", t.text("storage-none"))).chain(kinds).collect()
    },
    refusal: Some("editor-not-a-storage"),
};

static AT_EXPIRY: Choices = Choices {
    entries: |t| AtExpiry::ALL.map(|effect| (effect.as_str(), t.named("at-expiry-{}", effect.as_str()))).into(),
    refusal: None,
};

impl Choices {
    fn parse(&self, t: Language, text: &str) -> Result<Option<Value>, String> {
        let is_entry = (self.entries)(t).iter().any(|(value, _)| *value == text);
        match self.refusal {
            Some(refusal) if !is_entry => Err(t.text(refusal).into_owned()),
            _ => Ok(Some(text.into()).filter(|_| is_entry && !text.is_empty())),
        }
    }

    /// Returns the options of the `<select>`. Without a known value, the first one is selected.
    fn options(&self, t: Language, chosen: &str) -> Vec<Choice> {
        let entries = (self.entries)(t);
        let selected = entries.iter().position(|(value, _)| *value == chosen).unwrap_or(0);
        let option = |(index, (value, label)): (usize, (&str, Text))| Choice::new(value, label, index == selected);
        entries.into_iter().enumerate().map(option).collect()
    }
}

impl Codec {
    /// Parses the text of a field. Returns `None` if the field has no value.
    ///
    /// # Errors
    /// What is wrong with the text, as sentences.
    pub(super) fn parse(self, t: Language, text: &str) -> Result<Option<Value>, String> {
        let trimmed = text.trim();
        let sentence = |error: TextKey| t.coded(&error);
        let value = match self {
            Self::Title | Self::Code => text.into(),
            Self::Prose | Self::Verbatim => lines::normal(text).into(),
            Self::Checkbox => (!text.is_empty()).into(),
            Self::Choice(choices) => return choices.parse(t, trimmed),
            Self::Rows(_) => return Ok(None),
            _ if trimmed.is_empty() => return Ok(None),
            Self::Text => trimmed.into(),
            Self::Integer => trimmed.parse::<i64>().map_err(|_| t.text("editor-not-a-number").into_owned())?.into(),
            Self::Number => json!(trimmed.parse::<Number>().map_err(|_| t.text("editor-not-decimal").into_owned())?),
            Self::Duration => parse_duration(trimmed).map_err(|error| sentence(error.key()))?.into(),
            Self::Cpu => parse_cpu(trimmed).map_err(|error| sentence(error.key()))?.as_str().into(),
            Self::Memory => parse_memory(trimmed).map_err(|error| sentence(error.key()))?.as_str().into(),
            Self::Tags => text.split(TAG_SEPARATORS).map(str::trim).filter(|tag| !tag.is_empty()).collect(),
            Self::Words => lines::to_words(text).map_err(sentence)?.into(),
            Self::Lines => lines::filled_lines(text).map(|(_, line)| line.trim()).collect(),
            Self::PodTemplate => return Ok(yaml::parse(text).map_err(sentence)?.map(Value::Object)),
            Self::Setting(setting) => setting.parse(text).map_err(sentence)?,
        };
        Ok(Some(value))
    }

    /// Returns a value as the text of a field.
    pub(super) fn format(self, value: &Value) -> String {
        if value.is_null() {
            return String::new();
        }
        match self {
            Self::Title
            | Self::Prose
            | Self::Verbatim
            | Self::Code
            | Self::Text
            | Self::Cpu
            | Self::Memory
            | Self::Choice(_) => read(value),
            Self::Integer | Self::Number => value.to_string(),
            Self::Rows(_) => String::new(),
            Self::Duration => duration(read(value)),
            Self::Tags => read::<Vec<String>>(value).join(", "),
            Self::Words => lines::from_words(&read::<Vec<String>>(value)),
            Self::Lines => read::<Vec<String>>(value).join("\n"),
            Self::PodTemplate => value.as_object().map(to_yaml).unwrap_or_default(),
            Self::Setting(setting) => setting.text(value).unwrap_or_default(),
            Self::Checkbox if read(value) => "yes".to_owned(),
            Self::Checkbox => String::new(),
        }
    }

    /// Returns the text of an error. `rest` is the location of the error inside of the field's value: a JSON pointer
    /// without a slash at its start.
    pub(super) fn error(self, t: Language, rest: &str, error: &FieldError) -> String {
        let wrong = t.coded(&error.key());
        let index = rest.split('/').next().unwrap_or_default();
        let number = index.parse::<usize>().map(|index| index + 1);
        let numbered =
            |key: &str, number: usize, wrong: String| t.with(key, [("number", number.into()), ("wrong", wrong.into())]);
        match (self, number) {
            _ if rest.is_empty() => wrong,
            // The rules of a tag name the tag.
            (Self::Tags, _) => wrong,
            (Self::Lines, Ok(number)) => numbered("editor-wrong-entry", number, wrong),
            (Self::Words, Ok(number)) => numbered("editor-wrong-word", number, wrong),
            // The pointer as a whole: its parts are names of Kubernetes.
            (Self::PodTemplate, _) => format!("/{rest}: {wrong}"),
            _ => format!("{}: {wrong}", unescaped(rest)),
        }
    }

    /// Returns the input type. A choice has its options, of which the one with this text is selected.
    pub(super) fn kind(self, t: Language, text: &str) -> Kind {
        match self {
            Self::Title | Self::Tags => Kind::Text("auto"),
            Self::Code | Self::Text | Self::Duration | Self::Cpu | Self::Memory | Self::Number => Kind::Text("ltr"),
            Self::Integer | Self::Setting(Setting::Gpus) => Kind::Number,
            Self::Prose => Kind::Prose,
            // The form adds the rows.
            Self::Rows(_) => Kind::Rows(RowsView::default()),
            Self::Verbatim => Kind::Lines(1),
            Self::Words | Self::Lines | Self::PodTemplate | Self::Setting(Setting::NodeSelector) => Kind::Lines(3),
            Self::Setting(_) => Kind::Text("ltr"),
            Self::Checkbox => Kind::Check,
            Self::Choice(choices) => Kind::Select(choices.options(t, text)),
        }
    }
}

fn read<T: DeserializeOwned + Default>(value: &Value) -> T {
    T::deserialize(value).unwrap_or_default()
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
