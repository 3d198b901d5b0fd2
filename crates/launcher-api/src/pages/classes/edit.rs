//! `/classes/{class}/edit`: the settings of a class, for its teachers.

use std::collections::BTreeMap;

use askama::Template;
use http::StatusCode;
use launcher_domain::{FieldError, JsonObject};
use launcher_service::ServiceError;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::pages::classes::{ClassLink, path};
use crate::pages::{Fields, Language, PageResult, Shell, Text, Visitor, assets, forms, page_with};
use crate::permission::{EditClass, InClass};

const FIELDS: [FormField; 14] = [
    field("name", Input::Text),
    field("description", Input::Lines),
    field("starts_on", Input::Day),
    field("ends_on", Input::Day),
    field("max_workshops", Input::Number),
    field("max_workshops_per_member", Input::Number),
    of_admins("queue_weight", Input::Number),
    of_admins("namespace", Input::Namespace),
    of_admins("slug", Input::Slug),
    of_admins("allowed_images", Input::List),
    of_admins("allowed_sizes", Input::List),
    of_admins("allows_baseline", Input::Check),
    field("folds_catalog", Input::Check),
    field("archived", Input::Check),
];

#[derive(Debug, Clone, Copy)]
struct FormField {
    name: &'static str,
    input: Input,
    /// True if only admins change it. Teachers see it only if it is a list that restricts them.
    is_of_admins: bool,
}

const fn field(name: &'static str, input: Input) -> FormField {
    FormField { name, input, is_of_admins: false }
}

const fn of_admins(name: &'static str, input: Input) -> FormField {
    FormField { name, input, is_of_admins: true }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    Text,
    /// Empty for the current slug.
    Slug,
    Lines,
    /// Texts, one per line.
    List,
    Day,
    Number,
    Check,
    /// One of the namespaces of classes. The page shows it if there are any.
    Namespace,
}

/// The form: values by the names of the fields, and the version that the page showed.
#[derive(Debug, Deserialize)]
pub(crate) struct ClassForm {
    version: i64,
    #[serde(flatten)]
    values: BTreeMap<String, String>,
}

#[derive(Debug, Template)]
#[template(path = "class_edit.html")]
struct EditPage {
    t: Language,
    shell: Shell,
    class: ClassLink,
    version: i64,
    fields: Vec<Field>,
    namespaces: Vec<String>,
    errors: Vec<Text>,
}

#[derive(Debug)]
struct Field {
    name: &'static str,
    input: Input,
    /// True if the reader cannot change the value.
    is_fixed: bool,
    value: String,
    errors: Vec<String>,
}

impl Field {
    /// Key of the texts of the field.
    fn key(&self) -> String {
        format!("class-field-{}", self.name.replace('_', "-"))
    }
}

pub(crate) async fn show(visitor: InClass<EditClass, Visitor>) -> PageResult {
    let values = values(&json!(visitor.access.class().content));
    render(&visitor, StatusCode::OK, &values, |_| Vec::new(), Vec::new())
}

fn values(content: &Value) -> BTreeMap<String, String> {
    let text = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(entries) => entries.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n"),
        other => other.to_string(),
    };
    content.as_object().into_iter().flatten().map(|(name, value)| (name.clone(), text(value))).collect()
}

fn render(
    visitor: &InClass<EditClass, Visitor>,
    status: StatusCode,
    values: &BTreeMap<String, String>,
    errors_of: impl Fn(&str) -> Vec<String>,
    errors: Vec<Text>,
) -> PageResult {
    let is_admin = visitor.caller.is_admin();
    let mut namespaces = visitor.launcher.class_namespaces().to_vec();
    // The settings may name it no longer.
    if let Some(current) = &visitor.access.class().content.namespace
        && !namespaces.contains(current)
    {
        namespaces.push(current.clone());
    }
    let field = |FormField { name, input, is_of_admins }| {
        let value = values.get(name).cloned().unwrap_or_default();
        let is_fixed = is_of_admins && !is_admin;
        let errors = errors_of(name);
        let is_shown = match input {
            Input::Namespace => !is_fixed && !namespaces.is_empty(),
            _ => !is_fixed || !errors.is_empty() || (input == Input::List && !value.is_empty()),
        };
        is_shown.then_some(Field { name, input, is_fixed, value, errors })
    };
    let fields: Vec<Field> = FIELDS.into_iter().filter_map(field).collect();
    let here = format!("{}/edit", path(&visitor.access));
    let shell = visitor.shell("classes");
    let edit = EditPage {
        t: visitor.t,
        shell: if status == StatusCode::OK { shell } else { shell.returning_to(here) },
        class: ClassLink::new(visitor, &visitor.access),
        version: visitor.access.class().version,
        fields,
        namespaces,
        errors,
    };
    page_with(status, &edit)
}

/// Changes the settings of a class. Fields that the page does not show stay as they are.
pub(crate) async fn save(visitor: InClass<EditClass, Visitor>, Fields(form): Fields<ClassForm>) -> PageResult {
    let t = visitor.t;
    let mut body: JsonObject = json!(visitor.access.class().content).as_object().cloned().unwrap_or_default();
    for FormField { name, input, is_of_admins } in FIELDS {
        let Some(text) = form.values.get(name) else {
            // A browser sends no unchecked box.
            if input == Input::Check && (visitor.caller.is_admin() || !is_of_admins) {
                body.insert(name.to_owned(), false.into());
            }
            continue;
        };
        let text = text.trim();
        let value = match input {
            Input::Check => true.into(),
            Input::Number | Input::Day | Input::Slug if text.is_empty() => Value::Null,
            // The rules report a text that is no number.
            Input::Number => text.parse().map_or_else(|_| text.into(), |number: i64| number.into()),
            Input::Text | Input::Slug | Input::Lines | Input::Day | Input::Namespace => text.into(),
            Input::List => text.lines().map(str::trim).filter(|line| !line.is_empty()).collect(),
        };
        body.insert(name.to_owned(), value);
    }
    match visitor.launcher.update_class(&visitor.access, &body, Some(form.version)).await {
        Ok(changed) => Ok(forms::redirect(&path(&changed))),
        Err(ServiceError::Invalid(wrong)) => {
            let errors_of = |name: &str| wrong.iter().filter_map(|error| error_at(t, name, error)).collect();
            render(&visitor, StatusCode::UNPROCESSABLE_ENTITY, &form.values, errors_of, Vec::new())
        }
        Err(ServiceError::ClassVersionMismatch) => {
            let errors = vec![t.text("class-changed-meanwhile")];
            render(&visitor, StatusCode::PRECONDITION_FAILED, &form.values, |_| Vec::new(), errors)
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns the error if it is one of this field, with the number of the entry of a list.
fn error_at(t: Language, name: &str, error: &FieldError) -> Option<String> {
    let entry = error.pointer.strip_prefix('/')?.strip_prefix(name)?;
    let wrong = t.field_error(error);
    match entry.strip_prefix('/').and_then(|index| index.parse::<usize>().ok()) {
        Some(index) => Some(t.with("editor-wrong-entry", [("number", (index + 1).into()), ("wrong", wrong.into())])),
        None => entry.is_empty().then_some(wrong),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use launcher_domain::ClassContent;

    use super::*;

    #[test]
    fn form_has_each_field_of_a_class() {
        let names: BTreeSet<&str> = FIELDS.into_iter().map(|field| field.name).collect();
        assert_eq!(names, ClassContent::FIELDS.iter().copied().collect());
    }
}
