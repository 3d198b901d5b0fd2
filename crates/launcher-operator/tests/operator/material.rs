//! Tests of course material: the init container that places it, its parts of the pod, and its report in the status.

use std::time::Duration;

use launcher_operator::OperatorSettings;
use launcher_operator::build::{SPEC_DIGEST, build};
use launcher_operator::validate::validate;
use launcher_workshop::{Workshop, WorkshopMaterial};
use serde_json::{Value, json};

use crate::cluster::{Call, Cluster, statuses, with_children, with_routes};
use crate::crash_safe::with_directory;
use crate::storage::with_storage;
use crate::support::{at, built, pod_object, running, settings, workshop};

/// The material of the tests: a repository and an archive.
fn material() -> Value {
    json!({ "directory": "/home/jovyan", "sources": [
        { "kind": "git", "url": "https://git.example.org/stats/101.git", "ref": "main", "target": "stats-101" },
        { "kind": "archive", "url": "https://example.org/$(PORT)/data.zip", "sha256": "ab".repeat(32), "target": "data" },
    ] })
}

pub(crate) fn with_material(workshop: &mut Workshop) {
    workshop.spec.material = Some(serde_json::from_value::<WorkshopMaterial>(material()).unwrap());
}

/// Builds the pod of a Workshop with material.
fn pod(settings: &OperatorSettings, change: impl FnOnce(&mut Workshop)) -> Value {
    let workshop = workshop(|workshop| {
        with_material(workshop);
        change(workshop);
    });
    serde_json::to_value(build(&validate(&workshop).unwrap(), settings).pod).unwrap()
}

fn init(pod: &Value) -> &Value {
    let containers = pod["spec"]["initContainers"].as_array().unwrap();
    containers.iter().find(|container| container["name"] == "course-material").unwrap()
}

fn app(pod: &Value) -> &Value {
    let containers = pod["spec"]["containers"].as_array().unwrap();
    containers.iter().find(|container| container["name"] == "app").unwrap()
}

fn variable<'a>(container: &'a Value, name: &str) -> &'a str {
    let variables = container["env"].as_array().unwrap();
    variables.iter().find(|variable| variable["name"] == name).unwrap()["value"].as_str().unwrap()
}

#[test]
fn init_container_gets_the_sources_and_reports_in_its_termination_message() {
    let pod = pod(&settings(), |_| {});
    let init = init(&pod);
    // Kubernetes reads `$$` as `$`, and expands no reference.
    let config: Value = serde_json::from_str(&variable(init, "WORKSHOP_MATERIAL").replace("$$", "$")).unwrap();
    assert_eq!((&config["directory"], &config["sources"]), (&material()["directory"], &material()["sources"]));
    assert_eq!((&config["deadline_seconds"], &config["report"]), (&json!(60), &json!("/dev/termination-log")));
    assert!(variable(init, "WORKSHOP_MATERIAL").contains("$$(PORT)"));
    assert_eq!(init["terminationMessagePath"], "/dev/termination-log");
    assert_eq!(init["terminationMessagePolicy"], "File");
    assert_eq!(
        (&init["image"], &init["imagePullPolicy"]),
        (&json!("registry.example.org/material:1"), &json!("IfNotPresent"))
    );
}

#[test]
fn short_start_timeout_shortens_the_deadline_of_the_material() {
    for (start_timeout, deadline) in [(600, 60), (40, 20), (1, 1)] {
        let settings = OperatorSettings { start_timeout: Duration::from_secs(start_timeout), ..settings() };
        let pod = pod(&settings, |_| {});
        let config: Value = serde_json::from_str(variable(init(&pod), "WORKSHOP_MATERIAL")).unwrap();
        assert_eq!(config["deadline_seconds"], deadline);
    }
}

#[test]
fn init_container_is_restricted_and_has_the_user_of_the_app() {
    for (profile, user) in [("restricted", Some(1000)), ("baseline", Some(1000)), ("restricted", None)] {
        let settings = OperatorSettings { run_as_user: user, ..settings() };
        let pod = pod(&settings, |workshop| profile.clone_into(&mut workshop.spec.security_profile));
        let mut expected = json!({
            "runAsNonRoot": true, "privileged": false, "allowPrivilegeEscalation": false,
            "capabilities": { "drop": ["ALL"] }, "readOnlyRootFilesystem": true,
        });
        user.into_iter().for_each(|user: i64| expected["runAsUser"] = user.into());
        assert_eq!(init(&pod)["securityContext"], expected, "{profile}");
        assert_eq!(pod["spec"]["securityContext"]["fsGroup"], json!(user), "{profile}");
    }
}

