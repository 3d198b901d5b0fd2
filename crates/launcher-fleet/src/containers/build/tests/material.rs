//! The container that places course material, and its volumes.

use bollard::models::{ContainerCreateBody, Mount, MountType};
use launcher_domain::FailureCode;
use launcher_workshop::{Workshop, WorkshopMaterial, WorkshopStorage};
use serde_json::{Value, json};

use super::super::{material, material_paths};
use super::{app, environment, host, settings, sidecar, workshop};
use crate::containers::build::BuildSettings;

fn source(target: &str) -> Value {
    json!({ "kind": "git", "url": "https://git.example.org/stats/101.git", "target": target })
}

fn with_material() -> Workshop {
    let material = json!({ "directory": "/home/jovyan", "sources": [source("stats-101"), source("data")] });
    let mut workshop = workshop();
    workshop.spec.material = Some(serde_json::from_value::<WorkshopMaterial>(material).unwrap());
    workshop
}

fn with_storage() -> Workshop {
    let [volume, size, path] = ["work-abcdefghij", "1Gi", "/home/jovyan"].map(str::to_owned);
    let mut workshop = with_material();
    workshop.spec.storage = Some(WorkshopStorage { volume, size, path });
    workshop
}

fn built(workshop: &Workshop) -> ContainerCreateBody {
    material(workshop, &settings(), 1001, 60).unwrap().unwrap()
}

/// Returns source and target of each mount; the source is empty for an anonymous volume.
fn mounts(body: &ContainerCreateBody) -> Vec<(String, String)> {
    let mount = |mount: &Mount| {
        assert_eq!(mount.typ, Some(MountType::VOLUME));
        (mount.source.clone().unwrap_or_default(), mount.target.clone().unwrap())
    };
    host(body).mounts.iter().flatten().map(mount).collect()
}

fn pairs<const COUNT: usize>(pairs: [(&str, &str); COUNT]) -> Vec<(String, String)> {
    pairs.map(|(source, target)| (source.to_owned(), target.to_owned())).into()
}

#[test]
fn program_gets_the_sources_and_the_deadline_and_no_file_for_its_report() {
    let body = built(&with_material());
    let environment = environment(&body);
    let config: Value = serde_json::from_str(environment["WORKSHOP_MATERIAL"]).unwrap();
    assert_eq!((&config["directory"], &config["deadline_seconds"]), (&json!("/home/jovyan"), &json!(60)));
    assert_eq!(config["sources"], json!([source("stats-101"), source("data")]));
    assert_eq!(config["report"], Value::Null);
    assert_eq!(environment["TMPDIR"], "/tmp");
    assert_eq!((body.image.as_deref(), &body.cmd), (Some("registry.example/material:1"), &None));
    assert_eq!(body.entrypoint.unwrap(), ["/launcher-material"]);
}

#[test]
fn program_has_the_user_the_network_and_the_limits_of_the_app_and_no_privileges() {
    let (body, app) = (built(&with_material()), app(&with_material(), &settings()).unwrap());
    assert_eq!(body.user.as_deref(), Some("1001"));
    let (own, of_app) = (host(&body), host(&app));
    assert_eq!(own.network_mode, of_app.network_mode);
    assert_eq!((own.memory, own.memory_swap, own.cpu_quota), (of_app.memory, of_app.memory_swap, of_app.cpu_quota));
    assert_eq!((own.pids_limit, &own.restart_policy), (of_app.pids_limit, &of_app.restart_policy));
    assert_eq!((&own.cap_add, own.cap_drop.as_deref()), (&None, Some(&["ALL".to_owned()][..])));
    assert_eq!(own.security_opt, of_app.security_opt);
    let labels = body.labels.unwrap();
    let names = ["part", "workshop", "uid"].map(|name| labels[&format!("workshoplauncher.dev/{name}")].as_str());
    assert_eq!(names, ["material", "lab-a", "uid-1"]);
}

