//! Tests of the pod templates that a template can have.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where by panicking")]

mod policy;

use std::collections::BTreeMap;

use launcher_domain::PodTemplatePolicy;
use launcher_workshop::pod_template::PodTemplate;
use serde_json::{Value, json};

/// Parses a pod template; the template's own variable is `COURSE`.
fn parse(value: &Value) -> Result<PodTemplate, Vec<(String, String)>> {
    let env = BTreeMap::from([("COURSE".to_owned(), "intro".to_owned())]);
    PodTemplate::parse(value.as_object().unwrap(), &env)
        .map_err(|errors| errors.into_iter().map(|error| (error.pointer.clone(), error.detail())).collect())
}

/// A pod template with all supported fields.
fn complete() -> Value {
    json!({
        "metadata": {
            "annotations": { "example.org/billing": "course-1" },
            "labels": { "example.org/team": "statistics" },
        },
        "spec": {
            "volumes": [
                { "name": "shm", "emptyDir": { "medium": "Memory", "sizeLimit": "1Gi" } },
                { "name": "scratch", "emptyDir": { "sizeLimit": 1_000_000 } },
                { "name": "data", "persistentVolumeClaim": { "claimName": "course-data", "readOnly": true } },
                { "name": "settings", "configMap": { "name": "course", "items": [{ "key": "a", "path": "b" }] } },
                { "name": "keys", "secret": { "secretName": "course-token", "defaultMode": 256 } },
                { "name": "vault", "csi": { "driver": "vault.example.org", "nodePublishSecretRef": { "name": "n" } } },
            ],
            "containers": [{
                "name": "app",
                "env": [
                    { "name": "TOKEN", "valueFrom": { "secretKeyRef": { "name": "course-token", "key": "token" } } },
                    { "name": "MODE", "valueFrom": { "configMapKeyRef": { "name": "course", "key": "mode" } } },
                    { "name": "NODE", "valueFrom": { "fieldRef": { "fieldPath": "spec.nodeName" } } },
                    { "name": "PLAIN", "value": "$(TOKEN)" },
                ],
                "envFrom": [{ "prefix": "C_", "configMapRef": { "name": "course" } }, { "secretRef": { "name": "all" } }],
                "volumeMounts": [
                    { "name": "shm", "mountPath": "/dev/shm" },
                    { "name": "data", "mountPath": "/data", "subPath": "a/b", "readOnly": true },
                ],
                "resources": { "limits": { "nvidia.com/gpu": 1, "ephemeral-storage": "2Gi" } },
            }],
            "initContainers": [{
                "name": "fetch", "image": "busybox", "command": ["sh"], "args": ["-c", "true"], "workingDir": "/data",
                "env": [{ "name": "PORT", "value": "1" }], "envFrom": [{ "secretRef": { "name": "fetch" } }],
                "volumeMounts": [{ "name": "scratch", "mountPath": "/data" }],
            }],
            "nodeSelector": { "disk": "ssd" },
            "affinity": { "nodeAffinity": { "preferredDuringSchedulingIgnoredDuringExecution": [] } },
            "tolerations": [{ "key": "gpu", "operator": "Exists" }],
            "runtimeClassName": "gvisor",
            "priorityClassName": "low",
            "imagePullSecrets": [{ "name": "registry" }],
            "serviceAccountName": "course",
            "securityContext": {
                "fsGroup": 100, "fsGroupChangePolicy": "OnRootMismatch", "supplementalGroups": [1, 2],
                "supplementalGroupsPolicy": "Strict",
            },
        },
    })
}

#[test]
fn all_supported_fields_are_accepted() {
    let parsed = parse(&complete()).unwrap();
    assert_eq!(parsed.labels.keys().collect::<Vec<_>>(), ["example.org/team"]);
    let app = &parsed.spec.containers[0];
    let limits = app.resources.as_ref().unwrap().limits.as_ref().unwrap();
    assert_eq!(limits["nvidia.com/gpu"].0, "1", "a number is a quantity");
    assert_eq!(parsed.spec.volumes.as_ref().unwrap().len(), 6);
}