#[test]
fn init_container_increases_neither_requests_nor_limits_of_the_pod() {
    let pod = pod(&settings(), |_| {});
    let sidecar = &pod["spec"]["containers"][1];
    assert_eq!(sidecar["name"], "sidecar");
    assert_eq!(init(&pod)["resources"], sidecar["resources"], "the limits of the pod include those of the sidecar");
}

#[test]
fn material_is_loaded_after_the_network_is_isolated() {
    let settings = OperatorSettings { wait_for_isolation: Some(Duration::from_secs(9)), ..settings() };
    let pod = pod(&settings, |_| {});
    let names: Vec<_> = pod["spec"]["initContainers"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["isolation", "course-material"]);
}

#[test]
fn app_without_storage_gets_one_directory_of_the_volume_for_each_source() {
    let pod = pod(&settings(), |_| {});
    let volume = json!({ "name": "course-material", "emptyDir": { "sizeLimit": "20Gi" } });
    assert_eq!(pod["spec"]["volumes"][1], volume);
    let part = |path: &str, part: &str| json!({ "name": "course-material", "mountPath": path, "subPath": part });
    let files = json!({ "name": "course-material", "mountPath": "/home/jovyan" });
    assert_eq!(init(&pod)["volumeMounts"], json!([files, part("/tmp", ".tmp")]));
    let mounts = json!([part("/home/jovyan/stats-101", "stats-101"), part("/home/jovyan/data", "data")]);
    assert_eq!(app(&pod)["volumeMounts"], mounts);
    assert!(!pod["spec"]["containers"][1].to_string().contains("course-material"), "the sidecar has no material");
}

/// Makes both sources of the material private, with the same secret.
pub(crate) fn with_secret(workshop: &mut Workshop) {
    let sources = &mut workshop.spec.material.as_mut().unwrap().sources;
    for source in sources.iter_mut() {
        source.secret = Some("statistics".to_owned());
    }
}

