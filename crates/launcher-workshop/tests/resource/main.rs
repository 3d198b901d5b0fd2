//! Tests of the custom resource definition (CRD).
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where by panicking")]

mod instance;

use launcher_domain::instance::ObservedPhase;
use launcher_domain::{
    Crash, FailureCode, FailureDetail, FailureReason, FailureRemedy, MaterialOutcome, MaterialReport, Report,
    SourceReport,
};
use launcher_workshop::app::ValidSpec;
use launcher_workshop::{WorkshopSpec, WorkshopStatus, WorkshopStorage};
use serde_json::{Value, json};

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
    // Not assert_eq!, which would print both documents.
    assert!(
        committed == launcher_workshop::crds(),
        "crds/workshops.yaml is out of date: cargo run -p launcher -- crd > crds/workshops.yaml"
    );
}

/// Adds the paths of all fields below a schema that `kubectl explain` could not describe.
fn add_undescribed(schema: &Value, path: &str, found: &mut Vec<String>) {
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.{name}");
        if field["description"].as_str().is_none_or(str::is_empty) {
            found.push(path.clone());
        }
        add_undescribed(field, &path, found);
    }
    for nested in ["items", "additionalProperties"].into_iter().filter_map(|nested| schema.get(nested)) {
        add_undescribed(nested, &format!("{path}[]"), found);
    }
}

#[test]
fn each_field_of_each_resource_has_a_description() {
    let mut undescribed = Vec::new();
    for resource in launcher_workshop::crds()["items"].as_array().unwrap() {
        let schema = resource.pointer("/spec/versions/0/schema/openAPIV3Schema").unwrap();
        assert!(schema["properties"]["spec"]["properties"].is_object(), "{resource}");
        add_undescribed(schema, resource["spec"]["names"]["kind"].as_str().unwrap(), &mut undescribed);
    }
    assert_eq!(undescribed, Vec::<String>::new());
}

#[test]
fn crash_in_status_is_observed_and_unknown_code_counts_as_crashed() {
    let crash = |code, files_lost| Crash { at: "2026-03-01T09:00:00Z".parse().unwrap(), code, files_lost };
    let written = WorkshopStatus::default()
        .after(&Report { last_crash: Some(crash(FailureCode::OutOfMemory, true)), ..Report::default() });
    let stored = serde_json::to_value(&written).unwrap();
    assert_eq!(
        stored["lastCrash"],
        json!({ "at": "2026-03-01T09:00:00Z", "reason": "out-of-memory", "filesLost": true })
    );
    for (status, expected) in [
        (stored, Some(crash(FailureCode::OutOfMemory, true))),
        (
            json!({ "lastCrash": { "at": "2026-03-01T09:00:00Z", "reason": "of-a-newer-version" } }),
            Some(crash(FailureCode::Crashed, false)),
        ),
        (json!({}), None),
    ] {
        let status: WorkshopStatus = serde_json::from_value(status).unwrap();
        assert_eq!(status.observation().report.last_crash, expected);
    }
}

#[test]
fn failure_in_status_is_observed_with_its_texts_and_unknown_code_counts_as_crashed() {
    let observed = |status: Value| {
        let status: WorkshopStatus = serde_json::from_value(status).unwrap();
        status.observation().phase
    };
    let standard = FailureReason::new(FailureCode::StartTimeout, None);
    let own = standard.clone().with_detail(&FailureDetail::AppDoesNotAnswer).with_remedy(&FailureRemedy::ListenOnPort);
    let own = FailureReason { retryable: !standard.retryable, ..own };
    for reason in [standard, own] {
        let stored = serde_json::to_value(WorkshopStatus::failed(reason.clone(), None)).unwrap();
        assert_eq!(observed(stored), ObservedPhase::Failed(reason));
    }
    let newer = json!({ "phase": "Failed", "reason": "of-a-newer-version", "message": "Why." });
    let crashed = FailureReason { message: "Why.".to_owned(), ..FailureReason::new(FailureCode::Crashed, None) };
    assert_eq!(observed(newer), ObservedPhase::Failed(crashed));
}

#[test]
fn report_about_material_is_observed_and_unknown_outcome_counts_as_failed() {
    let source = SourceReport {
        outcome: MaterialOutcome::Updated,
        version: Some("0123abcd".to_owned()),
        conflicts: vec!["a.ipynb".to_owned()],
        conflict_count: 1,
        message: None,
        ..SourceReport::failed("stats", "")
    };
    let report = MaterialReport { sources: vec![source] };
    let written = WorkshopStatus::default().after(&Report { material: Some(report.clone()), ..Report::default() });
    let stored = serde_json::to_value(&written).unwrap();
    assert_eq!(
        stored["material"],
        json!({ "sources": [{ "target": "stats", "outcome": "updated", "version": "0123abcd",
            "conflicts": ["a.ipynb"], "conflictCount": 1 }] })
    );
    let of_newer_version =
        json!({ "material": { "sources": [{ "target": "a", "outcome": "new", "message": "Why." }] } });
    let failed = MaterialReport { sources: vec![SourceReport::failed("a", "Why.")] };
    for (status, expected) in [(stored, Some(report)), (of_newer_version, Some(failed)), (json!({}), None)] {
        let status: WorkshopStatus = serde_json::from_value(status).unwrap();
        assert_eq!(status.observation().report.material, expected);
    }
}

