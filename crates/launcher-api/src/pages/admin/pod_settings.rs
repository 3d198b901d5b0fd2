//! Settings of a pod template that are fields of the template editor. [`split`] takes them out of the pod template, and
//! [`join`] adds them to it. So each setting is in one place of the form: in its field, or in the YAML.

mod text;
mod tree;

use std::collections::BTreeMap;

use launcher_domain::PodTemplateObject;
use serde_json::{Value, json};

use crate::extract::escaped;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Setting {
    /// Size of the memory volume at `/dev/shm` of the app.
    SharedMemory,
    /// Number of NVIDIA GPUs of the app.
    Gpus,
    /// Limit of the app's files on the disk of the node.
    EphemeralStorage,
    /// Name of the Secret with the password of an image registry.
    ImagePullSecret,
    /// Labels of the nodes on which pods may run.
    NodeSelector,
}

/// Values as in a pod template: a text for a size or a name, a number for GPUs, an object for the node selector.
pub(super) type Settings = BTreeMap<Setting, Value>;

const GPU: &str = "nvidia.com/gpu";
const EPHEMERAL_STORAGE: &str = "ephemeral-storage";
const NODE_SELECTOR: &str = "/spec/nodeSelector";
const IMAGE_PULL_SECRETS: &str = "/spec/imagePullSecrets";

impl Setting {
    pub(super) const ALL: [Self; 5] =
        [Self::SharedMemory, Self::Gpus, Self::EphemeralStorage, Self::ImagePullSecret, Self::NodeSelector];

    pub(super) fn kubernetes_name(self) -> &'static str {
        match self {
            Self::SharedMemory => SHARED_MEMORY,
            Self::Gpus => GPU,
            Self::EphemeralStorage => EPHEMERAL_STORAGE,
            Self::ImagePullSecret => "imagePullSecrets",
            Self::NodeSelector => "nodeSelector",
        }
    }

    /// Returns the setting at a JSON pointer of a pod template. The pointer has no slash at its start.
    pub(super) fn at(path: &str) -> Option<Self> {
        let is_below = |pointer: &str| path.starts_with(pointer.trim_start_matches('/'));
        let is_limit = |name: &str| path.ends_with(&format!("/resources/limits/{}", escaped(name)));
        if is_limit(GPU) {
            Some(Self::Gpus)
        } else if is_limit(EPHEMERAL_STORAGE) {
            Some(Self::EphemeralStorage)
        } else if is_below(IMAGE_PULL_SECRETS) {
            Some(Self::ImagePullSecret)
        } else {
            is_below(NODE_SELECTOR).then_some(Self::NodeSelector)
        }
    }

    /// True if the pod template has this setting in any form.
    fn is_in(self, template: &Value) -> bool {
        let has_amount = |list: &str, name: &str| {
            let amounts = tree::app(template).and_then(|app| app.pointer(&format!("/resources/{list}")));
            amounts.and_then(|amounts| amounts.get(name)).is_some_and(|amount| !amount.is_null())
        };
        match self {
            Self::SharedMemory => has_shared_memory(template),
            Self::Gpus => has_amount("limits", GPU) || has_amount("requests", GPU),
            Self::EphemeralStorage => has_amount("limits", EPHEMERAL_STORAGE),
            Self::ImagePullSecret => template.pointer(IMAGE_PULL_SECRETS).is_some_and(|list| !tree::is_empty(list)),
            Self::NodeSelector => template.pointer(NODE_SELECTOR).is_some_and(|labels| !tree::is_empty(labels)),
        }
    }

    /// Removes the setting from the pod template. Returns `None` if a field cannot show its value.
    fn take(self, template: &mut Value) -> Option<Value> {
        let found = match self {
            Self::SharedMemory => take_shared_memory(template)?,
            Self::Gpus | Self::EphemeralStorage => {
                let (app, name) = (tree::app_pointer(template)?, escaped(self.kubernetes_name()));
                tree::remove(template, &format!("{app}/resources/limits/{name}"))?
            }
            Self::ImagePullSecret => match tree::remove(template, IMAGE_PULL_SECRETS)?.as_array()?.as_slice() {
                [only] if only.as_object()?.len() == 1 => only.get("name")?.clone(),
                _ => return None,
            },
            Self::NodeSelector => tree::remove(template, NODE_SELECTOR)?,
        };
        self.readable(&found)
    }

    /// Adds the setting to the pod template. Has no effect if a parent has a wrong type, which the validation refuses.
    fn put(self, template: &mut Value, value: &Value) -> Option<()> {
        match self {
            Self::SharedMemory => put_shared_memory(template, value)?,
            Self::Gpus if *value == json!(0) => {}
            Self::Gpus | Self::EphemeralStorage => {
                let limits = tree::app_entry(template, "/resources/limits", json!({}))?;
                limits.as_object_mut()?.insert(self.kubernetes_name().to_owned(), value.clone());
            }
            Self::ImagePullSecret => {
                *tree::entry(template, IMAGE_PULL_SECRETS, json!([]))? = json!([{ "name": value }])
            }
            Self::NodeSelector => *tree::entry(template, NODE_SELECTOR, json!({}))? = value.clone(),
        }
        Some(())
    }
}