/// Returns the names of the containers of a pod that mount a volume.
fn mounting(pod: &Value, volume: &str) -> Vec<String> {
    let containers =
        ["initContainers", "containers"].into_iter().flat_map(|field| pod["spec"][field].as_array().unwrap());
    let mounts = |container: &&Value| container["volumeMounts"].to_string().contains(&format!("\"{volume}\""));
    containers.filter(mounts).map(|container| container["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn only_the_init_container_of_the_material_mounts_the_secrets_and_gets_no_value() {
    let settings = OperatorSettings { wait_for_isolation: Some(Duration::from_secs(9)), ..settings() };
    let changes: [fn(&mut Workshop); 3] = [|_| {}, with_storage, with_directory];
    for change in changes {
        let pod = pod(&settings, |workshop| {
            change(workshop);
            with_secret(workshop);
        });
        assert_eq!(mounting(&pod, "course-material-secrets"), ["course-material"]);
        let folder = "/etc/workshop-launcher/material-secrets";
        let mount = json!({ "name": "course-material-secrets", "mountPath": folder, "readOnly": true });
        assert_eq!(init(&pod)["volumeMounts"][2], mount);
        let config: Value = serde_json::from_str(variable(init(&pod), "WORKSHOP_MATERIAL")).unwrap();
        assert_eq!((&config["secrets"], &config["sources"][0]["secret"]), (&json!(folder), &json!("statistics")));
        assert!(!pod["spec"].to_string().contains("secretKeyRef"), "no variable has a value of a Secret");
    }
}

#[test]
fn missing_secret_prevents_no_start_and_only_three_keys_reach_the_pod() {
    let pod = pod(&settings(), with_secret);
    let volumes = pod["spec"]["volumes"].as_array().unwrap();
    let volume = volumes.iter().find(|volume| volume["name"] == "course-material-secrets").unwrap();
    let item = |key: &str| json!({ "key": key, "path": format!("statistics/{key}") });
    let secret = json!({
        "name": "material-statistics", "optional": true, "items": [item("username"), item("password"), item("url")],
    });
    assert_eq!(volume["projected"], json!({ "defaultMode": 0o444, "sources": [{ "secret": secret }] }));
}

#[test]
fn public_material_and_an_operator_without_the_image_mount_no_secret() {
    let without_image = OperatorSettings { material_image: None, ..settings() };
    for pod in [pod(&settings(), |_| {}), pod(&without_image, with_secret)] {
        assert!(!pod["spec"].to_string().contains("material-secrets"), "{pod}");
    }
}

#[test]
fn secret_of_a_source_without_https_or_with_another_name_is_an_invalid_spec() {
    for (url, secret) in [("http://git.example.org/a.git", "statistics"), ("https://git.example.org/a.git", "../proxy")]
    {
        let workshop = workshop(|workshop| {
            with_material(workshop);
            let source = &mut workshop.spec.material.as_mut().unwrap().sources[0];
            (source.url, source.secret) = (url.to_owned(), Some(secret.to_owned()));
        });
        assert!(validate(&workshop).unwrap_err().message.contains("spec.material"), "{url} {secret}");
    }
}

#[test]
fn material_of_a_workshop_with_storage_is_on_the_volume_of_the_owner() {
    let pod = pod(&settings(), with_storage);
    let kept = json!({ "name": "kept-work", "mountPath": "/home/jovyan" });
    let temporary = json!({ "name": "course-material", "mountPath": "/tmp", "subPath": ".tmp" });
    assert_eq!(init(&pod)["volumeMounts"], json!([kept, temporary]));
    assert_eq!(variable(init(&pod), "TMPDIR"), "/tmp");
    let note = variable(init(&pod), "WORKSHOP_MATERIAL_ATTEMPT");
    assert!(note.starts_with("/tmp/"), "a note of a killed run in the volume of the owner would stop all later ones");
    assert_eq!(app(&pod)["volumeMounts"], json!([kept]));
}

#[test]
fn pod_template_adds_to_the_parts_of_the_material_and_replaces_none() {
    let template = json!({ "spec": {
        "volumes": [{ "name": "shm", "emptyDir": {} }],
        "containers": [{ "name": "app", "volumeMounts": [
            { "name": "shm", "mountPath": "/home/jovyan/data/" }, { "name": "shm", "mountPath": "/dev/shm" },
        ] }],
        "initContainers": [{ "name": "fetch", "image": "busybox" }],
        "securityContext": { "fsGroup": 100 },
    } });
    let plain = pod(&settings(), |_| {});
    let merged = pod(&settings(), |workshop| workshop.spec.pod_template = template.as_object().cloned());
    assert_eq!(init(&merged), init(&plain));
    assert_eq!(merged["spec"]["initContainers"][1]["name"], "fetch", "it sees the material, as the app does");
    let mounts = app(&merged)["volumeMounts"].as_array().unwrap();
    let paths: Vec<_> = mounts.iter().map(|mount| &mount["mountPath"]).collect();
    assert_eq!(paths, ["/home/jovyan/stats-101", "/home/jovyan/data", "/dev/shm"]);
    assert_eq!(merged["spec"]["securityContext"]["fsGroup"], 100);
}

#[test]
fn pod_template_cannot_use_the_names_of_the_material() {
    let templates = [
        json!({ "spec": { "initContainers": [{ "name": "course-material", "image": "busybox" }] } }),
        json!({ "spec": { "volumes": [{ "name": "course-material", "emptyDir": {} }] } }),
        json!({ "spec": { "volumes": [{ "name": "course-material-secrets", "emptyDir": {} }] } }),
    ];
    for template in templates {
        let workshop = workshop(|workshop| {
            with_material(workshop);
            workshop.spec.pod_template = template.as_object().cloned();
        });
        let message = validate(&workshop).unwrap_err().message;
        assert!(message.contains("course-material") && message.contains("is reserved for the launcher"), "{message}");
    }
}

#[test]
fn workshop_without_material_or_without_the_image_has_no_trace_of_it_in_its_pod() {
    let without_image = OperatorSettings { material_image: None, ..settings() };
    let plain = serde_json::to_value(built(|_| {}).pod.spec).unwrap();
    assert!(!plain.to_string().contains("course-material"));
    assert_eq!(pod(&without_image, |_| {})["spec"], plain);
}

#[test]
fn material_is_part_of_the_spec_digest() {
    let digest = |change: fn(&mut Workshop)| built(change).pod.metadata.annotations.unwrap()[SPEC_DIGEST].clone();
    let other: fn(&mut Workshop) = |workshop| {
        with_material(workshop);
        workshop.spec.material.as_mut().unwrap().sources[0].reference = Some("v2".to_owned());
    };
    let digests = [digest(|_| {}), digest(with_material), digest(other)];
    assert!(digests[0] != digests[1] && digests[1] != digests[2], "{digests:?}");
}

/// A new Workshop with material.
fn new_workshop() -> Value {
    let mut workshop = running();
    workshop["spec"]["material"] = material();
    workshop["spec"]["expiresAt"] = Value::Null;
    workshop["status"] = Value::Null;
    workshop
}

/// A pod whose init container is in this state, and whose app waits for it, or runs and is ready.
fn pod_with(state: &Value, last: &Value, is_ready: bool) -> Value {
    let status = |name: &str, state: &Value, last: &Value| {
        json!({
            "name": name, "image": "i", "imageID": "", "ready": false, "restartCount": i32::from(!last.is_null()),
            "state": state, "lastState": last,
        })
    };
    let ready = if is_ready { "True" } else { "False" };
    let app = if is_ready { json!({ "running": {} }) } else { json!({ "waiting": { "reason": "PodInitializing" } }) };
    pod_object(&json!({
        "phase": if is_ready { "Running" } else { "Pending" },
        "conditions": [
            { "type": "PodReadyToStartContainers", "status": "True" }, { "type": "Ready", "status": ready },
        ],
        "initContainerStatuses": [status("course-material", state, last)],
        "containerStatuses": [status("app", &app, &Value::Null)],
    }))
}

fn ended(exit_code: i32, message: &str) -> Value {
    json!({ "terminated": { "exitCode": exit_code, "reason": "Completed", "message": message } })
}

fn cluster(workshop: &Value, pod: &Value) -> Cluster {
    with_children(workshop).listed("workshops", workshop).by_now(workshop).relisted("pods", pod)
}

fn last(calls: &[Call]) -> Value {
    statuses(calls).last().unwrap().clone()
}

async fn status_with(workshop: &Value, pod: &Value) -> Value {
    last(&cluster(workshop, pod).run_operator(at("12:00:05")).await)
}

#[tokio::test(start_paused = true)]
async fn report_of_the_init_container_is_in_the_status() {
    let report = json!({ "sources": [
        { "target": "stats-101", "outcome": "updated", "version": "0123abc", "conflicts": ["week1/a.ipynb"],
          "conflict_count": 12, "message": null },
        { "target": "data", "outcome": "failed", "version": null, "conflicts": [], "conflict_count": 0,
          "message": "The server does not answer." },
    ] });
    let status = status_with(&new_workshop(), &pod_with(&ended(0, &format!("{report}\n")), &Value::Null, true)).await;
    assert_eq!(status["phase"], "Running");
    let expected = json!({ "sources": [
        { "target": "stats-101", "outcome": "updated", "version": "0123abc", "conflicts": ["week1/a.ipynb"],
          "conflictCount": 12 },
        { "target": "data", "outcome": "failed", "conflictCount": 0, "message": "The server does not answer." },
    ] });
    assert_eq!(status["material"], expected);
}

#[tokio::test(start_paused = true)]
async fn hostile_report_is_bounded_and_names_only_targets_of_the_workshop() {
    let long = "\u{202e}".repeat(700);
    let of = |target: &str| {
        json!({
            "target": target, "outcome": "placed", "version": "1", "conflicts": [long], "conflict_count": 1,
        })
    };
    let report = json!({ "sources": [of("data"), of("other")] }).to_string();
    assert!(report.len() < 4500, "{}", report.len());
    let status = status_with(&new_workshop(), &pod_with(&ended(0, &report), &Value::Null, true)).await;
    let sources = status["material"]["sources"].as_array().unwrap();
    assert!(sources.iter().all(|source| source["target"] != "other"), "{sources:?}");
    assert!(!status.to_string().contains('\u{202e}'), "{status}");
    assert!(status.to_string().len() < 8000, "{status}");
}

#[tokio::test(start_paused = true)]
async fn unreadable_report_is_a_failure_of_all_sources_and_not_of_the_workshop() {
    for message in ["", "panicked at", "{\"sources\": [{\"target\": \"../../etc\", \"outcome\": \"placed\"}]}"] {
        let status = status_with(&new_workshop(), &pod_with(&ended(0, message), &Value::Null, true)).await;
        assert_eq!(status["phase"], "Running");
        let sources = status["material"]["sources"].as_array().unwrap();
        let outcomes: Vec<_> = sources.iter().map(|one| (&one["target"], &one["outcome"])).collect();
        assert_eq!(outcomes, [(&json!("stats-101"), &json!("failed")), (&json!("data"), &json!("failed"))]);
    }
}

#[tokio::test(start_paused = true)]
async fn report_stays_in_the_status_of_a_workshop_whose_pod_has_none() {
    let mut workshop = new_workshop();
    let material = json!({ "sources": [{ "target": "data", "outcome": "placed", "conflictCount": 0 }] });
    workshop["status"] = json!({ "phase": "Starting", "material": material });
    for pod in [pod_with(&json!({ "running": {} }), &Value::Null, false), pod_object(&json!({}))] {
        assert_eq!(status_with(&workshop, &pod).await["material"], material);
    }
}

#[tokio::test(start_paused = true)]
async fn workshop_starts_without_material_if_the_operator_has_no_image() {
    let workshop = new_workshop();
    let settings = OperatorSettings { material_image: None, ..settings() };
    let ready = pod_object(&json!({ "conditions": [{ "type": "Ready", "status": "True" }] }));
    let calls = cluster(&workshop, &ready).with_settings(settings).run_operator(at("12:00:05")).await;
    let status = last(&calls);
    assert_eq!(status["phase"], "Running");
    for source in status["material"]["sources"].as_array().unwrap() {
        assert_eq!(source["outcome"], "failed");
        assert!(source["message"].as_str().unwrap().contains("SERVICE_MATERIAL_IMAGE"), "{source}");
    }
}

#[tokio::test(start_paused = true)]
async fn workshop_without_material_has_no_report() {
    let mut workshop = new_workshop();
    workshop["spec"]["material"] = Value::Null;
    let calls = with_routes(&workshop).listed("workshops", &workshop).by_now(&workshop);
    assert_eq!(last(&calls.run_operator(at("12:00:00")).await)["material"], Value::Null);
}

#[tokio::test(start_paused = true)]
async fn start_step_names_the_material_while_it_is_loaded_and_loaded_again_after_a_kill() {
    let killed = ended(137, "");
    let running = json!({ "running": {} });
    for (state, last) in [(&running, &Value::Null), (&killed, &Value::Null), (&running, &killed)] {
        let status = status_with(&new_workshop(), &pod_with(state, last, false)).await;
        assert_eq!((&status["phase"], &status["startStep"]), (&json!("Starting"), &json!("loading-material")));
        assert_eq!(status["material"], Value::Null, "no report yet");
    }
    let loaded = pod_with(&ended(0, "{\"sources\": []}"), &Value::Null, false);
    assert_eq!(status_with(&new_workshop(), &loaded).await["startStep"], "pulling-image");
}

#[tokio::test(start_paused = true)]
async fn program_that_cannot_run_at_all_is_an_explained_failure() {
    let waiting = json!({ "waiting": { "reason": "CrashLoopBackOff" } });
    let cluster = cluster(&new_workshop(), &pod_with(&waiting, &ended(2, ""), false)).with_log(true, "the log");
    let status = last(&cluster.run_operator(at("12:00:05")).await);
    assert_eq!((&status["phase"], &status["reason"]), (&json!("Failed"), &json!("crashed")));
    let message = status["message"].as_str().unwrap();
    assert!(
        message.contains("The init container course-material terminated repeatedly with exit code 2."),
        "{message}"
    );
}
