//! Tests of the spec that an instance wants.

use launcher_domain::{EmailAddress, Instance, TemplateContent};
use launcher_workshop::WorkshopSpec;
use serde_json::{Value, json};

/// An instance of a template with these settings, changed by `change`. Returns its spec.
fn spec(settings: &Value, change: impl FnOnce(&mut Instance)) -> Value {
    let settings = TemplateContent::read(settings.as_object().unwrap()).unwrap().settings;
    let (id, owner) = ("00000000-0000-4000-8000-000000000001", EmailAddress::parse("alice@example.org").unwrap());
    let created = "2026-01-01T11:00:00Z".parse().unwrap();
    let mut instance =
        Instance::of_settings(id.parse().unwrap(), "lab-abcdefghij".to_owned(), owner, settings, created);
    change(&mut instance);
    serde_json::to_value(WorkshopSpec::of(&instance)).unwrap()
}

#[test]
fn spec_has_all_settings_of_the_template_and_all_values_of_the_instance() {
    let pod_template = json!({ "spec": { "nodeSelector": { "disk": "ssd" } } });
    let source = json!({ "kind": "git", "url": "https://git.example.org/a.git", "ref": "main", "target": "a" });
    let settings = json!({
        "name": "Statistics", "app_type": "custom", "image": "registry.example.org/app:1", "port": 5000,
        "start_path": "/vnc.html", "plain_tabs": true, "command": ["serve"], "args": ["--fast"],
        "env": { "COURSE": "intro", "SIZE": "1" },
        "resources": { "cpu_request": "100m", "cpu_limit": "2", "memory_request": "256Mi", "memory_limit": "1Gi" },
        "security_profile": "baseline", "pod_template": pod_template,
        "storage": { "kind": "kept", "size": "3Gi", "path": "/work" }, "material": { "sources": [source] },
        "lifetime_seconds": 3600,
    });
    let found = spec(&settings, |instance| {
        instance.class_id = Some(instance.instance_id);
        instance.volume = Some("work-abcdefghij".to_owned());
        let parameters = [("SIZE", Some("2")), ("TOKEN", None)];
        instance.parameters = parameters.map(|(name, value)| (name.to_owned(), value.map(str::to_owned))).into();
        instance.started_at = Some("2026-01-01T12:00:00Z".parse().unwrap());
        instance.expires_at = Some("2026-01-01T14:30:00Z".parse().unwrap());
        instance.restarted_at = Some("2026-01-01T12:15:00Z".parse().unwrap());
    });
    let expected = json!({
        "owner": "alice@example.org", "image": "registry.example.org/app:1", "course": "Statistics",
        "appType": "custom", "port": 5000, "startPath": "/vnc.html", "plainTabs": true, "inClass": true,
        "command": ["serve"], "args": ["--fast"], "env": { "COURSE": "intro", "SIZE": "2" }, "secretEnv": ["TOKEN"],
        "resources": { "cpuRequest": "100m", "cpuLimit": "2", "memoryRequest": "256Mi", "memoryLimit": "1Gi" },
        "securityProfile": "baseline", "podTemplate": pod_template,
        "storage": { "volume": "work-abcdefghij", "size": "3Gi", "path": "/work" },
        "material": { "directory": "/work", "sources": [source] }, "lifetimeSeconds": 3600,
        "expiresAt": "2026-01-01T14:30:00Z", "restartedAt": "2026-01-01T12:15:00Z",
    });
    assert_eq!(found, expected);
}
