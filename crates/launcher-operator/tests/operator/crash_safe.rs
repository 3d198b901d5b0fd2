//! Tests of the directory whose files outlive a crash of the app: its volume, the init containers that fill it, and the
//! reaction to a crash.

use launcher_operator::OperatorSettings;
use launcher_operator::build::{SPEC_DIGEST, build};
use launcher_operator::validate::validate;
use launcher_workshop::Workshop;
use serde_json::{Value, json};

use crate::cluster::{Cluster, statuses, with_children};
use crate::material::with_material;
use crate::storage::with_storage;
use crate::support::{at, pod_object, running, settings, workshop};

const CRASHES: &str = "workshoplauncher.dev/crashes";
const LAST_CRASH: &str = "workshoplauncher.dev/last-crash";
const HOME: &str = "/home/jovyan";

pub(crate) fn with_directory(workshop: &mut Workshop) {
    workshop.spec.crash_safe_directory = Some(HOME.to_owned());
}

/// Builds the pod of a Workshop with the directory.
fn pod(settings: &OperatorSettings, change: impl FnOnce(&mut Workshop)) -> Value {
    let workshop = workshop(|workshop| {
        with_directory(workshop);
        change(workshop);
    });
    serde_json::to_value(build(&validate(&workshop).unwrap(), settings).pod).unwrap()
}

/// Returns the container with this name.
fn container<'a>(pod: &'a Value, name: &str) -> &'a Value {
    let lists = ["initContainers", "containers"].map(|list| pod["spec"][list].as_array());
    lists.into_iter().flatten().flatten().find(|one| one["name"] == name).unwrap()
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().map(|one| one["name"].as_str().unwrap()).collect()
}

fn mount(name: &str, path: &str) -> Value {
    json!({ "name": name, "mountPath": path })
}

#[test]
fn volume_has_the_files_of_the_image_before_the_app_starts() {
    let settings = OperatorSettings { wait_for_isolation: true, ..settings() };
    let pod = pod(&settings, with_material);
    let expected = ["isolation", "copy-program", "image-files", "course-material"];
    assert_eq!(names(&pod["spec"]["initContainers"]), expected);

    let (files, program) = (mount("crash-safe-files", HOME), mount("copy-program", "/launcher-program"));
    let first = container(&pod, "copy-program");
    assert_eq!(first["image"], "registry.example.org/material:1");
    assert_eq!(first["command"], json!(["/launcher-material", "install", "/launcher-program/launcher-material"]));
    assert_eq!(first["volumeMounts"], json!([program]));

    let second = container(&pod, "image-files");
    let words = ["/launcher-program/launcher-material", "copy", HOME, "/launcher-files", "/launcher-program/copied"];
    let bytes = (20_u64 << 30).to_string();
    assert_eq!(second["command"], json!([&words[..], &[bytes.as_str()]].concat()));
    assert_eq!(second["image"], container(&pod, "app")["image"]);
    assert_eq!(second["volumeMounts"], json!([program, mount("crash-safe-files", "/launcher-files")]));

    assert_eq!(container(&pod, "app")["volumeMounts"], json!([files]));
    let temporary = json!({ "name": "course-material", "mountPath": "/tmp", "subPath": ".tmp" });
    assert_eq!(container(&pod, "course-material")["volumeMounts"], json!([files, temporary]));
    assert_eq!(container(&pod, "sidecar")["volumeMounts"].as_array().unwrap().len(), 1);

    let empty = |name: &str, size: &str| json!({ "name": name, "emptyDir": { "sizeLimit": size } });
    let volumes = &pod["spec"]["volumes"].as_array().unwrap()[1..];
    assert_eq!(
        volumes,
        [empty("crash-safe-files", "20Gi"), empty("copy-program", "64Mi"), empty("course-material", "20Gi")]
    );
}

#[test]
fn files_are_copied_by_the_user_of_the_app_without_more_resources() {
    for profile in ["restricted", "baseline"] {
        let pod = pod(&settings(), |workshop| profile.clone_into(&mut workshop.spec.security_profile));
        let app = container(&pod, "app");
        assert_eq!(container(&pod, "image-files")["securityContext"], app["securityContext"], "{profile}");
        let first = &container(&pod, "copy-program")["securityContext"];
        assert_eq!((&first["runAsUser"], &first["readOnlyRootFilesystem"]), (&json!(65532), &json!(true)));
        for name in ["copy-program", "image-files"] {
            assert_eq!(container(&pod, name)["resources"], container(&pod, "sidecar")["resources"], "{name}");
            assert_eq!(container(&pod, name)["env"], Value::Null, "{name} needs no variables of the template");
        }
    }
}