/// Takes the settings out of a pod template. Returns the settings, and the rest of the pod template. A setting stays in
/// the rest if its field cannot show all of it.
pub(super) fn split(template: &PodTemplateObject) -> (Settings, Option<PodTemplateObject>) {
    let mut rest = Value::Object(template.clone());
    let mut settings = Settings::new();
    for setting in Setting::ALL {
        if !setting.is_in(&rest) {
            continue;
        }
        let mut without = rest.clone();
        let taken = setting.take(&mut without);
        if let Some(value) = taken.filter(|_| !setting.is_in(&without)) {
            rest = without;
            settings.insert(setting, value);
        }
    }
    (settings, object(rest))
}

/// Adds settings to a pod template. Returns also the settings that the pod template had before: it keeps its own values.
pub(super) fn join(
    template: Option<PodTemplateObject>,
    settings: &Settings,
) -> (Option<PodTemplateObject>, Vec<Setting>) {
    let mut joined = Value::Object(template.unwrap_or_default());
    let (conflicts, new): (Vec<_>, Vec<_>) = settings.iter().partition(|(setting, _)| setting.is_in(&joined));
    for (setting, value) in new {
        let _ = setting.put(&mut joined, value);
    }
    (object(joined), conflicts.into_iter().map(|(setting, _)| *setting).collect())
}

fn object(value: Value) -> Option<PodTemplateObject> {
    match value {
        Value::Object(object) if !object.is_empty() => Some(object),
        _ => None,
    }
}

const SHARED_MEMORY: &str = "/dev/shm";

/// Name of the volume, if no other volume has it.
const SHARED_MEMORY_VOLUME: &str = "shm";

/// True if the app has a volume mount at `/dev/shm`.
fn has_shared_memory(template: &Value) -> bool {
    let path = |mount: &Value| {
        mount.get("mountPath").and_then(Value::as_str).map(|path| path.trim_end_matches('/') == SHARED_MEMORY)
    };
    mounts_of_app(template).any(|mount| path(mount) == Some(true))
}

/// Removes the memory volume at `/dev/shm` and its mount. Returns the size; `None` if the volume or the mount has other options, or if the
/// volume has other mounts.
fn take_shared_memory(template: &mut Value) -> Option<Value> {
    let (mount, name) = mounts_of_app(template).enumerate().find_map(|(index, mount)| {
        let name = mount.get("name")?;
        (*mount == json!({ "name": name, "mountPath": SHARED_MEMORY })).then(|| (index, name.clone()))
    })?;
    let is_volume = |volume: &Value| volume.get("name") == Some(&name);
    let volumes = template.pointer("/spec/volumes")?.as_array()?;
    let index = volumes.iter().position(is_volume)?;
    let volume = volumes.get(index)?;
    let size = volume.pointer("/emptyDir/sizeLimit")?.clone();
    let is_plain = *volume == json!({ "name": name, "emptyDir": { "medium": "Memory", "sizeLimit": size } });
    let uses = all_mounts(template).filter(|mount| mount.get("name") == Some(&name)).count();
    if !is_plain || uses != 1 {
        return None;
    }
    let app = tree::app_pointer(template)?;
    tree::remove(template, &format!("{app}/volumeMounts/{mount}"))?;
    tree::remove(template, &format!("/spec/volumes/{index}"))?;
    Some(size)
}

