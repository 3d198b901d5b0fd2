//! Places in the JSON of a pod template.

use serde_json::{Value, json};

use crate::extract::unescaped;

const APP: &str = "app";

pub(super) fn app(template: &Value) -> Option<&Value> {
    template.pointer(&app_pointer(template)?)
}

pub(super) fn app_pointer(template: &Value) -> Option<String> {
    let index = template.pointer("/spec/containers")?.as_array()?.iter().position(is_app)?;
    Some(format!("/spec/containers/{index}"))
}

/// Returns the value at a JSON pointer of the app's container. Adds the container if it is absent. See [`entry`].
pub(super) fn app_entry<'v>(template: &'v mut Value, pointer: &str, default: Value) -> Option<&'v mut Value> {
    let containers = entry(template, "/spec/containers", json!([]))?.as_array_mut()?;
    let index = containers.iter().position(is_app).unwrap_or_else(|| {
        containers.push(json!({ "name": APP }));
        containers.len() - 1
    });
    entry(containers.get_mut(index)?, pointer, default)
}

/// Returns the value at a JSON pointer. Sets it to `default` if it is absent or `null`, and adds absent parents, which are
/// objects. Returns `None` if a parent has another type.
pub(crate) fn entry<'v>(value: &'v mut Value, pointer: &str, default: Value) -> Option<&'v mut Value> {
    let mut names = pointer.split('/').skip(1).peekable();
    let mut value = value;
    while let Some(name) = names.next() {
        value = value.as_object_mut()?.entry(name).or_insert(Value::Null);
        if value.is_null() {
            *value = if names.peek().is_some() { json!({}) } else { default.clone() };
        }
    }
    Some(value)
}

/// Removes the value at a JSON pointer, and each parent that becomes empty. Returns the value.
pub(super) fn remove(template: &mut Value, pointer: &str) -> Option<Value> {
    let (parent_pointer, name) = pointer.rsplit_once('/')?;
    let parent = template.pointer_mut(parent_pointer)?;
    let removed = match parent {
        Value::Object(object) => object.remove(&unescaped(name))?,
        Value::Array(items) => {
            let index = name.parse::<usize>().ok().filter(|index| *index < items.len())?;
            items.remove(index)
        }
        _ => return None,
    };
    if is_empty(parent) || *parent == json!({ "name": APP }) {
        remove(template, parent_pointer);
    }
    Some(removed)
}

/// True for `null`, an empty object and an empty list.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(object) => object.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

fn is_app(container: &Value) -> bool {
    container.get("name").and_then(Value::as_str) == Some(APP)
}
