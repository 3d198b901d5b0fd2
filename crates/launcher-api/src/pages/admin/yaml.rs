//! Formats and parses the pod template and the launch parameters of a template as YAML in a `<textarea>`. JSON is YAML,
//! too.

use launcher_domain::{JsonObject, Parameter, TemplateContent, TextKey};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use serde_saphyr::options::NonFiniteFloatPolicy;
use serde_saphyr::{Options, from_str_with_options, options};

use crate::pages::admin::lines::wrong;

/// Returns the error of a text that is not YAML, with the parser's English sentence.
fn unreadable(error: serde_saphyr::Error) -> TextKey {
    let line = error.location().map_or(1, |location| location.line());
    let message = error.without_snippet().to_string();
    wrong("editor-not-yaml", [("line", &line), ("message", &message.lines().next().unwrap_or_default())])
}

/// Formats a pod template. Uses JSON if the parser would not read the YAML as the same object.
pub(super) fn format(object: &JsonObject) -> String {
    let is_lossless = |text: &String| matches!(parse(text), Ok(Some(read)) if read == *object);
    let yaml = serde_saphyr::to_string(object).ok().filter(is_lossless);
    yaml.unwrap_or_else(|| Value::from(object.clone()).to_string())
}

/// Parses a pod template. Returns `None` for a text without a value.
///
/// # Errors
/// The first line that is not YAML, or a value that is not an object.
pub(super) fn parse(text: &str) -> Result<Option<JsonObject>, TextKey> {
    match read(text, Options::default())? {
        Value::Object(object) => Ok(Some(object)),
        Value::Null => Ok(None),
        _ => Err(wrong("editor-not-a-yaml-object", [])),
    }
}

pub(super) fn format_parameters(parameters: &[Value]) -> String {
    if parameters.is_empty() {
        return String::new();
    }
    let list: Vec<Value> = parameters.iter().map(without_defaults).collect();
    serde_saphyr::to_string(&list).unwrap_or_else(|_| json!(list).to_string())
}

/// Removes the fields without which the parameter is the same.
fn without_defaults(parameter: &Value) -> Value {
    let read = |parameter: &Value| {
        let template = json!({ "name": "x", "app_type": "notebook", "image": "x", "parameters": [parameter] });
        TemplateContent::read(template.as_object()?).ok()?.settings.parameters.pop()
    };
    let (mut short, whole) = (parameter.clone(), read(parameter));
    for field in Parameter::FIELDS {
        let mut shorter = short.clone();
        let removed = shorter.as_object_mut().and_then(|fields| fields.remove(*field));
        if removed.is_some() && whole.is_some() && read(&shorter) == whole {
            short = shorter;
        }
    }
    short
}

/// Texts of a launch parameter. In YAML, they need no quotation marks: `default: 3.10` is not the number 3.1.
#[derive(Default, Deserialize, Serialize)]
struct Texts {
    name: Option<String>,
    label: Option<String>,
    help: Option<String>,
    default: Option<String>,
    choices: Option<Vec<String>>,
}

/// Parses launch parameters: a list of objects.
///
/// # Errors
/// The first line that is not YAML, or a value that is not a list of objects.
pub(super) fn parse_parameters(text: &str) -> Result<Option<Value>, TextKey> {
    let options = || options! { non_finite_float_policy: NonFiniteFloatPolicy::AsString };
    let mut list = match read(text, options())? {
        Value::Null => return Ok(None),
        Value::Array(list) if list.iter().all(Value::is_object) => list,
        _ => return Err(wrong("editor-not-parameters", [])),
    };
    // A field of another type than text has an error, which the reader of the template reports.
    let texts: Vec<Texts> = from_str_with_options(text, options()).unwrap_or_default();
    for (parameter, texts) in list.iter_mut().zip(texts) {
        if let (Value::Object(parameter), Value::Object(texts)) = (parameter, json!(texts)) {
            parameter.extend(texts.into_iter().filter(|(_, text)| !text.is_null()));
        }
    }
    Ok(Some(list.into()))
}

