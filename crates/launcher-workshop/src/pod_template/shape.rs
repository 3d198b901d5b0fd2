//! The fields that a pod template can set, and its conversion to the types of Kubernetes.

use launcher_domain::template::join;
use launcher_domain::{FieldError, FieldRule, PodTemplateObject};
use serde_json::{Map, Value};
use serde_path_to_error::{Path, Segment};

/// Fields that a template can set in one place.
enum Shape {
    /// Any value. The types of Kubernetes decide.
    Any,
    /// An object with some of these fields, in groups of the same shape.
    Object(&'static [(&'static [&'static str], Shape)]),
    List(&'static Shape),
}

use Shape::{Any, List, Object};

const ENV: Shape = List(&Object(&[
    (&["name", "value"], Any),
    (&["valueFrom"], Object(&[(&["secretKeyRef", "configMapKeyRef", "fieldRef", "resourceFieldRef"], Any)])),
]));
const ENV_FROM: Shape = List(&Object(&[(&["prefix", "secretRef", "configMapRef"], Any)]));
const MOUNTS: Shape = List(&Object(&[(&["name", "mountPath", "subPath", "readOnly"], Any)]));
const APP: Shape = Object(&[
    (&["name"], Any),
    (&["env"], ENV),
    (&["envFrom"], ENV_FROM),
    (&["volumeMounts"], MOUNTS),
    (&["resources"], Object(&[(&["limits", "requests"], Any)])),
]);
const INIT: Shape = Object(&[
    (&["name", "image", "command", "args", "workingDir"], Any),
    (&["env"], ENV),
    (&["envFrom"], ENV_FROM),
    (&["volumeMounts"], MOUNTS),
]);
/// Volume sources, with the field that names the object.
const VOLUME: Shape = Object(&[(&["name", "emptyDir", "configMap", "secret", "persistentVolumeClaim", "csi"], Any)]);
const SECURITY_CONTEXT: Shape =
    Object(&[(&["fsGroup", "fsGroupChangePolicy", "supplementalGroups", "supplementalGroupsPolicy"], Any)]);
const POD: Shape = Object(&[
    (&["volumes"], List(&VOLUME)),
    (&["containers"], List(&APP)),
    (&["initContainers"], List(&INIT)),
    (&["nodeSelector", "affinity", "tolerations", "runtimeClassName", "priorityClassName"], Any),
    (&["imagePullSecrets", "serviceAccountName"], Any),
    (&["securityContext"], SECURITY_CONTEXT),
]);
const TEMPLATE: Shape = Object(&[(&["metadata"], Object(&[(&["annotations", "labels"], Any)])), (&["spec"], POD)]);

/// Returns the object as Kubernetes reads it: without `null` values, and with numbers of quantities as texts.
pub(super) fn normal(source: &PodTemplateObject) -> Value {
    normal_object(source, false).into()
}

/// `has_quantities`: the values are quantities, for which people write numbers.
fn normal_object(source: &Map<String, Value>, has_quantities: bool) -> Map<String, Value> {
    let kept = source.iter().filter(|(_, value)| !value.is_null());
    kept.map(|(name, value)| (name.clone(), normal_value(name, value, has_quantities))).collect()
}

fn normal_value(name: &str, value: &Value, is_quantity: bool) -> Value {
    match value {
        Value::Number(number) if is_quantity || name == "sizeLimit" => number.to_string().into(),
        Value::Object(object) => normal_object(object, ["limits", "requests"].contains(&name)).into(),
        Value::Array(items) => {
            let kept = items.iter().filter(|item| !item.is_null());
            kept.map(|item| normal_value("", item, false)).collect::<Vec<_>>().into()
        }
        other => other.clone(),
    }
}

/// Refuses fields that a template cannot set.
pub(super) fn check(value: &Value) -> Result<(), Vec<FieldError>> {
    let mut errors = Vec::new();
    walk(value, &TEMPLATE, "", &mut errors);
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

fn walk(value: &Value, shape: &Shape, pointer: &str, errors: &mut Vec<FieldError>) {
    match (shape, value) {
        (Object(fields), Value::Object(object)) => {
            for (name, value) in object {
                let pointer = join(pointer, name);
                match fields.iter().find(|(names, _)| names.contains(&&**name)) {
                    Some((_, shape)) => walk(value, shape, &pointer, errors),
                    None => errors.push(FieldError::new(pointer, not_here(fields))),
                }
            }
        }
        (List(shape), Value::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                walk(item, shape, &format!("{pointer}/{index}"), errors);
            }
        }
        (Object(_), _) => errors.push(FieldError::new(pointer, FieldRule::Object)),
        // The types of Kubernetes refuse other values.
        (List(_) | Any, _) => {}
    }
}

fn not_here(fields: &[(&[&str], Shape)]) -> FieldRule {
    let names: Vec<&str> = fields.iter().flat_map(|(names, _)| *names).copied().collect();
    FieldRule::PodTemplateField { fields: names.join(", ") }
}

/// Returns an error for each field of `written` that `known` does not have.
pub(super) fn unknown(written: &Value, known: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    compare(written, known, "", &mut errors);
    errors
}

fn compare(written: &Value, known: &Value, pointer: &str, errors: &mut Vec<FieldError>) {
    match (written, known) {
        (Value::Object(written), Value::Object(known)) => {
            for (name, value) in written {
                let pointer = join(pointer, name);
                match known.get(name) {
                    Some(known) => compare(value, known, &pointer, errors),
                    None => {
                        let fields = known.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
                        errors.push(FieldError::new(pointer, FieldRule::FieldUnknown { fields }));
                    }
                }
            }
        }
        (Value::Array(written), Value::Array(known)) => {
            for (index, (value, known)) in written.iter().zip(known).enumerate() {
                compare(value, known, &format!("{pointer}/{index}"), errors);
            }
        }
        _ => {}
    }
}

/// Returns the JSON pointer of the place where the parser stopped.
pub(super) fn pointer_of(path: &Path) -> String {
    path.iter().fold(String::new(), |pointer, segment| match segment {
        Segment::Seq { index } => format!("{pointer}/{index}"),
        Segment::Map { key } => join(&pointer, key),
        Segment::Enum { .. } | Segment::Unknown => pointer,
    })
}
