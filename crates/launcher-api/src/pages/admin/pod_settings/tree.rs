//! Places in the JSON of a pod template.

use serde_json::{Map, Value, json};

/// Name of the app's container.
const APP: &str = "app";

/// Returns the app's container.
pub(super) fn app(template: &Value) -> Option<&Value> {
    template.pointer(&app_pointer(template)?)
}

/// Returns the JSON pointer of the app's container.
pub(super) fn app_pointer(template: &Value) -> Option<String> {
    let index = template.pointer("/spec/containers")?.as_array()?.iter().position(is_app)?;
    Some(format!("/spec/containers/{index}"))
}

/// Returns the spec. Adds it if it is absent. Returns `None` if it has the wrong type.
pub(super) fn spec(template: &mut Value) -> Option<&mut Map<String, Value>> {
    child(template, "spec", json!({}))?.as_object_mut()
}

/// Returns the resource limits of the app. Adds absent parents. Returns `None` if one has the wrong type.
pub(super) fn limits(template: &mut Value) -> Option<&mut Map<String, Value>> {
    let resources = child(app_mut(template)?, "resources", json!({}))?;
    child(resources, "limits", json!({}))?.as_object_mut()
}

/// Returns the volumes of the pod. Adds absent parents. Returns `None` if one has the wrong type.
pub(super) fn volumes(template: &mut Value) -> Option<&mut Vec<Value>> {
    child(child(template, "spec", json!({}))?, "volumes", json!([]))?.as_array_mut()
}

/// Returns the volume mounts of the app. Adds absent parents. Returns `None` if one has the wrong type.
pub(super) fn mounts(template: &mut Value) -> Option<&mut Vec<Value>> {
    child(app_mut(template)?, "volumeMounts", json!([]))?.as_array_mut()
}

/// Removes the value at a JSON pointer, and each parent that becomes empty. Returns the value.
pub(super) fn remove(template: &mut Value, pointer: &str) -> Option<Value> {
    let (parent_pointer, name) = pointer.rsplit_once('/')?;
    let parent = template.pointer_mut(parent_pointer)?;
    let removed = match parent {
        Value::Object(object) => object.remove(&name.replace("~1", "/").replace("~0", "~"))?,
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

/// Escapes a name for a JSON pointer.
pub(super) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn is_app(container: &Value) -> bool {
    container.get("name").and_then(Value::as_str) == Some(APP)
}

fn app_mut(template: &mut Value) -> Option<&mut Value> {
    let containers = child(child(template, "spec", json!({}))?, "containers", json!([]))?.as_array_mut()?;
    let index = containers.iter().position(is_app).unwrap_or_else(|| {
        containers.push(json!({ "name": APP }));
        containers.len() - 1
    });
    containers.get_mut(index)
}

/// Returns a child of an object. Sets it to `default` if it is absent or `null`.
fn child<'v>(parent: &'v mut Value, name: &str, default: Value) -> Option<&'v mut Value> {
    let child = parent.as_object_mut()?.entry(name).or_insert(Value::Null);
    if child.is_null() {
        *child = default;
    }
    Some(child)
}