fn read(text: &str, options: Options) -> Result<Value, TextKey> {
    if text.trim().is_empty() { Ok(Value::Null) } else { from_str_with_options(text, options).map_err(unreadable) }
}

#[cfg(test)]
mod tests {
    use launcher_domain::{Audience, FieldError};

    use super::*;
    use crate::pages::admin::fields::Codec;
    use crate::pages::language::Language;

    fn object(json: &str) -> JsonObject {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn pod_template_round_trips_through_form() {
        let texts = [
            r#"{"spec": {"tolerations": [{"key": "a", "operator": "Exists"}], "nodeSelector": {"zone": "1"}}}"#,
            r#"{"a": "true", "b": "1e3", "c": "null", "d": "~", "e": " x ", "f": "a\nb\n", "g": "", "h": "- x", "i": "0o7"}"#,
            r#"{"a": "a: b # c", "b": "\t", "c": "\r\n", "d": "'\"", "e": {}, "f": [], "g": [[1], [true]], "yes": "no"}"#,
            r#"{"script": "set -e\n  echo $(A) \\ \n\n", "long": "0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 012345"}"#,
        ];
        for text in texts {
            let wanted = object(text);
            let sent = format(&wanted).replace('\n', "\r\n");
            assert_eq!(parse(&sent), Ok(Some(wanted)), "{sent}");
        }
    }

    #[test]
    fn text_that_is_not_an_object_is_refused() {
        assert_eq!(parse(" \n"), Ok(None));
        assert_eq!(parse("# a comment\n"), Ok(None));
        assert_eq!(parse("- a"), Err(wrong("editor-not-a-yaml-object", [])));
        for (text, number) in [("a: 1\nb: [", "2"), ("a: 1\na: 2", "2"), ("a: b: c", "1"), ("a: *b", "1")] {
            let TextKey { key, args } = parse(text).unwrap_err();
            let (line, message) = (&args["line"], &args["message"]);
            assert_eq!((&*key, &**line), ("editor-not-yaml", number), "{text}");
            assert_eq!((message.is_empty(), message.contains('\n')), (false, false), "{message}");
        }
    }

    #[test]
    fn nested_aliases_do_not_exhaust_memory() {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..12 {
            let last = format!("*a{}", level - 1);
            text += &format!("a{level}: &a{level} [{}]\n", vec![last; 10].join(", "));
        }
        assert!(parse(&text).is_err());
    }

    /// Returns the parameters of a text, or the error beside the field.
    fn parameters(text: &str) -> Result<Vec<Parameter>, String> {
        let t = Language::english();
        let list = parse_parameters(text).map_err(|error| t.coded(&error))?.unwrap_or_else(|| json!([]));
        let template = json!({ "name": "x", "app_type": "notebook", "image": "x", "parameters": list });
        let read = TemplateContent::read(template.as_object().unwrap());
        let at = |error: &FieldError| error.pointer.trim_start_matches("/parameters/").to_owned();
        read.map(|content| content.settings.parameters).map_err(|errors| {
            errors.iter().map(|error| Codec::Parameters.error(t, &at(error), error)).collect::<Vec<_>>().join(" ")
        })
    }

    fn list(parameters: &[Parameter]) -> Vec<Value> {
        json!(parameters).as_array().cloned().unwrap()
    }

    #[test]
    fn parameters_round_trip_through_form() {
        let wanted = json!([
            { "name": "A", "label": "Data: set", "kind": "text", "required": false, "max_length": 200 },
            { "name": "B", "label": "- B", "kind": "number", "default": "007", "min": -1, "max": 20.5, "integer": true },
            { "name": "C", "label": "C", "kind": "choice", "choices": ["true", "5", "a: b"], "help": "# help" },
            { "name": "D", "label": "D", "kind": "secret", "required": true, "max_length": 40 },
        ]);
        let wanted = parameters(&wanted.to_string()).unwrap();
        let sent = format_parameters(&list(&wanted)).replace('\n', "\r\n");
        assert_eq!(parameters(&sent), Ok(wanted), "{sent}");
        assert!(!sent.contains("200") && !sent.contains("null") && !sent.contains("[]"), "no defaults: {sent}");
    }

    #[test]
    fn each_text_of_a_parameter_is_read_as_typed() {
        let schema = TemplateContent::schema(Audience::Request);
        let fields = schema.pointer("/properties/parameters/items/properties").and_then(Value::as_object).unwrap();
        let texts = json!(Texts::default());
        for (name, field) in fields {
            let types = [&field["type"], &field["items"]["type"]];
            let is_text =
                field.get("enum").is_none() && types.iter().any(|kind| kind.to_string().contains("\"string\""));
            assert_eq!(texts.get(name).is_some(), is_text, "{name}");
        }
    }

    #[test]
    fn numbers_of_yaml_become_texts() {
        let parameters =
            parameters("- name: A\n  label: A\n  kind: choice\n  choices: [1, true, x]\n  default: 1\n").unwrap();
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
            let list = parse_parameters(&text).unwrap().unwrap();
            for field in ["/0/name", "/0/label", "/0/help", "/0/default", "/0/choices/0"] {
                assert_eq!(list.pointer(field), Some(&json!(typed)), "{field}");
            }
            let again = format_parameters(list.as_array().unwrap());
            assert_eq!(parse_parameters(&again), Ok(Some(list)), "{typed}");
        }
    }

