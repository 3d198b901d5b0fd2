//! The launch parameters in the form: a list in YAML.

use launcher_domain::ParameterDraft;
use serde_json::{Value, json};

use super::errors::FormErrors;
use crate::pages::language::Language;

/// Field of the form.
const FIELD: &str = "parameters";

/// Formats parameters as YAML, without the fields that have their default.
pub(super) fn format(parameters: &[ParameterDraft]) -> String {
    if parameters.is_empty() {
        return String::new();
    }
    let list: Vec<Value> = parameters.iter().map(without_defaults).collect();
    serde_saphyr::to_string(&list).unwrap_or_else(|_| json!(list).to_string())
}

fn without_defaults(parameter: &ParameterDraft) -> Value {
    let mut object = json!(parameter);
    let default_required = json!(parameter.default.is_none());
    let is_default = |name: &str, value: &Value| match name {
        _ if value.is_null() => true,
        "required" => *value == default_required,
        "integer" => *value == json!(false),
        "max_length" => *value == json!(ParameterDraft::MAX_LENGTH),
        _ => *value == json!([]),
    };
    if let Some(fields) = object.as_object_mut() {
        fields.retain(|name, value| !is_default(name, value));
    }
    object
}

/// Parses parameters. A value without quotation marks is its text as typed: `default: 3.10` is not a number.
pub(super) fn parse(t: Language, text: &str, errors: &mut FormErrors) -> Vec<ParameterDraft> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    serde_saphyr::from_str(text).unwrap_or_else(|error| {
        explain(t, text, &error, errors);
        Vec::new()
    })
}

/// Adds the errors of a text that is not a list of parameters: by parameter, or else by line.
fn explain(t: Language, text: &str, refused: &serde_saphyr::Error, errors: &mut FormErrors) {
    let mut list = match serde_saphyr::from_str(text) {
        Ok(Value::Array(list)) if list.iter().all(Value::is_object) => list,
        Ok(Value::Null) => return,
        Ok(_) => return errors.add(FIELD, &t.text("editor-not-parameters")),
        Err(error) => return errors.add(FIELD, &not_yaml(t, &error)),
    };
    list.iter_mut().for_each(scalars_to_text);
    let mut is_explained = false;
    for (index, value) in list.into_iter().enumerate() {
        if let Err(error) = serde_path_to_error::deserialize::<_, ParameterDraft>(value) {
            errors.add(FIELD, &format!("{}. {error}", index + 1));
            is_explained = true;
        }
    }
    if !is_explained {
        errors.add(FIELD, &not_yaml(t, refused));
    }
}

fn not_yaml(t: Language, error: &serde_saphyr::Error) -> String {
    let line = error.location().map_or(1, |location| location.line()).to_string();
    let message = error.without_snippet().to_string();
    let message = message.lines().next().unwrap_or_default().to_owned();
    t.with("editor-not-yaml", [("line", line.into()), ("message", message.into())])
}

/// Converts the texts of a parameter that YAML alone reads as numbers: they are not errors.
fn scalars_to_text(parameter: &mut Value) {
    let to_text = |value: &mut Value| {
        if value.is_number() || value.is_boolean() {
            *value = Value::String(value.to_string());
        }
    };
    for field in ["name", "label", "help", "default"] {
        parameter.get_mut(field).into_iter().for_each(to_text);
    }
    let choices = parameter.get_mut("choices").and_then(Value::as_array_mut);
    choices.into_iter().flatten().for_each(to_text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<ParameterDraft>, String) {
        let mut errors = FormErrors::default();
        let parameters = parse(Language::english(), text, &mut errors);
        (parameters, errors.of(FIELD))
    }

    #[test]
    fn parameters_round_trip_through_form() {
        let list = json!([
            { "name": "A", "label": "Data: set", "kind": "text", "required": false, "max_length": 200 },
            { "name": "B", "label": "- B", "kind": "number", "default": "007", "min": -1, "max": 2.5, "integer": true },
            { "name": "C", "label": "C", "kind": "choice", "choices": ["true", "5", "a: b"], "help": "# help" },
            { "name": "D", "label": "D", "kind": "secret", "required": true, "max_length": 40 },
        ]);
        let wanted: Vec<ParameterDraft> = serde_json::from_value(list).unwrap();
        let sent = format(&wanted).replace('\n', "\r\n");
        let (parsed, error) = read(&sent);
        assert_eq!(error, "", "{sent}");
        assert_eq!(format(&parsed), format(&wanted));
    }

    #[test]
    fn numbers_of_yaml_become_texts() {
        let (parameters, error) =
            read("- name: A\n  label: A\n  kind: choice\n  choices: [1, true, x]\n  default: 1\n");
        assert_eq!(error, "");
        assert_eq!(parameters[0].choices, ["1", "true", "x"]);
        assert_eq!(parameters[0].default.as_deref(), Some("1"));
    }

    #[test]
    fn values_without_quotation_marks_are_texts_as_typed() {
        let typed =
            "3.10 yes No on True 007 0x10 0o7 0b1 1_000 +1 1e3 .5 .inf .nan 12345678901234567890123 -0.0 12:30:45";
        for typed in typed.split(' ') {
            let text = format!(
                "- name: {typed}\n  label: {typed}\n  help: {typed}\n  kind: choice\n  choices: [{typed}, a]\n  \
                 default: {typed}\n"
            );
            let (parameters, error) = read(&text);
            assert_eq!(error, "", "{typed}");
            let ParameterDraft { name, label, help, default, choices, .. } = &parameters[0];
            let stored = [Some(name), Some(label), help.as_ref(), default.as_ref(), choices.first()];
            assert_eq!(stored.map(|text| text.map(String::as_str)), [Some(typed); 5], "{typed}");
            let (again, error) = read(&format(&parameters));
            assert_eq!((again, error), (parameters, String::new()), "{typed}");
        }
    }

    #[test]
    fn null_is_no_text() {
        for null in ["~", "null", ""] {
            let (_, error) = read(&format!("- name: A\n  label: {null}\n  kind: text\n"));
            assert!(error.starts_with("1. label: "), "{null}: {error}");
            let (parameters, error) = read(&format!("- name: A\n  label: A\n  kind: text\n  default: {null}\n"));
            assert_eq!((parameters[0].default.as_deref(), error), (None, String::new()), "{null}");
        }
    }

    #[test]
    fn settings_are_numbers_and_booleans() {
        let (parameters, error) = read(
            "- {name: A, label: A, kind: number, min: -1, max: 2.5, integer: true}\n\
             - {name: B, label: B, kind: text, max_length: 40, required: false}\n",
        );
        assert_eq!(error, "");
        let (number, text) = (&parameters[0], &parameters[1]);
        assert_eq!(json!([number.min, number.max, number.integer]), json!([-1, 2.5, true]));
        assert_eq!((text.max_length, text.required), (Some(40), Some(false)));
        let (_, error) = read("- {name: A, label: 3.10, kind: text, max_length: many}");
        assert!(error.starts_with("1. max_length: "), "{error}");
    }

    #[test]
    fn error_names_the_line_or_the_parameter() {
        for (text, expected) in [
            ("- name: A\n  label: [", "Line 2"),
            ("name: A", "list"),
            ("- A", "list"),
            ("- {name: A, label: A, kind: text}\n- {name: B, label: B, kind: text, pattern: x}", "2. "),
        ] {
            let (_, error) = read(text);
            assert!(error.contains(expected), "{text}: {error}");
        }
        assert_eq!(read(" \n"), (Vec::new(), String::new()));
    }
}
