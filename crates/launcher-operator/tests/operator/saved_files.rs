//! Tests of Workshops that start with saved files: the init container that receives them, its address in the status, and the
//! failure without them.

use launcher_operator::OperatorSettings;
use launcher_operator::build::build;
use launcher_operator::validate::validate;
use launcher_workshop::{Workshop, WorkshopRestore};
use serde_json::{Value, json};

use crate::cluster::{Cluster, statuses, with_children};
use crate::material::with_material;
use crate::snapshot::with_snapshot;
use crate::storage::with_storage;
use crate::support::{at, pod_object, settings, workshop};

/// Adds saved files to a Workshop with a snapshot.
pub(crate) fn with_saved_files(workshop: &mut Workshop) {
    with_snapshot(workshop);
    let snapshot = "01890000-0000-7000-8000-000000000001".to_owned();
    workshop.spec.restore = Some(WorkshopRestore { snapshot, directory: Some("/home/jovyan".to_owned()) });
}

fn pod(settings: &OperatorSettings, change: impl FnOnce(&mut Workshop)) -> Value {
    let workshop = workshop(|workshop| {
        with_saved_files(workshop);
        change(workshop);
    });
    serde_json::to_value(build(&validate(&workshop).unwrap(), settings).pod).unwrap()
}

fn init<'a>(pod: &'a Value, name: &str) -> &'a Value {
    pod["spec"]["initContainers"].as_array().unwrap().iter().find(|one| one["name"] == name).unwrap()
}

#[test]
fn files_are_placed_after_those_of_the_image_and_before_the_course_material_by_the_user_of_the_app() {
    for profile in ["restricted", "baseline"] {
        let settings = OperatorSettings { wait_for_isolation: true, ..settings() };
        let pod = pod(&settings, |workshop| {
            with_material(workshop);
            profile.clone_into(&mut workshop.spec.security_profile);
        });
        let names: Vec<_> = pod["spec"]["initContainers"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
        assert_eq!(names, ["isolation", "copy-program", "image-files", "saved-files", "course-material"]);
        let (files, image) = (init(&pod, "saved-files"), init(&pod, "image-files"));
        for field in ["image", "securityContext", "volumeMounts", "resources", "workingDir"] {
            assert_eq!(files[field], image[field], "{profile} {field}");
        }
    }
}

#[test]
fn program_knows_only_the_digest_of_the_token() {
    let pod = pod(&settings(), |workshop| workshop.spec.port = 8082);
    let digest = "3c469e9d6c5875d37a43f353d4f88e61fcf812c66eee3457465a40b0da4153e0";
    let program = ["/launcher-program/launcher-material", "receive", "/launcher-files"];
    let rest = ["/launcher-program/saved-files-placed", "8083", digest, "/dev/termination-log"];
    let container = init(&pod, "saved-files");
    assert_eq!(container["command"], json!([&program[..], &rest[..]].concat()));
    assert_eq!(container["ports"], json!([{ "containerPort": 8083, "protocol": "TCP" }]), "not the port of the app");
    assert_eq!(container["env"], Value::Null);
}

#[test]
fn saved_files_need_a_directory_and_a_token() {
    for change in [
        |workshop: &mut Workshop| workshop.spec.snapshot = None,
        |workshop: &mut Workshop| workshop.spec.crash_safe_directory = None,
        with_storage,
    ] {
        let wrong = workshop(|workshop| {
            with_saved_files(workshop);
            change(workshop);
        });
        assert!(validate(&wrong).unwrap_err().message.contains("spec.restore needs"));
    }
}

/// A starting Workshop with saved files.
fn starting() -> Value {
    let mut workshop = serde_json::to_value(workshop(with_saved_files)).unwrap();
    workshop["metadata"]["resourceVersion"] = "5".into();
    workshop["metadata"]["generation"] = 1.into();
    workshop
}

/// A cluster with the Workshop, and its pod whose init container for saved files has this state.
fn cluster(state: &Value, last: &Value) -> Cluster {
    let status = |name: &str, state: &Value, last: &Value| {
        json!({
            "name": name, "image": "i", "imageID": "", "ready": false, "restartCount": i32::from(!last.is_null()),
            "state": state, "lastState": last,
        })
    };
    let waiting = json!({ "waiting": { "reason": "PodInitializing" } });
    let beside = ["app", "sidecar", "snapshot-archive"].map(|name| status(name, &waiting, &Value::Null));
    let pod = pod_object(&json!({
        "phase": "Pending", "podIP": "10.1.2.3", "conditions": [{ "type": "PodReadyToStartContainers", "status": "True" }],
        "initContainerStatuses": [status("saved-files", state, last)], "containerStatuses": beside,
    }));
    let workshop = starting();
    with_children(&workshop).listed("workshops", &workshop).by_now(&workshop).relisted("pods", &pod)
}

async fn status(cluster: Cluster) -> Value {
    statuses(&cluster.run_operator(at("12:00:30")).await).last().unwrap().clone()
}

#[tokio::test(start_paused = true)]
async fn status_has_the_address_while_the_program_waits() {
    let waits = status(cluster(&json!({ "running": {} }), &Value::Null)).await;
    let found = [&waits["phase"], &waits["startStep"], &waits["restoreAddress"], &waits["archiveAddress"]];
    assert_eq!(found, [&json!("Starting"), &json!("preparing"), &json!("10.1.2.3:8082"), &Value::Null]);
    for state in [json!({ "terminated": { "exitCode": 0 } }), json!({ "waiting": { "reason": "PodInitializing" } })] {
        let other = status(cluster(&state, &Value::Null)).await;
        assert_eq!((&other["phase"], &other["restoreAddress"]), (&json!("Starting"), &Value::Null), "{state}");
    }
}

#[tokio::test(start_paused = true)]
async fn files_that_cannot_be_placed_fail_the_workshop_with_the_reason_of_the_program() {
    let ended = json!({ "terminated": { "exitCode": 4, "message": "the saved files no longer exist\n" } });
    for (state, last) in [(ended.clone(), Value::Null), (json!({ "running": {} }), ended)] {
        let failed = status(cluster(&state, &last)).await;
        assert_eq!((&failed["phase"], &failed["reason"]), (&json!("Failed"), &json!("files-not-restored")));
        let message = failed["message"].as_str().unwrap();
        assert!(message.ends_with("The cause: the saved files no longer exist."), "{message}");
    }
}

#[tokio::test(start_paused = true)]
async fn workshop_fails_if_the_operator_has_no_program() {
    let without = OperatorSettings { material_image: None, ..settings() };
    let workshop = starting();
    let cluster = Cluster::default().listed("workshops", &workshop).by_now(&workshop).with_settings(without);
    let calls = cluster.run_operator(at("12:00:30")).await;
    let failed = statuses(&calls).last().unwrap();
    assert_eq!(failed["reason"], "files-not-restored");
    assert!(failed["message"].as_str().unwrap().contains("SERVICE_MATERIAL_IMAGE"), "{failed}");
    assert!(!calls.iter().any(|(request, _)| request.starts_with("POST pods")), "{calls:?}");
}