#[test]
fn null_means_absent() {
    let parsed = parse(&json!({ "metadata": null, "spec": { "volumes": [null], "nodeSelector": { "a": null } } }));
    let spec = parsed.unwrap().spec;
    assert_eq!((spec.volumes, spec.node_selector), (Some(Vec::new()), Some(BTreeMap::new())));
}

/// A pod template with this spec.
fn spec(value: Value) -> Value {
    json!({ "spec": value })
}

/// A pod template with this container `app`.
fn app(mut value: Value) -> Value {
    value["name"] = "app".into();
    spec(json!({ "containers": [value] }))
}

#[test]
fn fields_of_the_operator_are_refused_with_their_path() {
    let refused = [
        (json!({ "hostNetwork": true }), "/spec/hostNetwork"),
        (json!({ "hostPID": true }), "/spec/hostPID"),
        (json!({ "hostIPC": true }), "/spec/hostIPC"),
        (json!({ "hostUsers": true }), "/spec/hostUsers"),
        (json!({ "hostAliases": [] }), "/spec/hostAliases"),
        (json!({ "shareProcessNamespace": true }), "/spec/shareProcessNamespace"),
        (json!({ "restartPolicy": "Always" }), "/spec/restartPolicy"),
        (json!({ "automountServiceAccountToken": true }), "/spec/automountServiceAccountToken"),
        (json!({ "serviceAccount": "operator" }), "/spec/serviceAccount"),
        (json!({ "nodeName": "one" }), "/spec/nodeName"),
        (json!({ "ephemeralContainers": [] }), "/spec/ephemeralContainers"),
        (json!({ "terminationGracePeriodSeconds": 0 }), "/spec/terminationGracePeriodSeconds"),
        (json!({ "securityContext": { "runAsUser": 0 } }), "/spec/securityContext/runAsUser"),
        (json!({ "securityContext": { "sysctls": [] } }), "/spec/securityContext/sysctls"),
        (json!({ "volumes": [{ "name": "a", "hostPath": { "path": "/" } }] }), "/spec/volumes/0/hostPath"),
        (json!({ "volumes": [{ "name": "a", "projected": {} }] }), "/spec/volumes/0/projected"),
        (json!({ "containers": [{ "name": "app", "image": "x" }] }), "/spec/containers/0/image"),
        (json!({ "containers": [{ "name": "app", "ports": [] }] }), "/spec/containers/0/ports"),
        (json!({ "containers": [{ "name": "app", "command": ["sh"] }] }), "/spec/containers/0/command"),
        (json!({ "containers": [{ "name": "app", "lifecycle": {} }] }), "/spec/containers/0/lifecycle"),
        (
            json!({ "containers": [{ "name": "app", "securityContext": { "privileged": true } }] }),
            "/spec/containers/0/securityContext",
        ),
        (
            json!({ "containers": [{ "name": "app", "volumeMounts": [{ "mountPropagation": "Bidirectional" }] }] }),
            "/spec/containers/0/volumeMounts/0/mountPropagation",
        ),
        (
            json!({ "initContainers": [{ "name": "a", "image": "b", "restartPolicy": "Always" }] }),
            "/spec/initContainers/0/restartPolicy",
        ),
        (
            json!({ "initContainers": [{ "name": "a", "image": "b", "securityContext": {} }] }),
            "/spec/initContainers/0/securityContext",
        ),
    ];
    for (value, pointer) in refused {
        let errors = parse(&spec(value)).unwrap_err();
        assert_eq!(errors[0].0, pointer, "{errors:?}");
        assert!(errors[0].1.starts_with("a template cannot set this field. It can set here: "), "{errors:?}");
    }
    let errors = parse(&json!({ "metadata": { "name": "a" }, "status": {} })).unwrap_err();
    let pointers: Vec<_> = errors.iter().map(|(pointer, _)| pointer.as_str()).collect();
    assert_eq!(pointers, ["/metadata/name", "/status"], "all errors at once");
}