fn put_shared_memory(template: &mut Value, size: &Value) -> Option<()> {
    let volumes = tree::entry(template, "/spec/volumes", json!([]))?.as_array_mut()?;
    let is_free =
        |name: &String| !volumes.iter().any(|volume| volume.get("name").and_then(Value::as_str) == Some(name));
    let names = std::iter::once(SHARED_MEMORY_VOLUME.to_owned())
        .chain((2_u32..).map(|number| format!("{SHARED_MEMORY_VOLUME}-{number}")));
    let name = names.into_iter().find(is_free)?;
    volumes.push(json!({ "name": name, "emptyDir": { "medium": "Memory", "sizeLimit": size } }));
    tree::app_entry(template, "/volumeMounts", json!([]))?
        .as_array_mut()?
        .push(json!({ "name": name, "mountPath": SHARED_MEMORY }));
    Some(())
}

fn mounts_of_app(template: &Value) -> impl Iterator<Item = &Value> {
    tree::app(template).into_iter().flat_map(mounts_of)
}

fn all_mounts(template: &Value) -> impl Iterator<Item = &Value> {
    let lists = ["/spec/containers", "/spec/initContainers"].map(|pointer| template.pointer(pointer));
    lists.into_iter().flatten().filter_map(Value::as_array).flatten().flat_map(mounts_of)
}

