//! Tests of the pod template of a Workshop: the merge into the operator's pod, and the policy.

use std::collections::BTreeSet;
use std::time::Duration;

use k8s_openapi::api::core::v1::{Pod, PodSpec};
use launcher_domain::PodTemplatePolicy;
use launcher_operator::OperatorSettings;
use launcher_operator::build::{SPEC_DIGEST, TEMPLATE_DIGEST, build};
use launcher_operator::validate::validate;
use launcher_workshop::Workshop;
use launcher_workshop::pod_template::{APP_CONTAINER, RESERVED_CONTAINERS, RESERVED_VOLUMES};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::cluster::{Cluster, statuses, with_routes};
use crate::material::{with_material, with_secret};
use crate::saved_files::with_saved_files;
use crate::storage::with_storage;
use crate::support::{at, pod_object, running, settings, workshop};

/// Settings with all optional parts of the pod, and this policy.
fn allowing(policy: &str) -> OperatorSettings {
    let mut settings = settings();
    settings.pod_template_allow = PodTemplatePolicy::parse(policy).unwrap();
    settings.proxy_secret_name = Some("proxy".to_owned());
    settings.wait_for_isolation = true;
    settings.isolation_timeout = Duration::from_secs(9);
    settings.node_selector = [("pool".to_owned(), "workshops".to_owned())].into();
    settings.tolerations = serde_json::from_value(json!([{ "key": "workshops", "operator": "Exists" }])).unwrap();
    settings
}

const EVERYTHING: &str = "annotation/*,configMap/*,csi/*,imagePullSecret/*,label/*,persistentVolumeClaim/*,\
                          priorityClass/*,resource/*,runtimeClass/*,secret/*,serviceAccount/*,toleration/*";

/// Builds the pod of the minimal Workshop with this pod template.
fn built(template: &Value, settings: &OperatorSettings) -> Pod {
    let workshop = workshop(|workshop| workshop.spec.pod_template = template.as_object().cloned());
    build(&validate(&workshop).unwrap(), settings).pod
}

fn spec(template: &Value, settings: &OperatorSettings) -> PodSpec {
    built(template, settings).spec.unwrap()
}

