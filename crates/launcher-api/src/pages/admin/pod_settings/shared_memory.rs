//! The memory volume at `/dev/shm` of the app: an `emptyDir` and its mount.

use serde_json::{Value, json};

use super::tree;

/// Path of the shared memory in the app's container.
pub(super) const PATH: &str = "/dev/shm";

/// Name of the volume, if no other volume has it.
const VOLUME: &str = "shm";

/// True if the app has a volume mount at `/dev/shm`.
pub(super) fn is_in(template: &Value) -> bool {
    let path =
        |mount: &Value| mount.get("mountPath").and_then(Value::as_str).map(|path| path.trim_end_matches('/') == PATH);
    mounts_of_app(template).any(|mount| path(mount) == Some(true))
}

/// Removes the volume and its mount. Returns the size; `None` if the volume or the mount has other options, or if the
/// volume has other mounts.
pub(super) fn take(template: &mut Value) -> Option<Value> {
    let (mount, name) = mounts_of_app(template).enumerate().find_map(|(index, mount)| {
        let name = mount.get("name")?;
        (*mount == json!({ "name": name, "mountPath": PATH })).then(|| (index, name.clone()))
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

/// Adds a volume of this size, and its mount.
pub(super) fn put(template: &mut Value, size: &Value) -> Option<()> {
    let volumes = tree::volumes(template)?;
    let is_free =
        |name: &String| !volumes.iter().any(|volume| volume.get("name").and_then(Value::as_str) == Some(name));
    let names = std::iter::once(VOLUME.to_owned()).chain((2_u32..).map(|number| format!("{VOLUME}-{number}")));
    let name = names.into_iter().find(is_free)?;
    volumes.push(json!({ "name": name, "emptyDir": { "medium": "Memory", "sizeLimit": size } }));
    tree::mounts(template)?.push(json!({ "name": name, "mountPath": PATH }));
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

    fn template(mount: Value, volume: Value, init: Value) -> Value {
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
        assert_eq!(take(&mut template(mount.clone(), volume.clone(), init.clone())), Some(json!("1Gi")));
        for (mount, volume, init) in [
            (json!({ "name": "m", "mountPath": "/dev/shm", "readOnly": true }), volume.clone(), init.clone()),
            (json!({ "name": "m", "mountPath": "/dev/shm/" }), volume.clone(), init.clone()),
            (mount.clone(), json!({ "name": "m", "emptyDir": { "medium": "Memory" } }), init.clone()),
            (mount.clone(), json!({ "name": "m", "emptyDir": { "sizeLimit": "1Gi" } }), init),
            (mount, volume, json!({ "name": "m", "mountPath": "/work" })),
        ] {
            let mut template = template(mount, volume, init);
            assert!(is_in(&template));
            assert_eq!(take(&mut template), None, "{template}");
        }
    }

    #[test]
    fn new_volume_gets_free_name() {
        let mut template = json!({ "spec": { "volumes": [{ "name": "shm" }, { "name": "shm-2" }] } });
        assert!(!is_in(&template));
        put(&mut template, &json!("1G")).unwrap();
        assert_eq!(template.pointer("/spec/volumes/2/name"), Some(&json!("shm-3")));
        assert_eq!(take(&mut template), Some(json!("1G")));
        assert_eq!(template, json!({ "spec": { "volumes": [{ "name": "shm" }, { "name": "shm-2" }] } }));
    }
}
