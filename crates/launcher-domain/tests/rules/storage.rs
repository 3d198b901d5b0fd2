//! Storage of templates, and volumes.

use std::time::Duration;

use launcher_domain::names::{is_volume_name, volume_name};
use launcher_domain::template::is_mount_path;
use launcher_domain::{AtExpiry, FieldError, Storage, TemplateSettings, Volume};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{Counter, at, email, read};

fn settings(app_type: &str, storage: &Value) -> Result<TemplateSettings, Vec<FieldError>> {
    let template = json!({ "name": "a", "app_type": app_type, "image": "b", "port": 8000 });
    read(&template, &json!({ "storage": storage })).map(|content| content.settings)
}

fn storage(app_type: &str, storage: &Value) -> Result<Option<Storage>, Vec<FieldError>> {
    settings(app_type, storage).map(|settings| settings.storage)
}

fn pointers(app_type: &str, storage: &Value) -> Vec<String> {
    let errors = settings(app_type, storage).unwrap_err();
    errors.into_iter().map(|error| error.pointer).collect()
}

#[test]
fn storage_defaults_to_home_directory_of_stock_image() {
    for (app_type, path) in [("notebook", "/home/jovyan"), ("rstudio", "/home/rstudio")] {
        let storage = storage(app_type, &json!({ "kind": "kept" })).unwrap().unwrap();
        assert_eq!((storage.size.as_str(), storage.path.as_str()), ("1Gi", path));
    }
    assert_eq!(storage("notebook", &Value::Null).unwrap(), None);
}

#[test]
fn custom_app_requires_storage_path() {
    assert_eq!(pointers("custom", &json!({ "kind": "home" })), ["/storage/path"]);
    let storage = storage("custom", &json!({ "kind": "home", "path": "/data/", "size": "500Mi" })).unwrap().unwrap();
    assert_eq!((storage.size.as_str(), storage.path.as_str()), ("500Mi", "/data"));
}

#[test]
fn invalid_size_and_path_are_reported_together() {
    let storage = json!({ "kind": "kept", "size": "much", "path": "relative" });
    assert_eq!(pointers("notebook", &storage), ["/storage/size", "/storage/path"]);
    assert_eq!(pointers("notebook", &json!({ "kind": "kept", "size": "1023Ki" })), ["/storage/size"]);
}

#[test]
fn expiry_ends_the_workshop_unless_the_template_suspends_it() {
    let of = |json| storage("notebook", &json).unwrap().unwrap();
    let ends = of(json!({ "kind": "kept" }));
    assert_eq!(ends.at_expiry, AtExpiry::End);
    let suspends = of(json!({ "kind": "kept", "at_expiry": "suspend" }));
    assert_eq!(suspends.at_expiry, AtExpiry::Suspend);
    assert_eq!(serde_json::to_value(suspends).unwrap()["at_expiry"], "suspend");
}

#[test]
fn storage_as_json_reads_as_the_same_storage() {
    let home = storage("notebook", &json!({ "kind": "home", "size": "5Gi" })).unwrap();
    assert_eq!(storage("notebook", &json!(home)).unwrap(), home);
}

#[test]
fn mount_path_excludes_system_directories_and_tricks() {
    for path in ["/work", "/home/jovyan", "/data/a b/ü", "/var/lib/app", "/usrx"] {
        assert!(is_mount_path(path), "{path}");
    }
    let long = format!("/{}", "a".repeat(255));
    for path in [
        "",
        "/",
        "work",
        "//work",
        "/work/",
        "/work/../etc",
        "/./work",
        "/etc",
        "/usr/local",
        "/dev/shm",
        "/proc",
        "/sys",
        "/tmp",
        "/run/x",
        "/a:b",
        "/a,b",
        "/a\nb",
        "/a\0b",
        &long,
    ] {
        assert!(!is_mount_path(path), "{path:?}");
    }
}

#[test]
fn volume_name_is_recognised_and_other_names_are_not() {
    let name = volume_name(&Counter::default());
    assert!(is_volume_name(&name), "{name}");
    for name in [
        "",
        "work-",
        "work-aaaaaaaaa",
        "work-aaaaaaaaaaa",
        "work-aaaaaaaaa1",
        "home-aaaaaaaaaa",
        "work-../../../.",
        "work-AAAAAAAAAA",
    ] {
        assert!(!is_volume_name(name), "{name:?}");
    }
}

#[test]
fn volume_is_deleted_after_the_retention_since_its_last_use_and_not_before_the_announced_time() {
    let mut volume = Volume {
        volume_id: Uuid::nil(),
        name: "work-aaaaaaaaaa".to_owned(),
        owner_email: email("alice@example.org"),
        template_id: None,
        template_name: None,
        namespace: None,
        size: "1Gi".to_owned(),
        created_at: at(0),
        last_used_at: at(100),
        kept_until: Some(at(130)),
    };
    assert_eq!(volume.deleted_after(Duration::from_secs(50)), Some(at(150)));
    assert_eq!(volume.deleted_after(Duration::from_secs(10)), Some(at(130)));
    assert!(volume.deleted_after(Duration::MAX) > Some(at(1_000_000)));
    volume.kept_until = None;
    assert_eq!(volume.deleted_after(Duration::from_secs(50)), None, "kept without end until a time is announced");
}

#[test]
fn only_the_kinds_with_a_volume_keep_files() {
    for (kind, is_kept) in [("kept", true), ("home", true), ("workshop", false)] {
        let settings = settings("notebook", &json!({ "kind": kind })).unwrap();
        assert_eq!(settings.keeps_files(), is_kept, "{kind}");
        assert_eq!(settings.storage.unwrap().path, "/home/jovyan");
    }
    assert!(!settings("notebook", &Value::Null).unwrap().keeps_files());
    assert_eq!(pointers("custom", &json!({ "kind": "workshop" })), ["/storage/path"]);
}
