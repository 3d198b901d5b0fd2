//! Tests of Workshops whose files the launcher saves at their end: the container that sends the files, its address in the
//! status, and the later end.

use std::slice;

use launcher_operator::OperatorSettings;
use launcher_operator::build::{Manifests, build};
use launcher_operator::validate::validate;
use launcher_workshop::{Workshop, WorkshopSnapshot};
use serde_json::{Value, json};

use crate::cluster::{Cluster, statuses, with_children};
use crate::crash_safe::with_directory;
use crate::storage::with_storage;
use crate::support::{at, built, pod_object, running, settings, workshop};

const DIGEST: &str = "3c469e9d6c5875d37a43f353d4f88e61fcf812c66eee3457465a40b0da4153e0";

/// Adds a snapshot of the crash-safe directory.
pub(crate) fn with_snapshot(workshop: &mut Workshop) {
    with_directory(workshop);
    let directory = workshop.spec.crash_safe_directory.clone();
    workshop.spec.snapshot = Some(WorkshopSnapshot { directory, token_sha256: DIGEST.to_owned(), grace_seconds: 90 });
}

fn manifests(settings: &OperatorSettings, change: impl FnOnce(&mut Workshop)) -> Manifests {
    let workshop = workshop(|workshop| {
        with_snapshot(workshop);
        change(workshop);
    });
    build(&validate(&workshop).unwrap(), settings)
}

/// Returns the names of the containers, and the third one.
fn containers(settings: &OperatorSettings, change: impl FnOnce(&mut Workshop)) -> (Vec<String>, Value) {
    let pod = serde_json::to_value(manifests(settings, change).pod).unwrap();
    let containers = &pod["spec"]["containers"];
    let names = containers.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned());
    (names.collect(), containers[2].clone())
}

#[test]
fn container_reads_only_the_directory_and_has_the_security_of_restricted() {
    let (names, container) = containers(&settings(), |_| {});
    assert_eq!(names, ["app", "sidecar", "snapshot-archive"]);
    assert_eq!(container["image"], "registry.example.org/sidecar:1");
    assert_eq!(container["args"], json!(["archive"]));
    let variable = |name: &str, value: &str| json!({ "name": name, "value": value });
    let env = json!([
        variable("SERVICE_ARCHIVE_DIRECTORY", "/crash-safe-files"),
        variable("SERVICE_ARCHIVE_TOKEN_SHA256", DIGEST),
        variable("SERVICE_ARCHIVE_WAIT", "0"),
        variable("SERVICE_LISTEN_ADDR", "0.0.0.0:8082"),
    ]);
    assert_eq!(container["env"], env);
    let mount = json!({ "name": "crash-safe-files", "mountPath": "/crash-safe-files", "readOnly": true });
    assert_eq!(container["volumeMounts"], json!([mount]));
    let security = json!({
        "allowPrivilegeEscalation": false, "capabilities": { "drop": ["ALL"] }, "privileged": false,
        "readOnlyRootFilesystem": true, "runAsNonRoot": true, "runAsUser": 1000,
    });
    assert_eq!(container["securityContext"], security);
    let limits = json!({ "cpu": "1", "memory": "64Mi" });
    assert_eq!(container["resources"], json!({ "requests": { "cpu": "5m", "memory": "16Mi" }, "limits": limits }));
    // A probe could make the app unreachable.
    for absent in ["readinessProbe", "livenessProbe", "startupProbe", "lifecycle"] {
        assert_eq!(container[absent], Value::Null, "{absent}");
    }
}

#[test]
fn container_has_the_user_of_restricted_apps_unless_the_cluster_assigns_it() {
    for (user, profile) in [(Some(1001), "restricted"), (Some(1001), "baseline"), (None, "restricted")] {
        let settings = OperatorSettings { run_as_user: user, ..settings() };
        let (_, container) = containers(&settings, |workshop| profile.clone_into(&mut workshop.spec.security_profile));
        assert_eq!(container["securityContext"]["runAsUser"], json!(user), "{profile}");
    }
}

#[test]
fn port_is_not_the_one_of_the_app() {
    for (app, expected) in [(8888, 8082), (8083, 8082), (8082, 8083)] {
        let (_, container) = containers(&settings(), |workshop| workshop.spec.port = app);
        assert_eq!(container["ports"], json!([{ "containerPort": expected, "protocol": "TCP" }]));
        let address = &container["env"][3]["value"];
        assert_eq!(*address, format!("0.0.0.0:{expected}"));
    }
}

#[test]
fn pod_without_the_directory_has_no_such_container() {
    let pod = |settings: &OperatorSettings, change: fn(&mut Workshop), has_snapshot: bool| {
        let built = manifests(settings, |workshop| {
            change(workshop);
            if !has_snapshot {
                workshop.spec.snapshot = None;
            }
        });
        built.pod.spec
    };
    let without = OperatorSettings { material_image: None, ..settings() };
    assert_eq!(pod(&without, |_| {}, true), pod(&without, |_| {}, false));
    for change in [|workshop: &mut Workshop| workshop.spec.crash_safe_directory = None, with_storage] {
        assert_eq!(pod(&settings(), change, true), pod(&settings(), change, false));
    }
}

#[test]
fn pod_template_does_not_replace_the_container() {
    let template = json!({ "spec": { "initContainers": [{ "name": "snapshot-archive", "image": "busybox" }] } });
    let wrong = workshop(|workshop| {
        with_snapshot(workshop);
        workshop.spec.pod_template = template.as_object().cloned();
    });
    assert!(validate(&wrong).unwrap_err().message.contains("snapshot-archive"));
    let other = json!({ "spec": { "initContainers": [{ "name": "archive", "image": "busybox" }] } });
    let (names, _) = containers(&settings(), |workshop| workshop.spec.pod_template = other.as_object().cloned());
    assert_eq!(names, ["app", "sidecar", "snapshot-archive"]);
}

