//! Tests of the proxy secret: its mount in the sidecar, and the failure of a Workshop while its Secret is missing.

use std::time::Duration;

use k8s_openapi::api::core::v1::{Container, PodSpec};
use launcher_operator::OperatorSettings;
use serde_json::{Value, json};
use tokio::join;
use tokio::time::sleep;

use crate::cluster::{Cluster, statuses, with_children};
use crate::support::{at, pod, pod_object, running, settings};

const FILE: &str = "/etc/workshop-launcher/proxy/secrets";

fn with_secret() -> OperatorSettings {
    let mut settings = settings();
    settings.proxy_secret_name = Some("workshop-proxy".to_owned());
    settings
}

fn names_the_file(container: &Container) -> bool {
    container.env.iter().flatten().any(|one| one.name == "SERVICE_PROXY_SECRET_FILE")
}

fn mounts(pod: &PodSpec) -> Vec<&str> {
    let containers = pod.init_containers.iter().flatten().chain(&pod.containers);
    containers.filter(|one| one.volume_mounts.is_some()).map(|one| one.name.as_str()).collect()
}

#[test]
fn proxy_secret_is_mounted_read_only_into_sidecar_only() {
    let mut settings = with_secret();
    settings.wait_for_isolation = true;
    settings.isolation_timeout = Duration::from_secs(120);
    for profile in ["restricted", "baseline"] {
        let pod = pod(&settings, profile);
        assert_eq!(mounts(&pod), ["sidecar"]);
        assert_eq!(pod.share_process_namespace, None);
        let volume = serde_json::to_value(&pod.volumes.as_ref().unwrap()[1]).unwrap();
        let items = json!([{ "key": "secrets", "path": "secrets" }]);
        let secret = json!({ "secretName": "workshop-proxy", "items": items, "defaultMode": 0o444 });
        assert_eq!(volume, json!({ "name": "proxy-secret", "secret": secret }));
        let mount = &pod.containers[1].volume_mounts.as_ref().unwrap()[1];
        assert_eq!((mount.mount_path.as_str(), mount.read_only), ("/etc/workshop-launcher/proxy", Some(true)));
        // The mount must not use a subPath: the kubelet does not update such a mount when the Secret changes.
        assert_eq!((&mount.sub_path, &mount.sub_path_expr), (&None, &None));
        let named: Vec<bool> = pod.containers.iter().map(names_the_file).collect();
        assert_eq!(named, [false, true]);
        let env = pod.containers[1].env.as_ref().unwrap();
        assert!(env.iter().any(|one| one.value.as_deref() == Some(FILE)));
    }
}

#[test]
fn pod_without_proxy_secret_setting_mounts_no_secret() {
    let pod = pod(&settings(), "restricted");
    assert_eq!(mounts(&pod), ["sidecar"]);
    assert!(pod.volumes.iter().flatten().all(|volume| volume.secret.is_none()));
    assert!(!pod.containers.iter().any(names_the_file));
}

/// A simulated API server with a Workshop whose pod has waited since 12:00 for its volumes.
fn unprepared() -> Cluster {
    let mut workshop = running();
    workshop["status"] = Value::Null;
    let pod = pod_object(&json!({ "conditions": [
        { "type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-01-01T12:00:00Z" },
        { "type": "PodReadyToStartContainers", "status": "False", "lastTransitionTime": "2026-01-01T12:00:00Z" },
    ]}));
    let cluster = with_children(&workshop).listed("workshops", &workshop).by_now(&workshop);
    cluster.with_settings(with_secret()).relisted("pods", &pod)
}

/// A warning of the kubelet about the pod.
fn event(warning: &str) -> Value {
    json!({
        "metadata": { "name": "intro-abcdefghij.1", "namespace": "workshops" }, "involvedObject": {}, "type": "Warning",
        "reason": "FailedMount", "message": warning,
    })
}

#[tokio::test(start_paused = true)]
async fn workshop_without_proxy_secret_fails_with_name_of_secret() {
    for warning in [
        "MountVolume.SetUp failed for volume \"proxy-secret\" : secret \"workshop-proxy\" not found",
        "MountVolume.SetUp failed for volume \"proxy-secret\" : references non-existent secret key: secrets",
    ] {
        let calls = unprepared().listed("events", &event(warning)).run_operator(at("12:00:10")).await;
        let told: Vec<&Value> = statuses(&calls).collect();
        assert_eq!(told.iter().map(|one| &one["phase"]).collect::<Vec<_>>(), ["Starting", "Failed"]);
        let message = told[1]["message"].as_str().unwrap();
        assert_eq!(told[1]["reason"], "start-timeout");
        assert!(
            message.contains("the Secret workshop-proxy with the key secrets in the namespace workshops"),
            "{message}"
        );
        assert!(message.ends_with(warning), "{message}");
        assert!(told[1]["remedy"].as_str().unwrap().contains("administrator"));
    }
}

#[tokio::test(start_paused = true)]
async fn missing_proxy_secret_is_found_if_warning_appears_after_the_grace_period() {
    let cluster = unprepared();
    let warning = event("MountVolume.SetUp failed for volume \"proxy-secret\" : secret \"workshop-proxy\" not found");
    // The grace period of a minute has ended 10 seconds before.
    let late = async {
        sleep(Duration::from_secs(60)).await; // simulated time
        cluster.clone().listed("events", &warning)
    };
    let (calls, _) = join!(cluster.run_operator(at("12:00:10")), late);
    assert_eq!(statuses(&calls).last().unwrap()["phase"], "Failed");
}

#[tokio::test(start_paused = true)]
async fn workshop_with_other_pod_warning_than_missing_secret_stays_starting() {
    for warning in [
        "failed to set up sandbox network",
        "MountVolume.SetUp failed for volume \"keys\" : references non-existent secret key: token",
        "MountVolume.SetUp failed for volume \"proxy-secret\" : failed to sync secret cache: timed out",
    ] {
        let calls = unprepared().listed("events", &event(warning)).run_operator(at("12:00:10")).await;
        assert!(statuses(&calls).all(|one| one["phase"] == "Starting"), "{warning}: {calls:?}");
    }
}
