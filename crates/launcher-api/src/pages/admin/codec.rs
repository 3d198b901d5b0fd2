//! Notations of the values in the form of the template editor. Each converts between the text of a field and the JSON
//! value of a template.

use std::collections::BTreeMap;

use launcher_domain::input::{AmountError, duration, parse_cpu, parse_duration, parse_memory};
use launcher_domain::quantity::Quantity;
use launcher_domain::template::{Icon, TAG_SEPARATORS};
use launcher_domain::{AppType, AtExpiry, FieldError, FieldRule, SecurityProfile, StorageKind};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::pod_settings::Setting;
use super::{lines, sources, yaml};
use crate::pages::language::{Language, Text};
use crate::pages::view::Choice;

/// Input type of a field.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// Input for one line of text, with the direction of the text.
    Text(&'static str),
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
    /// A whole number.
    Integer,
    /// A number of seconds, with units: `1 h 30 min`.
    Duration,
    /// An amount of CPU.
    Cpu,
    /// An amount of memory.
    Memory,
    /// A list of words, separated by commas.
    Tags,
    /// A list of words as a command line.
    Words,
    /// Environment variables, one per line.
    Environment,
    /// A list of texts, one per line.
    Lines,
    /// Sources of course material, one per line.
    Sources,
    /// Launch parameters as YAML.
    Parameters,
    /// The pod template as YAML, without the settings that are fields.
    PodTemplate,
    /// A setting of the pod template.
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
    entries: fn(Language) -> Vec<(&'static str, Text)>,
    /// Key of the error for another value. Without it, another value counts as no value.
    refusal: Option<&'static str>,
}

pub(super) static ICONS: Choices = Choices {
    entries: |t| {
        let named = Icon::ALL.into_iter().map(|icon| (icon.as_str(), t.text(&format!("icon-{}", icon.as_str()))));
        std::iter::once(("", t.text("icon-of-app"))).chain(named).collect()
    },
    refusal: Some("editor-not-an-icon"),
};

pub(super) static APP_TYPES: Choices = Choices {
    entries: |t| AppType::ALL.map(|kind| (kind.as_str(), t.app_type(kind))).into(),
    refusal: Some("editor-not-a-kind"),
};

pub(super) static SECURITY_PROFILES: Choices = Choices {
    entries: |t| SecurityProfile::ALL.map(|profile| (profile.as_str(), t.security_profile(profile))).into(),
    refusal: Some("editor-not-a-profile"),
};

pub(super) static STORAGE_KINDS: Choices = Choices {
    entries: |t| {
        let kinds = StorageKind::ALL.into_iter().map(|kind| (kind.as_str(), t.storage_kind(kind)));
        std::iter::once(("", t.text("storage-none"))).chain(kinds).collect()
    },
    refusal: Some("editor-not-a-storage"),
};

pub(super) static AT_EXPIRY: Choices =
    Choices { entries: |t| AtExpiry::ALL.map(|effect| (effect.as_str(), t.at_expiry(effect))).into(), refusal: None };

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
        let option = |(index, (value, label)): (usize, (&str, Text))| Choice {
            value: value.to_owned(),
            label: label.into_owned(),
            selected: index == selected,
        };
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
        let value = match self {
            Self::Title | Self::Code => text.into(),
            Self::Prose => lines::normal(text).into(),
            Self::Checkbox => (!text.is_empty()).into(),
            Self::Choice(choices) => return choices.parse(t, trimmed),
            _ if trimmed.is_empty() => return Ok(None),
            Self::Text => trimmed.into(),
            Self::Integer => trimmed.parse::<i64>().map_err(|_| t.text("editor-not-a-number").into_owned())?.into(),
            Self::Duration => parse_duration(trimmed).map_err(|error| t.coded(&error.key()))?.into(),
            Self::Cpu => amount(t, parse_cpu(trimmed))?,
            Self::Memory => amount(t, parse_memory(trimmed))?,
            Self::Tags => text.split(TAG_SEPARATORS).map(str::trim).filter(|tag| !tag.is_empty()).collect(),
            Self::Words => lines::to_words(text).map_err(|error| error.text(t))?.into(),
            Self::Environment => json!(lines::to_env(text).map_err(|error| error.text(t))?),
            Self::Lines => lines::filled_lines(text).map(|(_, line)| line.trim()).collect(),
            Self::Sources => sources::parse(t, text)?,
            Self::Parameters => return yaml::parse_parameters(text).map_err(|error| error.text(t)),
            Self::PodTemplate => {
                let object = yaml::parse(text).map_err(|error| error.text(t))?;
                return Ok(object.map(Value::Object));
            }
            Self::Setting(setting) => setting.parse(text).map_err(|error| error.message(t))?,
        };
        Ok(Some(value))
    }

    /// Returns a value as the text of a field.
    pub(super) fn format(self, value: &Value) -> String {
        if value.is_null() {
            return String::new();
        }
        match self {
            Self::Title | Self::Prose | Self::Code | Self::Text | Self::Cpu | Self::Memory | Self::Choice(_) => {
                read(value)
            }
            Self::Integer => value.to_string(),
            Self::Duration => duration(read(value)),
            Self::Tags => read::<Vec<String>>(value).join(", "),
            Self::Words => lines::from_words(&read::<Vec<String>>(value)),
            Self::Environment => lines::from_env(&read::<BTreeMap<String, String>>(value)),
            Self::Lines => read::<Vec<String>>(value).join("\n"),
            Self::Sources => sources::format(&read::<Vec<_>>(value)),
            Self::Parameters => yaml::format_parameters(&read::<Vec<_>>(value)),
            Self::PodTemplate => value.as_object().map(yaml::format).unwrap_or_default(),
            Self::Setting(setting) => setting.text(value).unwrap_or_default(),
            Self::Checkbox if read(value) => "yes".to_owned(),
            Self::Checkbox => String::new(),
        }
    }

    /// Returns the text of an error. `rest` is the location of the error inside of the field's value: a JSON pointer
    /// without a slash at its start.
    pub(super) fn error(self, t: Language, rest: &str, error: &FieldError) -> String {
        let wrong = t.coded(&error.key());
        let (index, below) = rest.split_once('/').unwrap_or((rest, ""));
        let number = index.parse::<usize>().map(|index| index + 1);
        let numbered =
            |key: &str, number: usize, wrong: String| t.with(key, [("number", number.into()), ("wrong", wrong.into())]);
        match (self, number) {
            _ if rest.is_empty() => wrong,
            // The rules of a tag name the tag.
            (Self::Tags, _) => wrong,
            (Self::Sources | Self::Lines, Ok(number)) => numbered("editor-wrong-entry", number, wrong),
            (Self::Words, Ok(number)) => numbered("editor-wrong-word", number, wrong),
            (Self::Parameters, Ok(number)) => match error.rule {
                // The rule names the field.
                FieldRule::FieldMissing { .. } => format!("{number}. {wrong}"),
                _ if below.is_empty() => format!("{number}. {wrong}"),
                _ => format!("{number}. {below}: {wrong}"),
            },
            // The pointer as a whole: its parts are names of Kubernetes.
            (Self::PodTemplate, _) => format!("/{rest}: {wrong}"),
            _ => format!("{}: {wrong}", rest.replace("~1", "/").replace("~0", "~")),
        }
    }

    /// Returns the input type. A choice has its options, of which the one with this text is selected.
    pub(super) fn kind(self, t: Language, text: &str) -> Kind {
        match self {
            Self::Title | Self::Tags => Kind::Text("auto"),
            Self::Code | Self::Text | Self::Duration | Self::Cpu | Self::Memory => Kind::Text("ltr"),
            Self::Integer | Self::Setting(Setting::Gpus) => Kind::Number,
            Self::Prose => Kind::Prose,
            Self::Words
            | Self::Environment
            | Self::Lines
            | Self::Sources
            | Self::Parameters
            | Self::PodTemplate
            | Self::Setting(Setting::NodeSelector) => Kind::Lines,
            Self::Setting(_) => Kind::Text("ltr"),
            Self::Checkbox => Kind::Check,
            Self::Choice(choices) => Kind::Select(choices.options(t, text)),
        }
    }
}

/// Reads a value of a valid template.
fn read<T: DeserializeOwned + Default>(value: &Value) -> T {
    T::deserialize(value).unwrap_or_default()
}

fn amount(t: Language, parsed: Result<Quantity, AmountError>) -> Result<Value, String> {
    parsed.map(|amount| amount.as_str().into()).map_err(|error| t.coded(&error.key()))
}
