//! Objects of the simulated API server, with versions, generations and UIDs, and the log of changes for watches.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::validation::is_valid;

/// One change of an object, as sent to a watch.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub(crate) version: u64,
    pub(crate) what: &'static str,
    pub(crate) object: Arc<Value>,
}

/// Status code of an error answer.
pub(crate) type Refusal = u16;

/// Part of an object that a request addresses: the whole object, or its status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Main,
    Status,
}

#[derive(Debug, Default)]
pub(crate) struct Objects {
    /// Present objects by kind, as in URL paths (`pods`), and name.
    pub(crate) there: BTreeMap<String, BTreeMap<String, Arc<Value>>>,
    log: BTreeMap<String, Vec<Change>>,
    pub(crate) version: u64,
    /// Versions before this one are compacted: a watch that starts from one of them gets 410.
    pub(crate) compacted: u64,
    identities: u64,
}

/// Returns the text at a path such as `/metadata/name`. No key of these paths has an escaped character. Unlike
/// `Value::pointer`, it allocates nothing: the simulation reads millions of texts.
pub(crate) fn text<'a>(object: &'a Value, path: &str) -> &'a str {
    let inner = |value: &'a Value, key: &str| match value {
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        _ => value.get(key),
    };
    path.split('/').skip(1).try_fold(object, inner).and_then(Value::as_str).unwrap_or_default()
}

pub(crate) fn is_leaving(object: &Value) -> bool {
    !object["metadata"]["deletionTimestamp"].is_null()
}

pub(crate) fn owner(object: &Value) -> &str {
    text(object, "/metadata/ownerReferences/0/uid")
}

impl Objects {
    pub(crate) fn get(&self, kind: &str, name: &str) -> Option<&Arc<Value>> {
        self.there.get(kind)?.get(name)
    }

    pub(crate) fn of(&self, kind: &str) -> Vec<Arc<Value>> {
        self.there.get(kind).into_iter().flat_map(BTreeMap::values).cloned().collect()
    }

    /// Returns the first change of a kind after a version.
    pub(crate) fn since(&self, kind: &str, version: u64) -> Option<Change> {
        let changes = self.log.get(kind)?;
        changes.get(changes.partition_point(|change| change.version <= version)).cloned()
    }

    fn note(&mut self, kind: &str, what: &'static str, object: &Arc<Value>) {
        let change = Change { version: self.version, what, object: object.clone() };
        self.log.entry(kind.to_owned()).or_default().push(change);
    }

    /// Stores an object under the next version.
    fn store(&mut self, kind: &str, mut object: Value) -> Arc<Value> {
        self.version += 1;
        object["metadata"]["resourceVersion"] = self.version.to_string().into();
        let name = text(&object, "/metadata/name").to_owned();
        let object = Arc::new(object);
        let before = self.there.entry(kind.to_owned()).or_default().insert(name, object.clone());
        let what = if before.is_some() { "MODIFIED" } else { "ADDED" };
        self.note(kind, what, &object);
        object
    }

    pub(crate) fn create(&mut self, kind: &str, mut object: Value, now: Timestamp) -> Result<Arc<Value>, Refusal> {
        if self.get(kind, text(&object, "/metadata/name")).is_some() {
            return Err(409);
        }
        if kind == "workshops" && !is_valid(None, &object) {
            return Err(422);
        }
        self.identities += 1;
        let identity = format!("uid-{}", self.identities);
        object["metadata"]["uid"] = identity.into();
        object["metadata"]["namespace"] = "workshops".into();
        object["metadata"]["creationTimestamp"] = seconds(now).into();
        object["metadata"]["generation"] = 1.into();
        // The API server ignores a status in this request: only the status subresource writes it.
        object.as_object_mut().unwrap().remove("status");
        Ok(self.store(kind, object))
    }

