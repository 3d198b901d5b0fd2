//! Compares the cluster's Workshop CRD with the CRD of this launcher version. The launcher may not read the CRD itself:
//! it reads the schema from the API server's OpenAPI document.

use http::Request;
use kube::Resource;
use launcher_workshop::Workshop;
use serde_json::Value;

use super::doctor::KubernetesExamination;
use super::error::{status_code, to_fleet_error, unavailable};
use crate::port::FleetError;

/// Result of the comparison between the cluster's Workshop CRD and the launcher's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Definition {
    /// The cluster's CRD has every field of the launcher's CRD. It may have additional fields.
    Same,
    /// The cluster does not have this API version of the Workshop CRD.
    Missing(String),
    /// These schema fields are missing or different in the cluster, for example `spec.owner: maxLength`.
    Different(Vec<String>),
}

impl KubernetesExamination {
    /// Compares the cluster's Workshop CRD with the launcher's.
    pub async fn definition(&self) -> Result<Definition, FleetError> {
        let version = Workshop::api_version(&());
        let request = Request::get(format!("/openapi/v3/apis/{version}")).body(Vec::new());
        let document: Value = match self.client.request(request.map_err(|error| unavailable(&error))?).await {
            Ok(document) => document,
            Err(error) if status_code(&error) == Some(404) => return Ok(Definition::Missing(version.into_owned())),
            Err(error) => return Err(to_fleet_error(error)),
        };
        if schema_of(&document, &Workshop::kind(&())).is_none() {
            return Ok(Definition::Missing(version.into_owned()));
        }
        let different = all_differences(&launcher_workshop::crds(), &document);
        Ok(if different.is_empty() { Definition::Same } else { Definition::Different(different) })
    }
}

fn schema_of<'d>(document: &'d Value, kind: &str) -> Option<&'d Value> {
    let schemas = document["components"]["schemas"].as_object()?;
    schemas.values().find(|schema| schema["x-kubernetes-group-version-kind"][0]["kind"] == kind)
}

/// Returns the different fields of all definitions. Fields of other kinds than Workshop begin with their kind.
fn all_differences(definitions: &Value, document: &Value) -> Vec<String> {
    let of_kind = |crd: &Value| {
        let kind = crd["spec"]["names"]["kind"].as_str().unwrap_or_default().to_owned();
        let prefix = if kind == Workshop::kind(&()) { String::new() } else { format!("{kind}: ") };
        let Some(theirs) = schema_of(document, &kind) else { return vec![format!("{prefix}missing")] };
        let ours = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"];
        let found =
            ["spec", "status"].into_iter().flat_map(|part| differences(part, &ours[part], &theirs["properties"][part]));
        found.map(|field| format!("{prefix}{field}")).collect()
    };
    definitions["items"].as_array().into_iter().flatten().flat_map(of_kind).collect()
}

/// Returns the fields of the launcher's schema (`ours`) that are missing or different in the cluster's (`theirs`).
/// Additional fields of the cluster are harmless.
fn differences(path: &str, ours: &Value, theirs: &Value) -> Vec<String> {
    let (Some(ours), Some(theirs)) = (ours.as_object(), theirs.as_object()) else {
        return vec![path.to_owned()];
    };
    let mut found = Vec::new();
    for (key, value) in ours {
        match key.as_str() {
            "description" | "title" => {}
            "properties" => {
                for (name, property) in value.as_object().into_iter().flatten() {
                    found.extend(differences(&format!("{path}.{name}"), property, &theirs["properties"][name]));
                }
            }
            "items" | "additionalProperties" if value.is_object() => {
                found.extend(differences(&format!("{path}[]"), value, theirs.get(key).unwrap_or(&Value::Null)));
            }
            _ if theirs.get(key).is_some_and(|theirs| same(value, theirs)) => {}
            _ => found.push(format!("{path}: {key}")),
        }
    }
    found
}

/// Compares two schema values. The order of lists does not count.
fn same(ours: &Value, theirs: &Value) -> bool {
    match (ours.as_array(), theirs.as_array()) {
        (Some(ours), Some(theirs)) => ours.len() == theirs.len() && ours.iter().all(|one| theirs.contains(one)),
        _ => ours == theirs || (ours.as_f64().is_some() && ours.as_f64() == theirs.as_f64()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ours() -> Value {
        let crd = serde_json::to_value(launcher_workshop::crd()).unwrap();
        crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"].clone()
    }

    #[test]
    fn crd_with_additional_fields_matches() {
        let mut theirs = ours();
        theirs["properties"]["later"] = serde_json::json!({"type": "string"});
        theirs["description"] = "other words".into();
        theirs["required"].as_array_mut().unwrap().reverse();
        assert_eq!(differences("spec", &ours(), &theirs), Vec::<String>::new());
    }

    /// The API server's document with these definitions.
    fn document(crds: &[Value]) -> Value {
        let schemas = crds.iter().map(|crd| {
            let mut schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"].clone();
            let kind = crd["spec"]["names"]["kind"].as_str().unwrap();
            schema["x-kubernetes-group-version-kind"] = serde_json::json!([{ "kind": kind }]);
            (kind.to_owned(), schema)
        });
        let schemas: serde_json::Map<_, _> = schemas.collect();
        serde_json::json!({ "components": { "schemas": schemas } })
    }

    #[test]
    fn definitions_of_all_kinds_are_compared() {
        let ours = launcher_workshop::crds();
        let mut theirs = ours["items"].as_array().unwrap().clone();
        assert_eq!(all_differences(&ours, &document(&theirs)), Vec::<String>::new());
        let fields = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties";
        theirs[1].pointer_mut(fields).unwrap().as_object_mut().unwrap().remove("volume");
        assert_eq!(all_differences(&ours, &document(&theirs)), ["WorkshopDownload: spec.volume"]);
        assert_eq!(all_differences(&ours, &document(&theirs[..1])), ["WorkshopDownload: missing"]);
    }

    #[test]
    fn missing_or_different_crd_fields_are_named() {
        let mut theirs = ours();
        theirs["properties"].as_object_mut().unwrap().remove("lifetimeSeconds");
        theirs["properties"]["owner"].as_object_mut().unwrap().remove("x-kubernetes-validations");
        theirs["properties"]["env"]["additionalProperties"]["type"] = "integer".into();
        theirs["required"].as_array_mut().unwrap().push("later".into());
        let mut found = differences("spec", &ours(), &theirs);
        found.sort();
        let expected =
            ["spec.env[]: type", "spec.lifetimeSeconds", "spec.owner: x-kubernetes-validations", "spec: required"];
        assert_eq!(found, expected);
    }
}