fn json(value: impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

/// Pod templates that together have every field.
fn parts() -> Vec<Value> {
    vec![
        json!({ "metadata": { "annotations": { "example.org/a": "b" }, "labels": { "example.org/c": "d" } } }),
        json!({ "spec": {
            "volumes": [
                { "name": "shm", "emptyDir": { "medium": "Memory", "sizeLimit": "1Gi" } },
                { "name": "keys", "secret": { "secretName": "course-token" } },
            ],
            "containers": [{
                "name": "app",
                "env": [
                    { "name": "TOKEN", "valueFrom": { "secretKeyRef": { "name": "course-token", "key": "token" } } },
                    { "name": "URL", "value": "https://example.org/?t=$(TOKEN)" },
                ],
                "envFrom": [{ "secretRef": { "name": "course" } }],
                "volumeMounts": [{ "name": "shm", "mountPath": "/dev/shm" }],
                "resources": { "limits": { "nvidia.com/gpu": 1 }, "requests": { "ephemeral-storage": "1Gi" } },
            }],
            "initContainers": [{
                "name": "fetch", "image": "busybox", "command": ["sh"], "args": ["true"], "workingDir": "/keys",
                "env": [{ "name": "DISABLE", "value": "$(A)" }], "envFrom": [{ "secretRef": { "name": "course" } }],
                "volumeMounts": [{ "name": "keys", "mountPath": "/keys" }],
            }],
        } }),
        json!({ "spec": { "nodeSelector": { "disk": "ssd" } } }),
        json!({ "spec": { "affinity": { "podAntiAffinity": {} } } }),
        json!({ "spec": { "tolerations": [{ "key": "gpu", "operator": "Exists" }] } }),
        json!({ "spec": { "runtimeClassName": "gvisor" } }),
        json!({ "spec": { "priorityClassName": "low" } }),
        json!({ "spec": { "serviceAccountName": "course" } }),
        json!({ "spec": { "imagePullSecrets": [{ "name": "registry" }, { "name": "course" }] } }),
        json!({ "spec": { "securityContext": {
            "fsGroup": 100, "fsGroupChangePolicy": "OnRootMismatch", "supplementalGroups": [5],
            "supplementalGroupsPolicy": "Strict",
        } } }),
    ]
}

/// Merges objects recursively.
fn add(all: &mut Value, part: &Value) {
    match (all, part) {
        (Value::Object(all), Value::Object(part)) => {
            for (name, value) in part {
                add(all.entry(name).or_insert(Value::Null), value);
            }
        }
        (all, part) => *all = part.clone(),
    }
}

#[test]
fn pod_template_is_merged_by_name_after_the_operators_entries() {
    let mut template = json!({});
    parts().iter().for_each(|part| add(&mut template, part));
    let settings = allowing(EVERYTHING);
    let built = built(&template, &settings);
    let metadata = built.metadata;
    assert_eq!(metadata.annotations.unwrap()["example.org/a"], "b");
    assert_eq!(metadata.labels.unwrap()["example.org/c"], "d");
    let pod = json(built.spec.unwrap());
    let app = pod["containers"].as_array().unwrap().iter().find(|container| container["name"] == "app").unwrap();
    let env: Vec<_> =
        app["env"].as_array().unwrap().iter().map(|variable| variable["name"].as_str().unwrap()).collect();
    assert_eq!(env, ["DISABLE_AUTH", "PORT", "WORKSHOP_HOST", "WORKSHOP_ORIGIN", "WORKSHOP_URL", "TOKEN", "URL"]);
    assert_eq!(app["env"][6]["value"], "https://example.org/?t=$(TOKEN)", "Kubernetes expands the reference");
    assert_eq!(app["envFrom"], json!([{ "secretRef": { "name": "course" } }]));
    assert_eq!(app["volumeMounts"], json!([{ "name": "shm", "mountPath": "/dev/shm" }]));
    assert_eq!(app["resources"]["limits"], json!({ "cpu": "2", "memory": "2Gi", "nvidia.com/gpu": "1" }));
    assert_eq!(app["resources"]["requests"], json!({ "cpu": "100m", "memory": "256Mi", "ephemeral-storage": "1Gi" }));
    let volumes: Vec<_> = pod["volumes"].as_array().unwrap().iter().map(|volume| volume["name"].clone()).collect();
    assert_eq!(volumes, ["expiry", "proxy-secret", "shm", "keys"]);
    assert_eq!(pod["initContainers"][0]["name"], "isolation");
    let init = &pod["initContainers"][1];
    assert_eq!((&init["name"], &init["image"]), (&"fetch".into(), &"busybox".into()));
    assert_eq!(init["imagePullPolicy"], "IfNotPresent");
    assert_eq!(init["volumeMounts"], json!([{ "name": "keys", "mountPath": "/keys" }]));
    for field in ["command", "args", "workingDir", "env", "envFrom"] {
        assert_eq!(init[field], template["spec"]["initContainers"][0][field], "{field}");
    }
    assert_eq!(pod["affinity"], template["spec"]["affinity"]);
    assert_eq!(pod["nodeSelector"], json!({ "disk": "ssd", "pool": "workshops" }));
    assert_eq!(pod["tolerations"].as_array().unwrap().len(), 2);
    assert_eq!(pod["imagePullSecrets"], json!([{ "name": "registry" }, { "name": "course" }]));
    assert_eq!(
        [&pod["runtimeClassName"], &pod["priorityClassName"], &pod["serviceAccountName"]],
        ["gvisor", "low", "course"]
    );
    let mut security = template["spec"]["securityContext"].clone();
    security["seccompProfile"] = json!({ "type": "RuntimeDefault" });
    assert_eq!(pod["securityContext"], security);
}

#[test]
fn init_container_has_the_security_context_and_the_size_of_the_app() {
    let pod = spec(&parts()[1], &allowing(EVERYTHING));
    let app = pod.containers.iter().find(|container| container.name == APP_CONTAINER).unwrap();
    let init = pod.init_containers.as_ref().unwrap().last().unwrap();
    assert_eq!(init.security_context, app.security_context);
    let amounts = json(&init.resources);
    assert_eq!(amounts["limits"], json!({ "cpu": "2", "memory": "2Gi" }));
    assert_eq!(amounts["requests"], json!({ "cpu": "100m", "memory": "256Mi" }));
}

#[test]
fn all_names_of_the_operator_are_reserved() {
    let with_all_files = |workshop: &mut Workshop| {
        with_saved_files(workshop);
        with_material(workshop);
        with_secret(workshop);
    };
    let changes: [fn(&mut Workshop); 2] = [with_storage, with_all_files];
    let [mut volumes, mut containers] = [BTreeSet::new(), BTreeSet::new()];
    for change in changes {
        let pod = build(&validate(&workshop(change)).unwrap(), &allowing("")).pod.spec.unwrap();
        volumes.extend(pod.volumes.into_iter().flatten().map(|volume| volume.name));
        let all = pod.containers.into_iter().chain(pod.init_containers.into_iter().flatten());
        containers.extend(all.map(|container| container.name));
    }
    let reserved = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(volumes, reserved(&RESERVED_VOLUMES));
    assert_eq!(containers, reserved(&[&RESERVED_CONTAINERS[..], &[APP_CONTAINER]].concat()));
}

proptest! {
    #[test]
    fn pod_template_never_changes_what_the_operator_owns(
        chosen in prop::collection::vec(prop::sample::select(parts()), 0..10),
        is_baseline in any::<bool>(),
        waits in any::<bool>(),
        user_namespaces in any::<bool>(),
    ) {
        let mut template = json!({});
        chosen.iter().for_each(|part| add(&mut template, part));
        let mut settings = allowing(EVERYTHING);
        settings.user_namespaces = user_namespaces;
        settings.wait_for_isolation = waits;
        let build = |template: &Value| {
            let workshop = workshop(|workshop| {
                workshop.spec.pod_template = template.as_object().cloned();
                workshop.spec.security_profile = if is_baseline { "baseline" } else { "restricted" }.to_owned();
            });
            let mut pod = launcher_operator::build::build(&validate(&workshop).unwrap(), &settings).pod;
            pod.metadata.annotations.as_mut().unwrap().retain(|name, _| ![SPEC_DIGEST, TEMPLATE_DIGEST].contains(&&**name));
            json(pod)
        };
        let (plain, merged) = (build(&json!({})), build(&template));
        assert_keeps(&plain, &merged, "");
        assert_eq!(merged["spec"]["containers"][1], plain["spec"]["containers"][1], "the sidecar");
        let app = &merged["spec"]["containers"][0];
        for field in ["ports", "securityContext", "lifecycle", "livenessProbe", "readinessProbe", "command", "args"] {
            assert_eq!(app[field], plain["spec"]["containers"][0][field], "{field}");
        }
        let never = ["hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "restartPolicy", "nodeName"];
        for field in never {
            assert_eq!(merged["spec"].get(field), plain["spec"].get(field), "{field}");
        }
        assert_eq!(merged["spec"]["hostUsers"], plain["spec"]["hostUsers"]);
        let text = merged["spec"]["containers"][0].to_string() + &merged["spec"]["initContainers"].to_string();
        assert!(!text.contains("proxy-secret"), "{text}");
    }
}

/// Asserts that `merged` has everything that `plain` has, and lists begin with the entries of `plain`.
fn assert_keeps(plain: &Value, merged: &Value, path: &str) {
    match (plain, merged) {
        (Value::Object(plain), Value::Object(merged)) => {
            plain.iter().for_each(|(name, value)| {
                assert_keeps(value, merged.get(name).unwrap_or(&Value::Null), &format!("{path}/{name}"));
            });
        }
        (Value::Array(plain), Value::Array(merged)) => {
            assert!(merged.len() >= plain.len(), "{path}");
            plain.iter().zip(merged).for_each(|(plain, merged)| assert_keeps(plain, merged, path));
        }
        _ => assert_eq!(plain, merged, "{path}"),
    }
}

#[test]
fn digest_depends_on_the_pod_template() {
    let digest = |template: Option<Value>| {
        let workshop = workshop(|workshop| {
            workshop.spec.pod_template = template.and_then(|template| template.as_object().cloned());
        });
        let built = build(&validate(&workshop).unwrap(), &settings());
        built.pod.metadata.annotations.unwrap()[SPEC_DIGEST].clone()
    };
    let [none, one, other] = [None, Some(parts()[2].clone()), Some(parts()[3].clone())].map(digest);
    assert!(none != one && one != other && none != other);
}

/// The Workshop with this pod template; it has never been ready.
fn new_workshop(template: &Value) -> Value {
    let mut workshop = running();
    workshop["spec"]["podTemplate"] = template.clone();
    workshop["spec"]["expiresAt"] = Value::Null;
    workshop["status"] = Value::Null;
    workshop
}

fn cluster(workshop: &Value, policy: &str) -> Cluster {
    let cluster = with_routes(workshop).listed("workshops", workshop).by_now(workshop);
    cluster.with_settings(allowing(policy))
}

#[tokio::test(start_paused = true)]
async fn names_outside_the_policy_fail_the_workshop_with_their_path() {
    let secret = |name: &str| json!({ "spec": { "volumes": [{ "name": "a", "secret": { "secretName": name } }] } });
    for (template, policy, message) in [
        (
            parts()[4].clone(),
            "",
            "at /spec/tolerations/0: needs the entry toleration/gpu in SERVICE_POD_TEMPLATE_ALLOW",
        ),
        (secret("course"), "secret/other", "at /spec/volumes/0/secret: needs the entry secret/course in "),
        (secret("proxy"), "secret/*", "at /spec/volumes/0/secret: proxy is reserved for the launcher."),
        (
            secret("r-ab12cd34ef-parameters"),
            "secret/*",
            "at /spec/volumes/0/secret: r-ab12cd34ef-parameters is reserved for the launcher.",
        ),
        (
            secret("material-statistics"),
            "secret/*,secret/material-statistics",
            "at /spec/volumes/0/secret: material-statistics is reserved for the launcher.",
        ),
        (secret("workshops-tls"), "secret/*", "at /spec/volumes/0/secret: workshops-tls is reserved for the launcher."),
        (
            json!({ "spec": { "nodeSelector": { "pool": "control-plane" } } }),
            EVERYTHING,
            "at /spec/nodeSelector/pool: pool is reserved for the launcher.",
        ),
    ] {
        let calls = cluster(&new_workshop(&template), policy).run_operator(at("12:30:00")).await;
        let status = statuses(&calls).next().unwrap();
        assert_eq!((&status["phase"], &status["reason"]), (&"Failed".into(), &"invalid-spec".into()));
        assert!(status["message"].as_str().unwrap().contains(message), "{status}");
        assert!(!calls.iter().any(|(what, _)| what == "POST pods"), "{calls:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn changed_policy_ends_no_workshop_that_has_been_ready() {
    let mut workshop = running();
    workshop["spec"]["podTemplate"] = parts()[4].clone();
    let pod = pod_object(&json!({ "conditions": [{ "type": "Ready", "status": "True" }] }));
    let calls = cluster(&workshop, "").listed("pods", &pod).run_operator(at("12:30:00")).await;
    let status = statuses(&calls).next().unwrap();
    // A restart would fail the workshop, so the status does not ask for one.
    assert_eq!((&status["phase"], &status["podOutdated"]), (&json!("Running"), &Value::Null));
    assert!(!calls.iter().any(|(what, _)| what.starts_with("DELETE")), "{calls:?}");
    // No request contains the forbidden pod template, so no pod gets it.
    let gpu = calls.iter().any(|(what, body)| what != "PATCH workshops/status" && body.to_string().contains("\"gpu\""));
    assert!(!gpu, "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn changed_policy_fails_a_workshop_without_a_pod_or_before_its_readiness() {
    let mut without_pod = running();
    without_pod["spec"]["podTemplate"] = parts()[4].clone();
    let pod = pod_object(&json!({ "conditions": [{ "type": "Ready", "status": "True" }] }));
    let never_ready = cluster(&new_workshop(&parts()[4]), "").listed("pods", &pod);
    for cluster in [cluster(&without_pod, ""), never_ready] {
        let calls = cluster.run_operator(at("12:30:00")).await;
        let status = statuses(&calls).next().unwrap();
        assert_eq!((&status["phase"], &status["reason"]), (&"Failed".into(), &"invalid-spec".into()));
        assert!(!calls.iter().any(|(what, _)| what == "POST pods"), "{calls:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn outdated_pod_is_reported_if_the_policy_allows_its_pod_template() {
    let mut workshop = running();
    workshop["spec"]["podTemplate"] = parts()[4].clone();
    let pod = pod_object(&json!({ "conditions": [{ "type": "Ready", "status": "True" }] }));
    let calls = cluster(&workshop, "toleration/gpu").listed("pods", &pod).run_operator(at("12:30:00")).await;
    assert_eq!(statuses(&calls).next().unwrap()["podOutdated"], true);
}
