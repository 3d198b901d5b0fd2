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

/// Parses parameters. YAML reads `default: 5` as a number: the value is its text.
pub(super) fn parse(t: Language, text: &str, errors: &mut FormErrors) -> Vec<ParameterDraft> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    let mut list = match serde_saphyr::from_str(text) {
        Ok(Value::Array(list)) => list,
        Ok(Value::Null) => return Vec::new(),
        Ok(_) => {
            errors.add(FIELD, &t.text("editor-not-parameters"));
            return Vec::new();
        }
        Err(error) => {
            let line = error.location().map_or(1, |location| location.line()).to_string();
            let message = error.without_snippet().to_string();
            let message = message.lines().next().unwrap_or_default().to_owned();
            errors.add(FIELD, &t.with("editor-not-yaml", [("line", line.into()), ("message", message.into())]));
            return Vec::new();
        }
    };
    list.iter_mut().for_each(scalars_to_text);
    let mut parameters = Vec::new();
    for (index, value) in list.into_iter().enumerate() {
        if !value.is_object() {
            errors.add(FIELD, &t.text("editor-not-parameters"));
            return Vec::new();
        }
        match serde_path_to_error::deserialize::<_, ParameterDraft>(value) {
            Ok(parameter) => parameters.push(parameter),
            Err(error) => errors.add(FIELD, &format!("{}. {error}", index + 1)),
        }
    }
    parameters
}

/// Converts the default and the choices of a parameter to texts.
fn scalars_to_text(parameter: &mut Value) {
    let to_text = |value: &mut Value| {
        if value.is_number() || value.is_boolean() {
            *value = Value::String(value.to_string());
        }
    };
    parameter.get_mut("default").into_iter().for_each(to_text);
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