    #[test]
    fn null_is_no_text() {
        for null in ["~", "null", ""] {
            let error = parameters(&format!("- name: A\n  label: {null}\n  kind: text\n")).unwrap_err();
            assert!(error.starts_with("1. label: "), "{null}: {error}");
            let parameters = parameters(&format!("- name: A\n  label: A\n  kind: text\n  default: {null}\n")).unwrap();
            assert_eq!(parameters[0].default, None, "{null}");
        }
    }

    #[test]
    fn settings_are_numbers_and_booleans() {
        let list = parameters(
            "- {name: A, label: A, kind: number, min: -1, max: 2.5, integer: true}\n\
             - {name: B, label: B, kind: text, max_length: 40, required: false}\n",
        );
        let list = list.unwrap();
        let (number, text) = (&list[0], &list[1]);
        assert_eq!(json!([number.min, number.max, number.integer]), json!([-1, 2.5, true]));
        assert_eq!((text.max_length, text.required), (Some(40), false));
        let error = parameters("- {name: A, label: 3.10, kind: text, max_length: many}").unwrap_err();
        assert!(error.starts_with("1. max_length: "), "{error}");
    }

    #[test]
    fn error_names_the_line_or_the_parameter() {
        for (text, expected) in [
            ("- name: A\n  label: [", "Line 2"),
            ("name: A", "list"),
            ("- A", "list"),
            ("- {name: A, label: A, kind: text}\n- {name: B, label: B, kind: text, pattern: x}", "2. pattern: "),
            ("- {name: [A], label: A, kind: text}", "1. name: "),
            ("- {name: A, kind: text}", "1. missing field `label`"),
        ] {
            let error = parameters(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
        assert_eq!(parameters(" \n"), Ok(Vec::new()));
    }

    #[test]
    fn any_yaml_is_read_again_or_refused() {
        launcher_fuzz::run(env!("CARGO_MANIFEST_DIR"), "any_yaml_is_read_again_or_refused", 20_000, |bytes| {
            let text = String::from_utf8_lossy(bytes);
            if let Ok(Some(read)) = parse(&text) {
                assert_eq!(parse(&format(&read)), Ok(Some(read)), "{text}");
            }
            if let Ok(Some(Value::Array(list))) = parse_parameters(&text) {
                drop(parse_parameters(&format_parameters(&list)));
            }
        });
    }
}
