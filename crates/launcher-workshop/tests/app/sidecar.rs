//! Tests of the environment variables of sidecars.

use launcher_domain::EmailAddress;
use launcher_domain::brand::Brand;
use launcher_workshop::app::SidecarSpec;

#[test]
fn sidecar_gets_variables_only_for_settings_that_differ_from_its_defaults() {
    let (owner, brand) = (EmailAddress::parse("alice@example.org").unwrap(), Brand::NONE);
    let mut spec = SidecarSpec {
        owner: &owner,
        app_port: 8888,
        require_authentication: true,
        trusted_header: "X-Auth-Request-Email",
        session_cookie_prefix: "_oauth2_proxy",
        start_path: None,
        plain_tabs: false,
        in_class: false,
        expiry_file: "/expires-at",
        last_crash_file: "/last-crash",
        workshop_page: None,
        course: None,
        brand: &brand,
    };
    let environment = spec.environment();
    assert!(
        ["SERVICE_PLAIN_TABS", "SERVICE_IN_CLASS", "SERVICE_START_PATH"]
            .iter()
            .all(|name| !environment.contains_key(*name))
    );
    (spec.plain_tabs, spec.in_class, spec.start_path) = (true, true, Some("/lab"));
    let environment = spec.environment();
    assert_eq!(environment["SERVICE_IN_CLASS"], "true");
    assert_eq!((&*environment["SERVICE_PLAIN_TABS"], &*environment["SERVICE_START_PATH"]), ("true", "/lab"));
}