#[test]
fn material_of_spec_is_validated_and_configures_the_program() {
    let spec = |material: &Value| {
        let mut spec = serde_json::to_value(spec_with("1")).unwrap();
        spec["material"] = material.clone();
        serde_json::from_value::<WorkshopSpec>(spec).unwrap()
    };
    let source = || json!({ "kind": "git", "url": "https://git.example.org/a.git", "ref": "main", "target": "a" });
    let material = spec(&json!({ "directory": "/home/jovyan", "sources": [source()] }));
    let valid = ValidSpec::parse(&material).unwrap().material.clone().unwrap();
    let config = serde_json::to_value(valid.config(60, Some("/dev/termination-log"), "/secrets")).unwrap();
    assert_eq!(
        config,
        json!({ "directory": "/home/jovyan", "sources": [source()], "deadline_seconds": 60,
            "report": "/dev/termination-log" })
    );
    let mut private = source();
    private["secret"] = json!("statistics");
    let sources = json!({ "directory": "/home/jovyan", "sources": [private] });
    let valid_private = ValidSpec::parse(&spec(&sources)).unwrap().material.clone().unwrap();
    assert_eq!(serde_json::to_value(&valid_private).unwrap(), sources);
    assert_eq!(valid_private.secrets().into_iter().collect::<Vec<_>>(), ["statistics"]);
    let config = serde_json::to_value(valid_private.config(60, None, "/secrets")).unwrap();
    assert_eq!((&config["secrets"], &config["sources"][0]), (&json!("/secrets"), &private));
    assert_eq!(valid.failed("Why."), MaterialReport { sources: vec![SourceReport::failed("a", "Why.")] });
    for invalid in [
        json!({ "directory": "/etc", "sources": [source()] }),
        json!({ "directory": "/work", "sources": [] }),
        json!({ "directory": "/work", "sources": [source(), source()] }),
        json!({ "directory": "/work", "sources": [{ "kind": "svn", "url": "https://a.example/", "target": "a" }] }),
        json!({ "directory": "/work", "sources": [{ "kind": "git", "url": "file:///etc", "target": "a" }] }),
        json!({ "directory": "/work", "sources": [{ "kind": "git", "url": "https://a.example/", "target": "../a" }] }),
        json!({ "directory": "/work", "sources": [{ "kind": "git", "url": "http://a.example/", "secret": "a", "target": "a" }] }),
        json!({ "directory": "/work", "sources": [{ "kind": "git", "url": "https://a.example/", "secret": "../a", "target": "a" }] }),
    ] {
        let reason = ValidSpec::parse(&spec(&invalid)).unwrap_err();
        assert_eq!(reason.message_codes.last().unwrap().code, "spec-material", "{invalid}");
    }
    let mut other_directory = material;
    other_directory.storage =
        Some(WorkshopStorage { volume: "work-a".to_owned(), size: "1Gi".to_owned(), path: "/data".to_owned() });
    assert_eq!(ValidSpec::parse(&other_directory).unwrap_err().message_codes.last().unwrap().code, "spec-material");
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
    assert_eq!(schema["appType"]["enum"], json!(["rstudio", "notebook", "custom"]));
    assert_eq!(schema["securityProfile"]["enum"], json!(["restricted", "baseline"]));
}

#[test]
fn crd_merges_conditions_by_type() {
    let crd = serde_json::to_value(launcher_workshop::crd()).unwrap();
    let status = crd.pointer("/spec/versions/0/schema/openAPIV3Schema/properties/status/properties").unwrap();
    assert_eq!(status["conditions"]["x-kubernetes-list-type"], "map");
    assert_eq!(status["conditions"]["x-kubernetes-list-map-keys"], json!(["type"]));
}

/// Returns a spec whose pod template has this JSON text as a value.
fn spec_with(value: &str) -> WorkshopSpec {
    let value: Value = serde_json::from_str(value).unwrap();
    serde_json::from_value(json!({
        "owner": "alice@example.org", "image": "app:1", "appType": "custom", "port": 8888, "lifetimeSeconds": 60,
        "resources": { "cpuRequest": "1", "cpuLimit": "1", "memoryRequest": "1Gi", "memoryLimit": "1Gi" },
        "securityProfile": "restricted",
        "podTemplate": { "spec": { "volumes": [{ "name": "shm", "emptyDir": { "sizeLimit": value } }] } },
    }))
    .unwrap()
}

#[test]
fn specs_are_equivalent_if_only_the_notation_of_numbers_differs() {
    for (ours, of_api_server, are_equivalent) in [
        ("1.0", "1", true),
        ("1e3", "1000", true),
        ("-0.0", "0", true),
        ("1.5", "1.5", true),
        ("1e21", "1e+21", true),
        // The API server writes the shortest digits of a float, and has no unsigned integers.
        ("4611686018427387904.0", "4611686018427388000", true),
        ("18446744073709551615", "18446744073709552000", true),
        ("1.0", "2", false),
        ("1", "1.5", false),
        ("1", "\"1\"", false),
        ("0", "false", false),
        ("0", "null", false),
    ] {
        let (ours, theirs) = (spec_with(ours), spec_with(of_api_server));
        assert_eq!(ours.is_equivalent(&theirs), are_equivalent, "{ours:?} {theirs:?}");
        assert_eq!(theirs.is_equivalent(&ours), are_equivalent, "{ours:?} {theirs:?}");
    }
    let other = WorkshopSpec { port: 8889, ..spec_with("1.0") };
    assert!(!spec_with("1").is_equivalent(&other));
}