#[test]
fn names_of_the_launcher_are_refused() {
    let volume = |name: &str| spec(json!({ "volumes": [{ "name": name, "emptyDir": {} }] }));
    let init = |name: &str| spec(json!({ "initContainers": [{ "name": name, "image": "x" }] }));
    let label = |name: &str| json!({ "metadata": { "labels": { name: "x" } } });
    let annotation = |name: &str| json!({ "metadata": { "annotations": { name: "x" } } });
    for (value, pointer, detail) in [
        (volume("proxy-secret"), "/spec/volumes/0/name", "proxy-secret is reserved for the launcher"),
        (volume("expiry"), "/spec/volumes/0/name", "expiry is reserved for the launcher"),
        (init("app"), "/spec/initContainers/0/name", "app is reserved for the launcher"),
        (init("sidecar"), "/spec/initContainers/0/name", "sidecar is reserved for the launcher"),
        (init("isolation"), "/spec/initContainers/0/name", "isolation is reserved for the launcher"),
        (label("app"), "/metadata/labels/app", "app is reserved for the launcher"),
        (
            label("workshoplauncher.dev/workshop"),
            "/metadata/labels/workshoplauncher.dev~1workshop",
            "workshoplauncher.dev/workshop is reserved for the launcher",
        ),
        (
            label("app.kubernetes.io/component"),
            "/metadata/labels/app.kubernetes.io~1component",
            "app.kubernetes.io/component is reserved for the launcher",
        ),
        (
            annotation("karpenter.sh/do-not-disrupt"),
            "/metadata/annotations/karpenter.sh~1do-not-disrupt",
            "karpenter.sh/do-not-disrupt is reserved for the launcher",
        ),
        (
            spec(json!({ "containers": [{ "name": "sidecar" }] })),
            "/spec/containers/0/name",
            "app is the only container of a template. Write programs that run before it in initContainers",
        ),
        (
            app(json!({ "env": [{ "name": "DISABLE_AUTH", "value": "false" }] })),
            "/spec/containers/0/env/0/name",
            "DISABLE_AUTH and SERVICE_… are set by the service; choose another name",
        ),
        (
            app(json!({ "env": [{ "name": "PORT", "value": "1" }] })),
            "/spec/containers/0/env/0/name",
            "PORT is also in env: remove one of them",
        ),
        (
            app(json!({ "volumeMounts": [{ "name": "proxy-secret", "mountPath": "/a" }] })),
            "/spec/containers/0/volumeMounts/0/name",
            "spec.volumes has no volume proxy-secret",
        ),
        (
            app(json!({ "resources": { "limits": { "memory": "64Gi" } } })),
            "/spec/containers/0/resources/limits/memory",
            "set memory in the template's field resources instead",
        ),
    ] {
        assert_eq!(parse(&value).err(), Some(vec![(pointer.to_owned(), detail.to_owned())]), "{value}");
    }
}