#[test]
fn without_storage_each_source_has_a_volume_that_app_and_program_mount() {
    let first = ("wl-456789ab-lab-a-material-0", "/home/jovyan/stats-101");
    let second = ("wl-456789ab-lab-a-material-1", "/home/jovyan/data");
    assert_eq!(mounts(&app(&with_material(), &settings()).unwrap()), pairs([first, second]));
    let own = [("", "/home/jovyan/.course-material"), ("", "/tmp")];
    assert_eq!(mounts(&built(&with_material())), pairs([first, second, own[0], own[1]]));
    let of_sidecar = host(&sidecar(&with_material(), &settings()).unwrap()).mounts.clone();
    assert!(of_sidecar.iter().flatten().all(|mount| mount.typ == Some(MountType::BIND)));
}

#[test]
fn with_storage_the_program_writes_into_the_volume_of_the_owner_without_adding_files_of_its_image() {
    let kept = ("wl-ba987654-work-abcdefghij", "/home/jovyan");
    assert_eq!(mounts(&app(&with_storage(), &settings()).unwrap()), pairs([kept]));
    let body = built(&with_storage());
    assert_eq!(mounts(&body), pairs([kept, ("", "/tmp")]));
    let mounts = host(&body).mounts.clone().unwrap();
    assert_eq!(mounts[0].volume_options.as_ref().unwrap().no_copy, Some(true));
}

#[test]
fn only_the_program_of_private_material_mounts_its_secrets_read_only_and_gets_no_value() {
    let mut workshop = with_material();
    workshop.spec.material.as_mut().unwrap().sources[1].secret = Some("statistics".to_owned());
    let body = built(&workshop);
    let config: Value = serde_json::from_str(environment(&body)["WORKSHOP_MATERIAL"]).unwrap();
    let folder = "/etc/workshop-launcher/material-secrets";
    assert_eq!((&config["secrets"], &config["sources"][1]["secret"]), (&json!(folder), &json!("statistics")));
    let is_mount = |mount: &&Mount| mount.target.as_deref() == Some(folder);
    let mount = host(&body).mounts.iter().flatten().find(is_mount).unwrap();
    assert_eq!((mount.typ, mount.read_only), (Some(MountType::BIND), Some(true)));
    assert_eq!(mount.source.as_deref(), Some("/data/fleet/workshops/lab-a/material-secrets"));
    assert!(!material_paths(&body).iter().any(|path| path == folder), "the engine changes no owner there");
    assert!(host(&body).security_opt.as_ref().unwrap().contains(&"label=disable".to_owned()));
    for other in
        [app(&workshop, &settings()).unwrap(), sidecar(&workshop, &settings()).unwrap(), built(&with_material())]
    {
        assert!(!host(&other).mounts.iter().flatten().any(|mount| is_mount(&mount)));
    }
    assert!(
        !host(&app(&workshop, &settings()).unwrap())
            .security_opt
            .as_ref()
            .unwrap()
            .contains(&"label=disable".to_owned())
    );
}

#[test]
fn workshop_without_material_or_without_the_image_has_no_program_and_no_volumes() {
    assert_eq!(material(&workshop(), &settings(), 1001, 60).unwrap(), None);
    let without = BuildSettings { material_image: None, ..settings() };
    assert_eq!(material(&with_material(), &without, 1001, 60).unwrap(), None);
    assert_eq!(host(&app(&with_material(), &without).unwrap()).mounts, None);
}

#[test]
fn invalid_material_is_refused() {
    let targets = ["..", "a/b", ".ssh", "a:b", ""];
    for target in targets {
        let mut workshop = with_material();
        workshop.spec.material.as_mut().unwrap().sources[0].target = target.to_owned();
        assert_eq!(material(&workshop, &settings(), 1001, 60).unwrap_err().code, FailureCode::InvalidSpec, "{target}");
        assert_eq!(app(&workshop, &settings()).unwrap_err().code, FailureCode::InvalidSpec, "{target}");
    }
}