#[test]
fn path_is_no_reference_to_a_variable() {
    let pod = pod(&settings(), |workshop| workshop.spec.crash_safe_directory = Some("/data/$(PORT)".to_owned()));
    assert_eq!(container(&pod, "image-files")["command"][2], "/data/$$(PORT)");
}

#[test]
fn pod_without_program_or_with_storage_has_no_such_volume() {
    let without = OperatorSettings { material_image: None, ..settings() };
    for pod in [pod(&without, |_| {}), pod(&settings(), with_storage)] {
        assert!(!pod.to_string().contains("crash-safe-files"), "{pod}");
        assert_eq!(pod["metadata"]["annotations"][CRASHES], Value::Null);
    }
}

#[test]
fn pod_template_replaces_neither_volume_nor_init_container() {
    let template = json!({ "spec": {
        "volumes": [{ "name": "shm", "emptyDir": {} }],
        "containers": [{ "name": "app", "volumeMounts": [
            { "name": "shm", "mountPath": "/home/jovyan/" }, { "name": "shm", "mountPath": "/home/jovyan/shm" },
        ] }],
        "initContainers": [{ "name": "fetch", "image": "busybox" }],
    } });
    let pod = pod(&settings(), |workshop| workshop.spec.pod_template = template.as_object().cloned());
    assert_eq!(names(&pod["spec"]["initContainers"]), ["copy-program", "image-files", "fetch"]);
    let mounts = json!([mount("crash-safe-files", HOME), mount("shm", "/home/jovyan/shm")]);
    assert_eq!(container(&pod, "app")["volumeMounts"], mounts);
}

#[test]
fn digest_changes_with_the_directory_only() {
    let digest = |change: fn(&mut Workshop)| {
        let pod = build(&validate(&workshop(change)).unwrap(), &settings()).pod;
        pod.metadata.annotations.unwrap()[SPEC_DIGEST].clone()
    };
    let other = |workshop: &mut Workshop| workshop.spec.crash_safe_directory = Some("/data".to_owned());
    let digests = [digest(|_| {}), digest(with_directory), digest(other)];
    assert!(digests[0] != digests[1] && digests[1] != digests[2], "{digests:?}");
}

#[test]
fn invalid_directory_and_material_elsewhere_are_refused() {
    for path in ["relative", "/etc/x", "/a/../b", "/"] {
        let wrong = workshop(|workshop| workshop.spec.crash_safe_directory = Some(path.to_owned()));
        let message = validate(&wrong).unwrap_err().message;
        assert!(message.contains("spec.crashSafeDirectory needs the path of a directory"), "{path}: {message}");
    }
    let elsewhere = workshop(|workshop| {
        with_material(workshop);
        workshop.spec.crash_safe_directory = Some("/data".to_owned());
    });
    assert!(validate(&elsewhere).unwrap_err().message.contains("spec.material"));
}

#[test]
fn new_pod_records_which_files_outlive_a_crash() {
    let record = |change: fn(&mut Workshop)| {
        let pod = build(&validate(&workshop(change)).unwrap(), &settings()).pod;
        let annotations = pod.metadata.annotations.unwrap();
        assert_eq!(annotations[LAST_CRASH], "");
        annotations.get(CRASHES).map(|record| serde_json::from_str::<Value>(record).unwrap())
    };
    assert_eq!(record(|_| {}), None);
    assert_eq!(record(with_directory), Some(json!({ "number": 0, "times": [] })));
    assert_eq!(record(with_material), Some(json!({ "number": 0, "times": [], "files_lost": true })));
}