#[test]
fn wrong_values_are_refused_with_their_path() {
    let volumes = |value: Value| spec(json!({ "volumes": value }));
    for (value, pointer) in [
        (json!({ "spec": [] }), "/spec"),
        (spec(json!({ "nodeSelector": { "disk": 1 } })), "/spec/nodeSelector/disk"),
        (spec(json!({ "tolerations": [{ "key": "a", "operater": "Exists" }] })), "/spec/tolerations/0/operater"),
        (spec(json!({ "tolerations": "gpu" })), "/spec/tolerations"),
        (spec(json!({ "imagePullSecrets": ["registry"] })), "/spec/imagePullSecrets/0"),
        (spec(json!({ "securityContext": { "fsGroup": "100" } })), "/spec/securityContext/fsGroup"),
        (volumes(json!([{ "name": "a" }])), "/spec/volumes/0"),
        (volumes(json!([{ "name": "a", "emptyDir": {}, "secret": { "secretName": "b" } }])), "/spec/volumes/0"),
        (volumes(json!([{ "name": "A_B", "emptyDir": {} }])), "/spec/volumes/0/name"),
        (volumes(json!([{ "emptyDir": {} }])), "/spec/volumes/0/name"),
        (volumes(json!([{ "name": "a", "emptyDir": {} }, { "name": "a", "emptyDir": {} }])), "/spec/volumes/1/name"),
        (volumes(json!([{ "name": "a", "emptyDir": { "size": "1Gi" } }])), "/spec/volumes/0/emptyDir/size"),
        (spec(json!({ "containers": [{ "name": "app" }, { "name": "app" }] })), "/spec/containers/1/name"),
        (spec(json!({ "initContainers": [{ "name": "a" }] })), "/spec/initContainers/0/image"),
        (app(json!({ "env": [{ "name": "1A", "value": "b" }] })), "/spec/containers/0/env/0/name"),
        (app(json!({ "env": [{ "name": "COURSE", "value": "b" }] })), "/spec/containers/0/env/0/name"),
        (app(json!({ "env": [{ "name": "A" }, { "name": "A" }] })), "/spec/containers/0/env/1/name"),
        (
            app(json!({ "env": [{ "name": "A", "value": "b", "valueFrom": { "fieldRef": { "fieldPath": "c" } } }] })),
            "/spec/containers/0/env/0",
        ),
        (app(json!({ "env": [{ "name": "A", "valueFrom": {} }] })), "/spec/containers/0/env/0"),
        (app(json!({ "envFrom": [{ "prefix": "A" }] })), "/spec/containers/0/envFrom/0"),
        (app(json!({ "resources": { "limits": { "gpu": "many" } } })), "/spec/containers/0/resources/limits/gpu"),
        (app(json!({ "resources": { "claims": [] } })), "/spec/containers/0/resources/claims"),
    ] {
        let errors = parse(&value).unwrap_err();
        assert_eq!(errors.iter().map(|(pointer, _)| pointer.as_str()).collect::<Vec<_>>(), [pointer], "{errors:?}");
    }
}

#[test]
fn mounts_have_absolute_and_unique_paths() {
    let mounts = |paths: &[&str]| {
        let mounts: Vec<_> = paths.iter().map(|path| json!({ "name": "a", "mountPath": path })).collect();
        let mut value = app(json!({ "volumeMounts": mounts }));
        value["spec"]["volumes"] = json!([{ "name": "a", "emptyDir": {} }]);
        parse(&value).err().map(|errors| errors[0].0.clone())
    };
    assert_eq!(mounts(&["/dev/shm", "/a..b"]), None);
    for path in ["", "a", "/a/../b", "/a:b", ".."] {
        assert_eq!(mounts(&[path]).as_deref(), Some("/spec/containers/0/volumeMounts/0/mountPath"), "{path:?}");
    }
    assert_eq!(mounts(&["/a", "/a"]).as_deref(), Some("/spec/containers/0/volumeMounts/1/mountPath"));
}

#[test]
fn sub_paths_stay_in_their_volume() {
    let sub_path = |path: &str| {
        let mut value = app(json!({ "volumeMounts": [{ "name": "a", "mountPath": "/a", "subPath": path }] }));
        value["spec"]["volumes"] = json!([{ "name": "a", "emptyDir": {} }]);
        parse(&value).err().map(|errors| errors[0].0.clone())
    };
    assert_eq!(sub_path("a/b..c"), None);
    for path in ["/a", "..", "a/../b"] {
        assert_eq!(sub_path(path).as_deref(), Some("/spec/containers/0/volumeMounts/0/subPath"), "{path:?}");
    }
}

#[test]
fn any_pod_template_is_accepted_again_or_refused() {
    let name = "any_pod_template_is_accepted_again_or_refused";
    launcher_fuzz::run(env!("CARGO_MANIFEST_DIR"), name, 10_000, |bytes| {
        let Ok(Value::Object(object)) = serde_json::from_slice(bytes) else { return };
        let env = BTreeMap::from([("COURSE".to_owned(), "intro".to_owned())]);
        match PodTemplate::parse(&object, &env) {
            Ok(template) => {
                assert_eq!(PodTemplate::parse(&object, &env).as_ref(), Ok(&template));
                drop(template.forbidden(&PodTemplatePolicy::default()));
            }
            Err(errors) => assert!(!errors.is_empty()),
        }
    });
}
