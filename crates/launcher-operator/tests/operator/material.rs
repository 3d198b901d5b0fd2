//! Tests of course material: the init container that places it, and its parts of the pod.

use std::time::Duration;

use launcher_operator::OperatorSettings;
use launcher_operator::build::{SPEC_DIGEST, build};
use launcher_operator::validate::validate;
use launcher_workshop::{Workshop, WorkshopMaterial};
use serde_json::{Value, json};

use crate::crash_safe::with_directory;
use crate::storage::with_storage;
use crate::support::{built, settings, workshop};

/// The material of the tests: a repository and an archive.
pub(crate) fn material() -> Value {
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
    let settings = OperatorSettings { wait_for_isolation: true, ..settings() };
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
    let settings = OperatorSettings { wait_for_isolation: true, ..settings() };
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
fn only_the_container_with_the_program_gets_the_http_proxy() {
    let material_proxy = Some("http://proxy.example.org:3128".to_owned());
    let material_no_proxy = ".example.org,git.example.net".to_owned();
    let settings = OperatorSettings { material_proxy, material_no_proxy, ..settings() };
    let pod = pod(&settings, |_| {});
    assert_eq!(variable(init(&pod), "ALL_PROXY"), "http://proxy.example.org:3128");
    assert_eq!(variable(init(&pod), "NO_PROXY"), ".example.org,git.example.net");
    assert_eq!(pod["spec"].to_string().matches("_PROXY").count(), 2);
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
