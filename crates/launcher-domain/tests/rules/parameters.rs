//! Launch parameters of templates, and the values of launches.

use launcher_domain::template::read_values;
use launcher_domain::{FieldError, FieldRule, Parameter, SecretValues};
use serde_json::{Value, json};

use crate::read;

fn validated(parameters: &Value) -> Result<Vec<Parameter>, Vec<FieldError>> {
    let template = json!({ "name": "a", "app_type": "notebook", "image": "b", "env": { "COURSE": "x" } });
    read(&template, &json!({ "parameters": parameters })).map(|content| content.settings.parameters)
}

fn parameters(parameters: &Value) -> Vec<Parameter> {
    validated(parameters).unwrap()
}

fn refused(parameters: &Value) -> Vec<(String, FieldRule)> {
    pairs(validated(parameters).unwrap_err())
}

fn pairs(errors: Vec<FieldError>) -> Vec<(String, FieldRule)> {
    errors.into_iter().map(|error| (error.pointer, error.rule)).collect()
}

fn given(values: &[(&str, &str)]) -> SecretValues {
    values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Returns the rule that this value of the parameter breaks.
fn broken(parameter: &Value, value: &str) -> Option<FieldRule> {
    let name = parameter["name"].as_str().unwrap();
    let read = read_values(&parameters(&json!([parameter])), &given(&[(name, value)]));
    read.err().map(|errors| {
        assert_eq!(errors[0].pointer, format!("/parameters/{name}"));
        errors[0].rule.clone()
    })
}

fn text(name: &str) -> Value {
    json!({ "name": name, "label": "Label", "kind": "text" })
}

#[test]
fn parameter_is_required_unless_it_has_a_default() {
    let list = json!([text("A"), { "name": "B", "label": " B ", "kind": "text", "default": "x", "help": " Why " }]);
    let [a, b] = <[Parameter; 2]>::try_from(parameters(&list)).unwrap();
    assert!(a.required && a.must_be_given());
    assert!(!b.required && !b.must_be_given());
    assert_eq!((b.label.as_str(), b.help.as_deref(), b.max_length), ("B", Some("Why"), Some(200)));
    let optional = parameters(&json!([{ "name": "A", "label": "A", "kind": "text", "required": false }]));
    assert!(!optional[0].must_be_given());
}

#[test]
fn name_must_be_a_free_variable() {
    let list = json!([
        text("A"),
        text("A"),
        text("1A"),
        text("SERVICE_X"),
        text("PORT"),
        text("COURSE"),
        text("WORKSHOP_URL")
    ]);
    let name = |name: &str| name.to_owned();
    let expected = [
        ("/parameters/1/name", FieldRule::ParameterRepeated { name: name("A") }),
        ("/parameters/2/name", FieldRule::VariableName),
        ("/parameters/3/name", FieldRule::VariableReserved),
        ("/parameters/4/name", FieldRule::ParameterReserved { name: name("PORT") }),
        ("/parameters/5/name", FieldRule::ParameterInEnv { name: name("COURSE") }),
        ("/parameters/6/name", FieldRule::ParameterReserved { name: name("WORKSHOP_URL") }),
    ];
    assert_eq!(refused(&list), expected.map(|(pointer, rule)| (pointer.to_owned(), rule)));
}

#[test]
fn template_has_at_most_ten_parameters() {
    let list = |count: u8| Value::from_iter((0..count).map(|number| text(&format!("P{number}"))));
    assert_eq!(parameters(&list(10)).len(), 10);
    assert_eq!(refused(&list(11)), [("/parameters".to_owned(), FieldRule::ParameterCount)]);
}

#[test]
fn field_of_another_kind_is_refused() {
    for (kind, field, value) in [
        ("secret", "default", json!("x")),
        ("text", "choices", json!(["a", "b"])),
        ("text", "min", json!(1)),
        ("secret", "max", json!(1)),
        ("text", "integer", json!(true)),
        ("number", "max_length", json!(5)),
    ] {
        let mut parameter = json!({ "name": "A", "label": "A", "kind": kind });
        parameter[field] = value;
        let rule = FieldRule::ParameterField { kind: kind.to_owned() };
        assert_eq!(refused(&json!([parameter])), [(format!("/parameters/0/{field}"), rule)], "{kind} {field}");
    }
}

#[test]
fn limits_of_parameter_are_checked() {
    for (fields, field, rule) in [
        (json!({ "label": "" }), "label", FieldRule::Name),
        (json!({ "help": "x".repeat(301) }), "help", FieldRule::ParameterHelp),
        (json!({ "max_length": 1001 }), "max_length", FieldRule::ParameterLength),
        (json!({ "max_length": 0 }), "max_length", FieldRule::ParameterLength),
        (json!({ "default": "a\nb" }), "default", FieldRule::ParameterLine),
        (json!({ "kind": "choice", "choices": ["a"] }), "choices", FieldRule::ParameterChoices),
        (json!({ "kind": "choice", "choices": ["a", "a"] }), "choices", FieldRule::ParameterChoices),
        (json!({ "kind": "choice", "choices": ["a", ""] }), "choices", FieldRule::ParameterChoices),
        (json!({ "kind": "choice", "choices": ["a", "b"], "default": "c" }), "default", FieldRule::ParameterChoice),
        (json!({ "kind": "number", "min": 2, "max": 1.5 }), "max", FieldRule::ParameterRange),
        (json!({ "kind": "number", "default": "much" }), "default", FieldRule::ParameterNumber),
    ] {
        let mut parameter = text("A");
        parameter.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        assert_eq!(refused(&json!([parameter])), [(format!("/parameters/0/{field}"), rule)], "{fields}");
    }
}

#[test]
fn unknown_field_of_parameter_is_refused() {
    let list = json!([{ "name": "A", "label": "A", "kind": "text", "pattern": ".*" }]);
    let [FieldError { pointer, rule }] = &validated(&list).unwrap_err()[..] else { panic!("not one error") };
    assert_eq!((pointer.as_str(), rule.code()), ("/parameters/0/pattern", "field-unknown"));
    assert!(rule.to_string().starts_with("is not a field here; the fields are: name, label, help"), "{rule}");
}

#[test]
fn value_of_text_is_one_line_of_limited_length() {
    let parameter = json!({ "name": "A", "label": "A", "kind": "text", "max_length": 3 });
    assert_eq!(broken(&parameter, "äöü"), None);
    assert_eq!(broken(&parameter, "äöüx"), Some(FieldRule::ParameterTooLong { max: "3".to_owned() }));
    for value in ["a\nb", "a\rb", "\0", "\t", "\u{2028}"] {
        assert_eq!(broken(&parameter, value), Some(FieldRule::ParameterLine), "{value:?}");
    }
}

#[test]
fn value_of_choice_is_one_of_the_choices() {
    let parameter = json!({ "name": "A", "label": "A", "kind": "choice", "choices": ["iris", "cars"] });
    assert_eq!(broken(&parameter, "iris"), None);
    for value in ["Iris", "iris ", "trees"] {
        assert_eq!(broken(&parameter, value), Some(FieldRule::ParameterChoice), "{value:?}");
    }
}

#[test]
fn value_of_number_is_decimal_within_its_limits() {
    let parameter = json!({ "name": "A", "label": "A", "kind": "number", "min": -1, "max": 10.5 });
    for value in ["0", "-1", "10.5", "007", "0.25"] {
        assert_eq!(broken(&parameter, value), None, "{value}");
    }
    for value in ["1e3", "+1", "1,5", ".5", "5.", "-", "inf", "NaN", "0x1", " 1", "１"] {
        assert_eq!(broken(&parameter, value), Some(FieldRule::ParameterNumber), "{value}");
    }
    assert_eq!(broken(&parameter, "-1.1"), Some(FieldRule::ParameterMin { min: "-1".to_owned() }));
    assert_eq!(broken(&parameter, "11"), Some(FieldRule::ParameterMax { max: "10.5".to_owned() }));
    let whole = json!({ "name": "A", "label": "A", "kind": "number", "integer": true });
    assert_eq!(broken(&whole, "12"), None);
    assert_eq!(broken(&whole, "12.0"), Some(FieldRule::ParameterInteger));
}

#[test]
fn absent_or_empty_value_gets_the_default() {
    let list = parameters(&json!([
        { "name": "A", "label": "A", "kind": "text", "default": "x" },
        { "name": "B", "label": "B", "kind": "text", "required": false },
        { "name": "C", "label": "C", "kind": "number", "default": "5" },
    ]));
    let read = read_values(&list, &given(&[("A", ""), ("C", "7")])).unwrap();
    let expected = [("A", "x"), ("C", "7")].map(|(name, value)| (name.to_owned(), Some(value.to_owned())));
    assert_eq!(read.values, expected.into());
    assert!(read.secrets.is_empty());
}

#[test]
fn all_errors_of_a_launch_are_reported_together() {
    let list = parameters(&json!([text("A"), { "name": "B", "label": "B", "kind": "number" }]));
    let errors = read_values(&list, &given(&[("B", "x"), ("X/Y", "z")])).unwrap_err();
    let expected = [
        ("/parameters/X~1Y", FieldRule::ParameterUnknown { name: "X/Y".to_owned() }),
        ("/parameters/A", FieldRule::ParameterRequired),
        ("/parameters/B", FieldRule::ParameterNumber),
    ];
    assert_eq!(pairs(errors), expected.map(|(pointer, rule)| (pointer.to_owned(), rule)));
}

#[test]
fn secret_value_is_separate_and_never_printed() {
    let list = parameters(&json!([text("A"), { "name": "KEY", "label": "Key", "kind": "secret", "max_length": 8 }]));
    let read = read_values(&list, &given(&[("A", "x"), ("KEY", "hunter22")])).unwrap();
    assert_eq!(read.values["KEY"], None);
    assert_eq!(read.secrets.reveal("KEY"), Some("hunter22"));
    assert!(!read.secrets.contains("A"));
    let errors = read_values(&list, &given(&[("A", "x"), ("KEY", "hunter22hunter22")])).unwrap_err();
    for printed in [format!("{read:?}"), format!("{errors:?}"), format!("{:?}", given(&[("KEY", "hunter22")]))] {
        assert!(!printed.contains("hunter22"), "{printed}");
        assert!(printed.contains("KEY"), "{printed}");
    }
}
