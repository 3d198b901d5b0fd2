//! The volume with the files of a workshop's owner.

use bollard::models::MountType;
use launcher_domain::FailureCode;
use launcher_workshop::WorkshopStorage;

use super::{app, host, settings, sidecar, workshop};

#[test]
fn only_the_app_gets_the_volume_of_its_owner() {
    let storage = WorkshopStorage {
        volume: "work-abcdefghij".to_owned(),
        size: "1Gi".to_owned(),
        path: "/home/jovyan".to_owned(),
    };
    let mut workshop = workshop();
    workshop.spec.storage = Some(storage);
    let app = app(&workshop, &settings()).unwrap();
    let mounts = host(&app).mounts.clone().unwrap();
    let [mount] = &mounts[..] else { panic!("{mounts:?}") };
    assert_eq!((mount.typ, mount.target.as_deref()), (Some(MountType::VOLUME), Some("/home/jovyan")));
    // The name stays if the data directory is copied, because it names the fleet, and not the containers of this copy.
    assert_eq!(mount.source.as_deref(), Some("wl-ba987654-work-abcdefghij"));
    assert_eq!((mount.read_only, &host(&app).binds), (None, &None));
    let of_sidecar = sidecar(&workshop, &settings()).unwrap();
    assert!(host(&of_sidecar).mounts.iter().flatten().all(|mount| mount.typ == Some(MountType::BIND)));
}

#[test]
fn volume_at_a_path_of_the_system_is_refused() {
    for path in ["/etc", "/work/../etc", "/usr/lib", "work", "/work:ro", "/"] {
        let mut workshop = workshop();
        let (volume, size) = ("work-abcdefghij".to_owned(), "1Gi".to_owned());
        workshop.spec.storage = Some(WorkshopStorage { volume, size, path: path.to_owned() });
        assert_eq!(app(&workshop, &settings()).unwrap_err().code, FailureCode::InvalidSpec, "{path}");
    }
}