/// A running Workshop with the directory, and its pod with this record, whose app has ended and runs again.
fn crashed(reason: &str, restarts: u32, record: Option<Value>) -> Cluster {
    let mut workshop = running();
    workshop["spec"]["crashSafeDirectory"] = HOME.into();
    let ended = json!({ "terminated": {
        "exitCode": 1, "reason": reason, "startedAt": "2026-01-01T12:19:00Z", "finishedAt": "2026-01-01T12:20:00Z",
    } });
    let mut pod = pod_object(&json!({
        "phase": "Running",
        "conditions": [{ "type": "Ready", "status": "True" }],
        "containerStatuses": [{
            "name": "app", "image": "i", "imageID": "", "ready": true, "restartCount": restarts,
            "state": { "running": {} }, "lastState": ended,
        }],
    }));
    if let Some(record) = record {
        pod["metadata"]["annotations"] = json!({ CRASHES: record.to_string() });
    }
    with_children(&workshop).listed("workshops", &workshop).by_now(&workshop).relisted("pods", &pod)
}

#[tokio::test(start_paused = true)]
async fn app_starts_again_in_a_pod_whose_files_outlive_the_crash() {
    for (reason, code) in [("Error", "crashed"), ("OOMKilled", "out-of-memory")] {
        for files_lost in [false, true] {
            let mut record = json!({ "number": 0, "times": [] });
            if files_lost {
                record["files_lost"] = true.into();
            }
            let calls = crashed(reason, 1, Some(record)).run_operator(at("12:20:01")).await;
            let status = statuses(&calls).last().unwrap();
            assert_eq!(status["phase"], "Running");
            let crash = json!({ "at": "2026-01-01T12:20:00Z", "reason": code, "filesLost": files_lost });
            assert_eq!(status["lastCrash"], crash);
            let patches = calls.iter().filter(|(what, _)| what == "PATCH pods");
            let annotations: Vec<_> = patches.map(|(_, body)| &body["metadata"]["annotations"]).collect();
            let lost = if files_lost { " files-lost" } else { "" };
            let last_crash = format!("2026-01-01T12:20:00Z {code}{lost}");
            let noted = annotations.iter().find(|noted| !noted[CRASHES].is_null()).unwrap();
            assert_eq!(noted[LAST_CRASH], last_crash);
            let record: Value = serde_json::from_str(noted[CRASHES].as_str().unwrap()).unwrap();
            assert_eq!(record["files_lost"], if files_lost { json!(true) } else { Value::Null });
        }
    }
}

#[tokio::test(start_paused = true)]
async fn third_crash_fails_the_workshop() {
    let record = json!({ "number": 2, "times": ["2026-01-01T12:15:00Z", "2026-01-01T12:18:00Z"] });
    let calls = crashed("Error", 3, Some(record)).with_log(true, "log\n").run_operator(at("12:20:01")).await;
    let status = statuses(&calls).last().unwrap();
    assert_eq!((&status["phase"], &status["reason"]), (&json!("Failed"), &json!("crashed")));
}

#[tokio::test(start_paused = true)]
async fn out_of_memory_fails_a_workshop_whose_pod_lacks_the_volume() {
    // An operator without the image of the program created the pod.
    let calls = crashed("OOMKilled", 1, None).with_log(true, "log\n").run_operator(at("12:20:01")).await;
    let status = statuses(&calls).last().unwrap();
    assert_eq!((&status["phase"], &status["reason"]), (&json!("Failed"), &json!("out-of-memory")));
}

#[tokio::test(start_paused = true)]
async fn start_step_is_the_pull_while_the_image_is_pulled_for_its_files() {
    let mut workshop = running();
    workshop["spec"]["crashSafeDirectory"] = HOME.into();
    workshop["status"] = Value::Null;
    let ended = json!({ "terminated": { "exitCode": 0, "reason": "Completed" } });
    let waiting = json!({ "waiting": { "reason": "PodInitializing" } });
    let status = |name: &str, state: &Value| json!({ "name": name, "image": "i", "imageID": "", "ready": false, "restartCount": 0, "state": state });
    for (first, second, step) in [
        (&waiting, &waiting, "preparing"),
        (&ended, &waiting, "pulling-image"),
        (&ended, &json!({ "running": {} }), "preparing"),
    ] {
        let pod = pod_object(&json!({
            "phase": "Pending",
            "initContainerStatuses": [status("copy-program", first), status("image-files", second)],
            "containerStatuses": [status("app", &waiting)],
        }));
        let cluster = with_children(&workshop).listed("workshops", &workshop).by_now(&workshop);
        let calls = cluster.relisted("pods", &pod).run_operator(at("12:00:05")).await;
        assert_eq!(statuses(&calls).last().unwrap()["startStep"], step);
    }
}