#[test]
fn invalid_directory_is_refused() {
    for path in ["relative", "/", "/etc", "/home/../etc"] {
        let wrong = workshop(|workshop| {
            with_snapshot(workshop);
            workshop.spec.snapshot.as_mut().unwrap().directory = Some(path.to_owned());
        });
        assert!(validate(&wrong).unwrap_err().message.contains("spec.snapshot.directory"), "{path}");
    }
}

/// The Workshop with its snapshot, ready at 12:00, and its expiry at 13:00.
fn with_planned() -> Value {
    let spec = serde_json::to_value(workshop(with_snapshot).spec).unwrap();
    let mut workshop = running();
    for field in ["crashSafeDirectory", "snapshot"] {
        workshop["spec"][field] = spec[field].clone();
    }
    workshop
}

fn container(name: &str, state: Value, last: Value) -> Value {
    json!({ "name": name, "image": "i", "imageID": "", "ready": true, "restartCount": 0, "state": state, "lastState": last })
}

/// A cluster with the Workshop, and its pod with this readiness and these containers beside the app.
fn cluster(workshop: &Value, is_ready: bool, beside: &[Value]) -> Cluster {
    let containers = [&[container("app", json!({ "running": {} }), Value::Null)], beside].concat();
    let ready = if is_ready { "True" } else { "False" };
    let pod = pod_object(&json!({
        "phase": "Running", "podIP": "10.1.2.3", "conditions": [{ "type": "Ready", "status": ready }],
        "containerStatuses": containers,
    }));
    with_children(workshop).listed("workshops", workshop).by_now(workshop).relisted("pods", &pod)
}

fn sends_files() -> Value {
    container("snapshot-archive", json!({ "running": {} }), Value::Null)
}

#[tokio::test(start_paused = true)]
async fn status_of_a_running_workshop_has_the_address_in_the_write_of_its_phase() {
    let mut workshop = with_planned();
    workshop["status"] = Value::Null;
    for (port, address) in [(8888, "10.1.2.3:8082"), (8082, "10.1.2.3:8083")] {
        workshop["spec"]["port"] = port.into();
        let calls = cluster(&workshop, true, &[sends_files()]).run_operator(at("12:30:00")).await;
        let first = statuses(&calls).next().unwrap();
        assert_eq!((&first["phase"], &first["archiveAddress"]), (&json!("Running"), &json!(address)));
    }
}

#[tokio::test(start_paused = true)]
async fn status_has_no_address_without_the_container_or_before_the_workshop_runs() {
    let calls = cluster(&with_planned(), true, &[]).run_operator(at("12:30:00")).await;
    let status = statuses(&calls).last().unwrap();
    assert_eq!((&status["phase"], &status["archiveAddress"]), (&json!("Running"), &Value::Null));
    let calls = cluster(&with_planned(), false, &[sends_files()]).run_operator(at("12:30:00")).await;
    let status = statuses(&calls).last().unwrap();
    assert_eq!((&status["phase"], &status["archiveAddress"]), (&json!("Starting"), &Value::Null));
}

#[tokio::test(start_paused = true)]
async fn crashes_of_the_container_are_none_of_the_app() {
    let ended =
        json!({ "terminated": { "exitCode": 137, "reason": "OOMKilled", "finishedAt": "2026-01-01T12:20:00Z" } });
    let waiting = json!({ "waiting": { "reason": "CrashLoopBackOff" } });
    let crashed = container("snapshot-archive", waiting, ended);
    for is_ready in [true, false] {
        let workshop = with_planned();
        let calls = cluster(&workshop, is_ready, slice::from_ref(&crashed)).run_operator(at("12:30:00")).await;
        let status = statuses(&calls).last().unwrap();
        assert_eq!(status["phase"], if is_ready { "Running" } else { "Starting" });
        assert_eq!(status["lastCrash"], Value::Null);
    }
}

#[tokio::test(start_paused = true)]
async fn workshop_with_a_snapshot_ends_after_the_time_to_save_its_files() {
    let phases = async |from: &str, workshop: &Value| {
        let calls = cluster(workshop, true, &[sends_files()]).run_operator(at(from)).await;
        let written: Vec<_> = statuses(&calls).cloned().collect();
        written.last().map(|status| (status["phase"].as_str().unwrap().to_owned(), status["expiresAt"].clone()))
    };
    let workshop = with_planned();
    // The operator runs for two minutes: until 13:01:29, and until 13:01:31.
    let (phase, expires_at) = phases("12:59:29", &workshop).await.unwrap();
    assert_eq!((phase.as_str(), &expires_at), ("Running", &json!("2026-01-01T13:00:00Z")), "the expiry stays");
    assert_eq!(phases("12:59:31", &workshop).await.unwrap().0, "Expired");
    // Without a snapshot.
    assert_eq!(phases("12:58:31", &running()).await.unwrap().0, "Expired");
}

#[test]
fn expiry_in_the_pod_is_the_one_without_the_time_to_save_the_files() {
    let noted = |change: fn(&mut Workshop)| {
        let pod = built(|workshop| {
            change(workshop);
            workshop.spec.expires_at = Some(at("15:00:00"));
        });
        pod.pod.metadata.annotations.unwrap()["workshoplauncher.dev/expires-at"].clone()
    };
    assert_eq!(noted(with_snapshot), "2026-01-01T15:00:00Z");
    assert_eq!(noted(with_snapshot), noted(|_| {}));
}
