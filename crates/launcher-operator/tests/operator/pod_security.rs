//! Tests that built pods conform to the profiles `restricted` and `baseline` of the Pod Security Standards.

use k8s_openapi::api::core::v1::{Container, PodSpec};
use launcher_operator::OperatorSettings;

use crate::support::{self, built};

/// Capabilities that `baseline` allows a container to add (Pod Security Standards, "Capabilities").
const BASELINE: [&str; 13] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];

fn pod(profile: &str) -> PodSpec {
    let built = built(|workshop| workshop.spec.security_profile = profile.to_owned());
    built.pod.spec.unwrap()
}

fn is_restricted(container: &Container) -> bool {
    let context = container.security_context.as_ref().unwrap();
    let capabilities = context.capabilities.as_ref().unwrap();
    context.run_as_non_root == Some(true)
        && context.run_as_user.is_some_and(|user| user > 0)
        && context.allow_privilege_escalation == Some(false)
        && context.privileged == Some(false)
        && capabilities.drop.as_deref() == Some(&["ALL".to_owned()])
        && capabilities.add.is_none()
}

#[test]
fn pod_of_either_profile_has_no_host_access_and_no_api_token() {
    for profile in ["restricted", "baseline"] {
        let pod = pod(profile);
        assert_eq!(pod.automount_service_account_token, Some(false));
        assert_eq!(pod.enable_service_links, Some(false));
        assert_eq!(pod.security_context.unwrap().seccomp_profile.unwrap().type_, "RuntimeDefault");
        assert!(pod.host_network.is_none() && pod.host_pid.is_none() && pod.host_ipc.is_none());
        let volumes = serde_json::to_value(&pod.volumes).unwrap();
        assert!(volumes.as_array().unwrap().iter().all(|volume| volume["downwardAPI"].is_object()), "{volumes}");
        for container in &pod.containers {
            let context = container.security_context.as_ref().unwrap();
            assert_eq!((context.privileged, context.allow_privilege_escalation), (Some(false), Some(false)));
            assert!(container.ports.iter().flatten().all(|port| port.host_port.is_none()));
        }
    }
}

#[test]
fn pod_of_restricted_profile_restricts_app_and_sidecar() {
    let pod = pod("restricted");
    assert_eq!(pod.containers.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["app", "sidecar"]);
    assert!(pod.containers.iter().all(is_restricted));
}

#[test]
fn pod_of_restricted_profile_leaves_user_ids_to_cluster_if_cluster_assigns_them() {
    let settings = OperatorSettings { run_as_user: None, wait_for_isolation: true, ..support::settings() };
    let pod = support::pod(&settings, "restricted");
    let context = pod.security_context.unwrap();
    assert_eq!((context.run_as_user, context.run_as_group, context.fs_group), (None, None, None));
    let containers: Vec<_> = pod.init_containers.iter().flatten().chain(&pod.containers).collect();
    assert_eq!(containers.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["isolation", "app", "sidecar"]);
    for container in containers {
        let mut container = container.clone();
        let context = container.security_context.as_mut().unwrap();
        assert_eq!((context.run_as_user, context.run_as_group), (None, None), "{}", container.name);
        // As the admission of the cluster completes it.
        context.run_as_user = Some(1_000_680_000);
        assert!(is_restricted(&container), "{}", container.name);
    }
}

#[test]
fn pod_of_baseline_profile_allows_root_app_and_restricts_sidecar() {
    let pod = pod("baseline");
    let app = pod.containers[0].security_context.as_ref().unwrap();
    assert_eq!((app.run_as_non_root, app.run_as_user), (None, None));
    let added = app.capabilities.as_ref().unwrap().add.clone().unwrap();
    assert!(added.iter().all(|capability| BASELINE.contains(&capability.as_str())), "{added:?}");
    assert!(is_restricted(&pod.containers[1]));
    assert_eq!(pod.containers[1].security_context.as_ref().unwrap().read_only_root_filesystem, Some(true));
}
