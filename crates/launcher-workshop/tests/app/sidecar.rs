//! Tests of the environment variables of sidecars.

use std::collections::BTreeMap;

use launcher_domain::AppType;
use launcher_domain::brand::Brand;
use launcher_workshop::WorkshopSpec;
use launcher_workshop::app::{SidecarSpec, ValidSpec};

use crate::support::template;

fn environment(workshop: &WorkshopSpec) -> BTreeMap<String, String> {
    let sidecar = SidecarSpec {
        spec: &ValidSpec::parse(workshop).unwrap(),
        require_authentication: true,
        trusted_header: "X-Auth-Request-Email",
        session_cookie_prefix: "_oauth2_proxy",
        folder: "/etc/sidecar",
        workshop_page: None,
        brand: &Brand::NONE,
    };
    sidecar.environment()
}

#[test]
fn sidecar_gets_variables_only_for_settings_that_differ_from_its_defaults() {
    let mut workshop = template(AppType::Custom, "app:1").0;
    let plain = environment(&workshop);
    let optional = ["SERVICE_PLAIN_TABS", "SERVICE_IN_CLASS", "SERVICE_START_PATH"];
    assert!(optional.iter().all(|name| !plain.contains_key(*name)));
    (workshop.plain_tabs, workshop.in_class, workshop.start_path) = (true, true, Some("/lab".to_owned()));
    let changed = environment(&workshop);
    assert_eq!(optional.map(|name| &*changed[name]), ["true", "true", "/lab"]);
    assert_eq!(changed["SERVICE_EXPIRY_FILE"], "/etc/sidecar/expires-at");
    assert_eq!(changed["SERVICE_LAST_CRASH_FILE"], "/etc/sidecar/last-crash");
}