fn mounts_of(container: &Value) -> impl Iterator<Item = &Value> {
    container.get("volumeMounts").and_then(Value::as_array).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(value: Value) -> PodTemplateObject {
        value.as_object().cloned().unwrap()
    }

    /// A pod template with all settings and other fields, in the notation that [`join`] writes.
    fn full() -> PodTemplateObject {
        template(json!({ "spec": {
            "volumes": [
                { "name": "data", "persistentVolumeClaim": { "claimName": "course" } },
                { "name": "shm", "emptyDir": { "medium": "Memory", "sizeLimit": "1Gi" } },
            ],
            "containers": [{
                "name": "app",
                "volumeMounts": [{ "name": "data", "mountPath": "/data" }, { "name": "shm", "mountPath": "/dev/shm" }],
                "resources": { "limits": { "nvidia.com/gpu": 2, "ephemeral-storage": "10G" } },
            }],
            "imagePullSecrets": [{ "name": "registry" }],
            "nodeSelector": { "accelerator": "nvidia-l4", "zone": "" },
        } }))
    }

    #[test]
    fn split_pod_template_is_joined_to_the_same() {
        let (settings, rest) = split(&full());
        assert_eq!(settings.len(), Setting::ALL.len());
        assert_eq!(settings[&Setting::SharedMemory], "1Gi");
        let data = json!({ "spec": {
            "volumes": [{ "name": "data", "persistentVolumeClaim": { "claimName": "course" } }],
            "containers": [{ "name": "app", "volumeMounts": [{ "name": "data", "mountPath": "/data" }] }],
        } });
        assert_eq!(rest, Some(template(data)));
        assert_eq!(join(rest, &settings), (Some(full()), Vec::new()));
        let (joined, _) = join(None, &settings);
        assert_eq!(split(&joined.unwrap()), (settings, None), "no empty parents remain");
    }

    #[test]
    fn setting_with_other_options_stays_in_yaml() {
        let app = |fields: Value| json!({ "spec": { "containers": [fields] } });
        for other in [
            app(
                json!({ "name": "app", "resources": { "limits": { "nvidia.com/gpu": 1 }, "requests": { "nvidia.com/gpu": 1 } } }),
            ),
            app(json!({ "name": "app", "resources": { "limits": { "nvidia.com/gpu": "1k" } } })),
            app(json!({ "name": "app", "resources": { "limits": { "ephemeral-storage": "1Pi" } } })),
            app(json!({ "name": "app", "resources": { "requests": { "ephemeral-storage": "1Gi" } } })),
            json!({ "spec": { "imagePullSecrets": [{ "name": "a" }, { "name": "b" }] } }),
            json!({ "spec": { "nodeSelector": { "a=b": "c" } } }),
            json!({ "spec": { "nodeSelector": { "a": 1 } } }),
            json!({ "spec": { "nodeSelector": {} } }),
        ] {
            assert_eq!(split(&template(other.clone())), (Settings::new(), Some(template(other))));
        }
    }

    #[test]
    fn join_reports_conflicts_and_keeps_yaml() {
        let (mut settings, _) = split(&full());
        settings.insert(Setting::Gpus, json!(0));
        let (joined, conflicts) = join(Some(full()), &settings);
        assert_eq!((joined, conflicts), (Some(full()), Setting::ALL.to_vec()));
        settings.insert(Setting::SharedMemory, json!("2G"));
        let empty = json!({ "spec": {
            "volumes": null,
            "containers": [{ "name": "app", "volumeMounts": [], "resources": { "limits": { "nvidia.com/gpu": null } } }],
            "imagePullSecrets": [],
            "nodeSelector": {},
        } });
        assert_eq!(join(Some(template(empty)), &settings).1, []);
    }

    #[test]
    fn join_ignores_parents_of_wrong_types() {
        let (settings, _) = split(&full());
        for wrong in [json!({ "spec": "" }), json!({ "spec": { "containers": {}, "volumes": 1 } })] {
            assert_eq!(join(Some(template(wrong)), &settings).1, []);
        }
    }

    #[test]
    fn pointer_of_error_leads_to_setting() {
        for (pointer, setting) in [
            ("spec/containers/0/resources/limits/nvidia.com~1gpu", Some(Setting::Gpus)),
            ("spec/containers/0/resources/requests/nvidia.com~1gpu", None),
            ("spec/containers/0/resources/limits/ephemeral-storage", Some(Setting::EphemeralStorage)),
            ("spec/imagePullSecrets/0", Some(Setting::ImagePullSecret)),
            ("spec/nodeSelector/zone", Some(Setting::NodeSelector)),
            ("spec/volumes/0", None),
        ] {
            assert_eq!(Setting::at(pointer), setting, "{pointer}");
        }
    }

    fn memory_template(mount: Value, volume: Value, init: Value) -> Value {
        json!({ "spec": {
            "containers": [{ "name": "app", "volumeMounts": [mount] }],
            "volumes": [volume, { "name": "other", "emptyDir": {} }],
            "initContainers": [{ "name": "init", "volumeMounts": [init] }],
        } })
    }

    #[test]
    fn only_plain_memory_volume_is_taken() {
        let mount = json!({ "name": "m", "mountPath": "/dev/shm" });
        let volume = json!({ "name": "m", "emptyDir": { "medium": "Memory", "sizeLimit": "1Gi" } });
        let init = json!({ "name": "other", "mountPath": "/work" });
        assert_eq!(
            take_shared_memory(&mut memory_template(mount.clone(), volume.clone(), init.clone())),
            Some(json!("1Gi"))
        );
        for (mount, volume, init) in [
            (json!({ "name": "m", "mountPath": "/dev/shm", "readOnly": true }), volume.clone(), init.clone()),
            (json!({ "name": "m", "mountPath": "/dev/shm/" }), volume.clone(), init.clone()),
            (mount.clone(), json!({ "name": "m", "emptyDir": { "medium": "Memory" } }), init.clone()),
            (mount.clone(), json!({ "name": "m", "emptyDir": { "sizeLimit": "1Gi" } }), init),
            (mount, volume, json!({ "name": "m", "mountPath": "/work" })),
        ] {
            let mut template = memory_template(mount, volume, init);
            assert!(has_shared_memory(&template));
            assert_eq!(take_shared_memory(&mut template), None, "{template}");
        }
    }

    #[test]
    fn new_volume_gets_free_name() {
        let mut template = json!({ "spec": { "volumes": [{ "name": "shm" }, { "name": "shm-2" }] } });
        assert!(!has_shared_memory(&template));
        put_shared_memory(&mut template, &json!("1G")).unwrap();
        assert_eq!(template.pointer("/spec/volumes/2/name"), Some(&json!("shm-3")));
        assert_eq!(take_shared_memory(&mut template), Some(json!("1G")));
        assert_eq!(template, json!({ "spec": { "volumes": [{ "name": "shm" }, { "name": "shm-2" }] } }));
    }
}
