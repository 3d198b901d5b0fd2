//! Tests of the custom resource definition (CRD).
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where by panicking")]

use serde_json::Value;

fn schema() -> Value {
    let crd = serde_json::to_value(launcher_workshop::crd()).unwrap();
    crd.pointer("/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties").unwrap().clone()
}

fn rules(field: &str) -> Vec<String> {
    let rules = schema()[field]["x-kubernetes-validations"].as_array().cloned().unwrap_or_default();
    rules.iter().map(|rule| rule["rule"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn committed_crd_matches_generated_crd() {
    // The file contains JSON, which is valid YAML, because `launcher crd` prints JSON.
    let committed: Value = serde_json::from_str(include_str!("../../../../crds/workshops.yaml")).unwrap();
    assert_eq!(
        committed,
        serde_json::to_value(launcher_workshop::crd()).unwrap(),
        "crds/workshops.yaml is out of date: cargo run -p launcher -- crd > crds/workshops.yaml"
    );
}

#[test]
fn owner_and_image_are_immutable() {
    assert_eq!(rules("owner"), ["self == oldSelf"]);
    assert_eq!(rules("image"), ["self == oldSelf"]);
}

#[test]
fn crd_schema_rejects_invalid_owner_port_and_resources() {
    let schema = schema();
    assert_eq!(schema["owner"]["minLength"], 3);
    assert_eq!((&schema["port"]["minimum"], &schema["port"]["maximum"]), (&1.0.into(), &65535.0.into()));
    assert_eq!(rules("port"), ["self != 8080 && self != 8081"]);
    for amount in ["cpuRequest", "cpuLimit", "memoryRequest", "memoryLimit"] {
        assert_eq!(schema["resources"]["properties"][amount]["minLength"], 1, "{amount}");
    }
    assert_eq!(schema["lifetimeSeconds"]["minimum"], 1.0);
}

#[test]
fn crd_schema_lists_app_types_and_security_profiles() {
    let schema = schema();
    assert_eq!(schema["appType"]["enum"], serde_json::json!(["rstudio", "notebook", "custom"]));
    assert_eq!(schema["securityProfile"]["enum"], serde_json::json!(["restricted", "baseline"]));
}

#[test]
fn crd_merges_conditions_by_type() {
    let crd = serde_json::to_value(launcher_workshop::crd()).unwrap();
    let status = crd.pointer("/spec/versions/0/schema/openAPIV3Schema/properties/status/properties").unwrap();
    assert_eq!(status["conditions"]["x-kubernetes-list-type"], "map");
    assert_eq!(status["conditions"]["x-kubernetes-list-map-keys"], serde_json::json!(["type"]));
}