    /// Server-side apply. Replaces whole fields and tracks no ownership, because each field has only one manager.
    pub(crate) fn apply(
        &mut self,
        kind: &str,
        name: &str,
        part: Part,
        body: &Value,
        now: Timestamp,
    ) -> Result<Arc<Value>, Refusal> {
        let wanted = text(body, "/metadata/uid");
        let Some(found) = self.get(kind, name).cloned() else {
            return match part {
                Part::Status => Err(404),
                Part::Main if !wanted.is_empty() => Err(409),
                Part::Main => self.create(kind, body.clone(), now),
            };
        };
        if !wanted.is_empty() && wanted != text(&found, "/metadata/uid") {
            return Err(422);
        }
        let version = text(body, "/metadata/resourceVersion");
        if !version.is_empty() && version != text(&found, "/metadata/resourceVersion") {
            return Err(409);
        }
        let mut next = (*found).clone();
        match part {
            Part::Status => next["status"] = body["status"].clone(),
            Part::Main => {
                for field in ["labels", "annotations", "ownerReferences"] {
                    if let Some(value) = body["metadata"].get(field) {
                        merge(&mut next["metadata"][field], value);
                    }
                }
                if let Some(spec) = body.get("spec") {
                    next["spec"] = spec.clone();
                }
                if kind == "workshops" && !is_valid(Some(&found), &next) {
                    return Err(422);
                }
            }
        }
        Ok(self.change(kind, &found, next))
    }

    /// Stores a changed object. An unchanged object keeps its version.
    pub(crate) fn change(&mut self, kind: &str, before: &Arc<Value>, mut after: Value) -> Arc<Value> {
        if **before == after {
            return before.clone();
        }
        if before["spec"] != after["spec"] {
            after["metadata"]["generation"] = (before["metadata"]["generation"].as_i64().unwrap_or(1) + 1).into();
        }
        self.store(kind, after)
    }

    pub(crate) fn replace(&mut self, kind: &str, name: &str, body: Value) -> Result<Arc<Value>, Refusal> {
        let found = self.get(kind, name).cloned().ok_or(404_u16)?;
        if text(&body, "/metadata/resourceVersion") != text(&found, "/metadata/resourceVersion") {
            return Err(409);
        }
        Ok(self.change(kind, &found, body))
    }

    /// Deletes an object, or marks it as terminating. Returns `None` when the object is removed.
    pub(crate) fn delete(
        &mut self,
        kind: &str,
        name: &str,
        options: &Value,
        now: Timestamp,
    ) -> Result<Option<Arc<Value>>, Refusal> {
        let found = self.get(kind, name).cloned().ok_or(404_u16)?;
        let wanted = text(options, "/preconditions/uid");
        if !wanted.is_empty() && wanted != text(&found, "/metadata/uid") {
            return Err(409);
        }
        if kind != "pods" && options["propagationPolicy"] != "Foreground" && !is_leaving(&found) {
            self.remove(kind, name);
            return Ok(None);
        }
        Ok(Some(self.mark(kind, &found, now)))
    }

    /// Marks an object as terminating.
    pub(crate) fn mark(&mut self, kind: &str, found: &Arc<Value>, now: Timestamp) -> Arc<Value> {
        let mut next = (**found).clone();
        if !is_leaving(found) {
            next["metadata"]["deletionTimestamp"] = seconds(now).into();
        }
        self.change(kind, found, next)
    }

    pub(crate) fn remove(&mut self, kind: &str, name: &str) {
        if let Some(object) = self.there.get_mut(kind).and_then(|objects| objects.remove(name)) {
            self.version += 1;
            let mut last = (*object).clone();
            last["metadata"]["resourceVersion"] = self.version.to_string().into();
            self.note(kind, "DELETED", &Arc::new(last));
        }
    }
}

/// Writes a value. The entries of a map are added to the present ones.
fn merge(present: &mut Value, value: &Value) {
    match (present.as_object_mut(), value.as_object()) {
        (Some(present), Some(value)) => present.extend(value.clone()),
        _ => *present = value.clone(),
    }
}

/// Formats a time in whole seconds, like the metadata of the API server.
fn seconds(time: Timestamp) -> String {
    Timestamp::from_second(time.as_second()).unwrap().to_string()
}

/// Builds a list, or one page of it.
pub(crate) fn list(items: &[Arc<Value>], version: u64) -> Value {
    let items: Vec<&Value> = items.iter().map(|item| &**item).collect();
    json!({"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": version.to_string()}, "items": items})
}
