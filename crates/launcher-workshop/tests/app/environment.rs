//! Tests of the environment variables of apps.

use launcher_domain::AppType;
use launcher_workshop::app::is_reserved_variable;

use crate::support::template;

#[test]
fn environment_of_each_app_type_has_port_and_disables_login() {
    for app_type in AppType::ALL {
        let template = template(app_type, "image").env("A", "$(PORT)").env("PORT", "1").env("DISABLE_AUTH", "false");
        let environment = template.on(8888).environment();
        let expected = [("A", "$(PORT)"), ("DISABLE_AUTH", "true"), ("PORT", "8888")];
        assert!(
            environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).eq(expected),
            "{environment:?}"
        );
    }
}

#[test]
fn service_settings_and_disable_auth_are_reserved_variables() {
    for (name, is_reserved) in
        [("DISABLE_AUTH", true), ("SERVICE_OWNER_EMAIL", true), ("PORT", false), ("MY_SERVICE_X", false)]
    {
        assert_eq!(is_reserved_variable(name), is_reserved, "{name}");
    }
}
