//! Tests that invalid Workshops are refused with a message that names the field.

use jiff::Timestamp;
use launcher_domain::FailureCode;
use launcher_operator::validate::{has_passed, validate};
use launcher_workshop::{Workshop, WorkshopStorage};
use serde_json::{Value, json};

use crate::support::{at, workshop};

/// A change that makes a Workshop invalid, and the field that the message must name.
type Wrong = (fn(&mut Workshop), &'static str);

fn pod_template(workshop: &mut Workshop, spec: Value) {
    workshop.spec.pod_template = json!({ "spec": spec }).as_object().cloned();
}

fn storage(workshop: &mut Workshop, volume: &str, size: &str, path: &str) {
    let [volume, size, path] = [volume, size, path].map(str::to_owned);
    workshop.spec.storage = Some(WorkshopStorage { volume, size, path });
}

#[test]
fn invalid_workshop_is_refused_with_its_field() {
    let wrong: &[Wrong] = &[
        (|workshop| workshop.metadata.name = Some("Not_A_Label".to_owned()), "metadata.name"),
        (|workshop| workshop.metadata.uid = None, "metadata.uid"),
        (|workshop| workshop.metadata.namespace = None, "metadata.namespace"),
        (|workshop| workshop.spec.owner.clear(), "spec.owner"),
        (|workshop| workshop.spec.owner = "alice@example.org,bob@example.org".to_owned(), "spec.owner"),
        (|workshop| workshop.spec.image.clear(), "spec.image"),
        (|workshop| workshop.spec.image = "an image".to_owned(), "spec.image"),
        (|workshop| workshop.spec.image = "a".repeat(256), "spec.image"),
        (|workshop| workshop.spec.image = "-flag".to_owned(), "spec.image"),
        (|workshop| workshop.spec.image = "app$(PORT)".to_owned(), "spec.image"),
        (|workshop| workshop.spec.app_type = "word".to_owned(), "spec.appType"),
        (|workshop| workshop.spec.port = 0, "spec.port"),
        (|workshop| workshop.spec.port = 8080, "spec.port"),
        (|workshop| workshop.spec.port = 8081, "spec.port"),
        (|workshop| workshop.spec.start_path = Some("//example.org".to_owned()), "spec.startPath"),
        (|workshop| workshop.spec.start_path = Some("vnc.html".to_owned()), "spec.startPath"),
        (|workshop| storage(workshop, "../a", "1Gi", "/home/jovyan"), "spec.storage"),
        (|workshop| storage(workshop, "work-a", "much", "/home/jovyan"), "spec.storage"),
        (|workshop| storage(workshop, "work-a", "1Gi", "/etc"), "spec.storage"),
        (|workshop| workshop.spec.security_profile = "privileged".to_owned(), "spec.securityProfile"),
        (|workshop| workshop.spec.lifetime_seconds = 0, "spec.lifetimeSeconds"),
        (|workshop| workshop.spec.resources.cpu_request = "lots".to_owned(), "spec.resources.cpuRequest"),
        (|workshop| workshop.spec.resources.memory_limit.clear(), "spec.resources.memoryLimit"),
        (|workshop| workshop.spec.resources.cpu_request = "3".to_owned(), "spec.resources.cpuRequest"),
        (|workshop| workshop.spec.resources.memory_request = "3Gi".to_owned(), "spec.resources.memoryRequest"),
        (|workshop| drop(workshop.spec.env.insert("SERVICE_OWNER_EMAIL".into(), "b@c".into())), "SERVICE_OWNER_EMAIL"),
        (|workshop| drop(workshop.spec.env.insert("DISABLE_AUTH".into(), "false".into())), "DISABLE_AUTH"),
        (|workshop| drop(workshop.spec.env.insert("1A".into(), "b".into())), "1A"),
        (|workshop| drop(workshop.spec.env.insert(String::new(), "b".into())), "spec.env"),
        (|workshop| drop(workshop.spec.env.insert("A-B".into(), "c".into())), "A-B"),
        (|workshop| drop(workshop.spec.env.insert("A=B".into(), "c".into())), "A=B"),
        (|workshop| pod_template(workshop, json!({ "hostNetwork": true })), "spec.podTemplate, at /spec/hostNetwork: "),
        (
            |workshop| pod_template(workshop, json!({ "volumes": [{ "name": "a", "hostPath": {} }] })),
            "spec.podTemplate, at /spec/volumes/0/hostPath: ",
        ),
        (
            |workshop| pod_template(workshop, json!({ "tolerations": [{ "key": 1 }] })),
            "spec.podTemplate, at /spec/tolerations/0/key: ",
        ),
    ];
    for (change, field) in wrong {
        let reason = validate(&workshop(change)).unwrap_err();
        assert_eq!(reason.code, FailureCode::InvalidSpec);
        assert!(reason.message.contains(field), "{field} is not in {}", reason.message);
    }
}

#[test]
fn workshop_at_the_limits_is_valid() {
    let right: &[fn(&mut Workshop)] = &[
        |workshop| workshop.spec.image = "a".repeat(255),
        |workshop| workshop.spec.image = "registry.example.org:5000/a_b/c-d:1.0@sha256:00+1".to_owned(),
        |workshop| workshop.spec.port = 1,
        |workshop| workshop.spec.port = 8079,
        |workshop| workshop.spec.port = 65535,
        |workshop| workshop.spec.lifetime_seconds = 1,
        |workshop| workshop.spec.resources.cpu_request = workshop.spec.resources.cpu_limit.clone(),
        |workshop| drop(workshop.spec.env.insert("_a1_B".into(), "$(PORT)".into())),
    ];
    for (index, change) in right.iter().enumerate() {
        assert_eq!(validate(&workshop(change)).err(), None, "change {index}");
    }
}

#[test]
fn owner_reference_keeps_the_workshop_until_its_resources_are_deleted() {
    let owner = validate(&workshop(|_| {})).unwrap().owner_reference;
    assert_eq!((owner.controller, owner.block_owner_deletion), (Some(true), Some(true)));
    assert_eq!(owner.uid, "0a1b2c3d-0000-4000-8000-000000000001");
}

#[test]
fn workshop_is_over_at_its_expiry_and_not_before() {
    assert!(!has_passed(None, Timestamp::MAX));
    assert!(!has_passed(Some(at("12:00:01")), at("12:00:00")));
    assert!(has_passed(Some(at("12:00:00")), at("12:00:00")));
}
