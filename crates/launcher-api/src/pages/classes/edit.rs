//! `/classes/{class}/edit`: the settings of a class, for its teachers.

use std::collections::BTreeMap;

use askama::Template;
use http::StatusCode;
use launcher_domain::JsonObject;
use launcher_service::ServiceError;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::pages::classes::{ClassLink, path};
use crate::pages::{Fields, Language, PageResult, Shell, Text, Visitor, assets, forms, page_with};
use crate::permission::{EditClass, InClass};

/// Fields of the form in their order: name of the field, and its input.
const FIELDS: [(&str, Input); 10] = [
    ("name", Input::Text),
    ("description", Input::Lines),
    ("starts_on", Input::Day),
    ("ends_on", Input::Day),
    ("max_workshops", Input::Number),
    ("max_workshops_per_member", Input::Number),
    ("queue_weight", Input::NumberOfAdmins),
    ("namespace", Input::NamespaceOfAdmins),
    ("slug", Input::TextOfAdmins),
    ("archived", Input::Check),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    Text,
    Lines,
    Day,
    Number,
    Check,
    /// A number that only admins see.
    NumberOfAdmins,
    /// A text that only admins see.
    TextOfAdmins,
    /// One of the namespaces of classes. Only admins see it, if there are any.
    NamespaceOfAdmins,
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
    value: String,
    errors: Vec<String>,
}

impl Field {
    /// Key of the texts of the field.
    fn key(&self) -> String {
        format!("class-field-{}", self.name.replace('_', "-"))
    }
}

/// Shows the settings of a class.
pub(crate) async fn show(visitor: InClass<EditClass, Visitor>) -> PageResult {
    let values = values(&json!(visitor.access.class().content));
    render(&visitor, StatusCode::OK, &values, |_| Vec::new(), Vec::new())
}

/// Returns the values of the inputs.
fn values(content: &Value) -> BTreeMap<String, String> {
    let text = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
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
    let shown = FIELDS.into_iter().filter(|(_, input)| match input {
        Input::NumberOfAdmins | Input::TextOfAdmins => is_admin,
        Input::NamespaceOfAdmins => is_admin && !namespaces.is_empty(),
        Input::Text | Input::Lines | Input::Day | Input::Number | Input::Check => true,
    });
    let field = |(name, input)| {
        let value = values.get(name).cloned().unwrap_or_default();
        Field { name, input, value, errors: errors_of(name) }
    };
    let fields: Vec<Field> = shown.map(field).collect();
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
    for (name, input) in FIELDS {
        let Some(text) = form.values.get(name) else {
            // A browser sends no unchecked box.
            if input == Input::Check {
                body.insert(name.to_owned(), false.into());
            }
            continue;
        };
        let text = text.trim();
        let value = match input {
            Input::Check => true.into(),
            // The rules report a text that is no number.
            Input::Number | Input::NumberOfAdmins => {
                text.parse().map_or_else(|_| text.into(), |number: i64| number.into())
            }
            Input::Text | Input::Lines | Input::Day | Input::TextOfAdmins | Input::NamespaceOfAdmins => text.into(),
        };
        let is_absent = text.is_empty() && matches!(input, Input::Number | Input::Day);
        body.insert(name.to_owned(), if is_absent { Value::Null } else { value });
    }
    match visitor.launcher.update_class(&visitor.access, &body, Some(form.version)).await {
        Ok(changed) => Ok(forms::redirect(&path(&changed))),
        Err(ServiceError::Invalid(wrong)) => {
            let errors_of = |name: &str| {
                let of_field = wrong.iter().filter(|error| error.pointer == format!("/{name}"));
                of_field.map(|error| t.field_error(error)).collect()
            };
            render(&visitor, StatusCode::UNPROCESSABLE_ENTITY, &form.values, errors_of, Vec::new())
        }
        Err(ServiceError::ClassVersionMismatch) => {
            let errors = vec![t.text("class-changed-meanwhile")];
            render(&visitor, StatusCode::PRECONDITION_FAILED, &form.values, |_| Vec::new(), errors)
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use launcher_domain::ClassContent;

    use super::*;

    #[test]
    fn form_has_each_field_of_a_class() {
        let names: BTreeSet<&str> = FIELDS.into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ClassContent::FIELDS.iter().copied().collect());
    }
}
